/**
 * Tells those who watch the list of sessions what has become of each: one after the other, so that nothing is
 * told of a session after it was told to be gone.
 */
import type { SessionId, SessionSummary } from "@espalier/shared";

export type Watcher = { changed(summary: SessionSummary): void; gone(id: SessionId): void };

type Announcer = {
  watch(watcher: Watcher): () => void;
  changed(id: SessionId): void;
  gone(id: SessionId): void;
  close(): void;
};

export const createAnnouncer = (summaryOf: (id: SessionId) => Promise<SessionSummary | null>): Announcer => {
  const watchers = new Set<Watcher>();
  let telling = Promise.resolve();

  /** A watcher that breaks keeps nothing from the others. */
  const tellAll = (tell: (watcher: Watcher) => void): void => {
    for (const watcher of [...watchers])
      try {
        tell(watcher);
      } catch {
        watchers.delete(watcher);
      }
  };

  /** A watcher that could not be told now is told at the next change. */
  const next = (tell: () => void | Promise<void>): void => {
    if (watchers.size > 0) telling = telling.then(tell).catch(() => {});
  };

  return {
    watch: (watcher) => {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    changed: (id) =>
      next(async () => {
        const summary = await summaryOf(id);
        if (summary !== null) tellAll((watcher) => watcher.changed(summary));
      }),
    gone: (id) => next(() => tellAll((watcher) => watcher.gone(id))),
    close: () => watchers.clear(),
  };
};
