/** Writing through a view: it supplies the intent (V12), and shows the write until it is confirmed (O1, O2). */
import { type Draft, type EntryId, promptOf, type Role, type RunId, type RunRequest } from "@espalier/shared";
import type { Intent, Placer, Write } from "./pending.js";
import { toDraft } from "./view-content.js";
import { pendingWriteOf, type ViewCore } from "./view-core.js";
import type { ViewMoves } from "./view-moves.js";
import type { Content, RunAsk, SendOptions, Sent, View } from "./view-types.js";

export type ViewWrites = Pick<View, "send" | "edit" | "regenerate" | "retry" | "discard">;

export const createViewWrites = (core: ViewCore, moves: ViewMoves, placer: Placer): ViewWrites => {
  const { host, overlay } = core;
  const { replica, queue, runtime } = host;

  const submit = (write: Omit<Write, "state" | "error" | "time">): Sent => {
    const full: Write = { ...write, state: "pending", error: null, time: runtime.now() };
    if (write.run !== undefined) core.awaitedRuns.add(write.run.id);
    if (write.items.length > 0) overlay.attach(write.id);
    const settled = host.submit(full, placer);
    core.flush();
    return { id: write.id, runId: write.run?.id, settled };
  };

  const submitDraft = (
    draft: Draft,
    intent: Intent,
    { run }: SendOptions,
    more: Pick<Write, "afterId" | "isFormerHeld"> & { formerLeafId?: EntryId | null },
  ): Sent =>
    submit({
      id: draft.id,
      items: [{ draft, intent }],
      run: runFor(run, { place: { after: draft.id } }),
      anchorId: core.leafId,
      formerLeafId: undefined,
      ...more,
    });

  const runFor = (
    ask: RunAsk | undefined,
    at: Pick<RunRequest, "place" | "inputId">,
  ): RunRequest | undefined => {
    if (ask === undefined || ask === false) return undefined;
    const options = ask === true ? undefined : ask.options;
    return { id: runtime.newId() as RunId, ...at, ...(options === undefined ? {} : { options }) };
  };

  const send = (content: Content, options: SendOptions = {}): Sent => {
    core.act();
    const draft = toDraft(content, "user", () => runtime.newId());
    const afterId = overlay.lastId;
    const isHeldHere = core.isHeld && afterId === undefined;
    const intent: Intent = isHeldHere ? { under: core.leafId } : { at: "leaf" };
    core.release();
    return submitDraft(draft, intent, options, { afterId });
  };

  const edit = (id: EntryId, content: Content, options: SendOptions = {}): Sent => {
    core.act();
    const former = { formerLeafId: core.leafId, isFormerHeld: core.isHeld };
    const pending = pendingWriteOf(host, id);
    const entry = replica.tree.get(id)?.entry;
    const draft = toDraft(content, roleOf(entry ?? pending?.items[0]?.draft), () => runtime.newId());
    overlay.clear();
    if (entry !== undefined) core.setLeaf(entry.parentId);
    const before = pending?.afterId === undefined ? undefined : queue.ofEntry(pending.afterId);
    if (before !== undefined) overlay.showOnly(before);
    core.release();
    const intent = pending?.state === "failed" ? placeOfFailed(pending) : { forkOf: id };
    return submitDraft(draft, intent, options, { afterId: pending?.afterId, ...former });
  };

  /** What was refused is not there to have an alternative; what replaces it goes where it should have gone. */
  const placeOfFailed = ({ items, error }: Write): Intent =>
    error?.code === "unknown_parent" ? { at: "leaf" } : (items[0]?.intent ?? { at: "leaf" });

  const regenerate: View["regenerate"] = (id, { options } = {}) => {
    core.act();
    const run = runFor(options === undefined ? true : { options }, regeneratePlace(id)) as RunRequest;
    const anchorId = core.leafId;
    return submit({ id: run.id, items: [], run, anchorId, afterId: undefined, formerLeafId: undefined });
  };

  /** Where the prompt is not loaded the server finds it. */
  const regeneratePlace = (id: EntryId): Pick<RunRequest, "place" | "inputId"> => {
    const node = replica.tree.get(id);
    if (node === undefined) return { place: { regenerate: id } };
    const { prompt, top } = promptOf(node);
    if (prompt === null && top.entry.parentId !== null) return { place: { regenerate: id } };
    const promptId = prompt?.entry.id ?? null;
    return { place: { under: promptId }, inputId: promptId };
  };

  /** A write whose place is gone takes a fresh one from the view; any other is sent as it was. */
  const retry = (id: string): void => {
    const failed = queue.get(id);
    if (failed?.state !== "failed") return;
    core.act();
    const isPlaceGone = failed.error?.code === "unknown_parent" && failed.items.length > 0;
    if (isPlaceGone) {
      const items = failed.items.map((item): Write["items"][number] => ({ ...item, intent: { at: "leaf" } }));
      queue.retry(id, { items, anchorId: core.leafId, afterId: overlay.lastId });
    } else queue.retry(id);
    if (failed.items.length > 0 && (isPlaceGone || !overlay.has(id))) overlay.attach(id);
    if (failed.run !== undefined) core.awaitedRuns.add(failed.run.id);
    host.resend(id);
    core.flush();
  };

  const discard = (id: string): void => {
    const discarded = queue.get(id);
    if (discarded === undefined) return;
    const wasShown = overlay.has(id);
    overlay.detach(id);
    overlay.renew();
    core.touch();
    const { formerLeafId } = discarded;
    if (wasShown && formerLeafId !== undefined && overlay.entries.length === 0) {
      core.act();
      if (formerLeafId === null || discarded.isFormerHeld === true)
        core.setLeaf(formerLeafId, discarded.isFormerHeld);
      else moves.descend(formerLeafId);
    }
    host.discard(id);
    core.flush();
  };

  return { send, edit, regenerate, retry, discard };
};

const roleOf = (source: { readonly type: string; readonly role?: Role } | undefined): Role =>
  source?.role ?? "user";
