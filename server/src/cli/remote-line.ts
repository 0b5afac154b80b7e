/** Reads one line of a session from a server by the public client, page by page from its end. */
import type { Client, Session, View } from "@espalier/client";
import { type EntryId, refusal } from "@espalier/shared";
import { errorOf } from "./failure.js";
import { LOST, untilLoaded } from "./remote-tree.js";
import type { Line } from "./source.js";

const PAGE = 1000;

/** @throws CommandError where there is no such session or entry, or the connection is lost meanwhile */
export const readRemoteLine = (client: Client, id: string, leaf: EntryId | undefined): Promise<Line> =>
  withView(client, id, leaf, PAGE, async (session, view) => {
    while (view.snapshot.hasOlder)
      if ((await view.loadOlder(PAGE)) === 0) throw errorOf(view.snapshot.error ?? LOST);
    const items = view.snapshot.ids.flatMap((entryId) => {
      const entry = view.get(entryId)?.entry;
      const { index, total } = view.branchInfo(entryId);
      return entry === undefined ? [] : [{ entry, place: index + 1, alternatives: total }];
    });
    return { title: session.snapshot.title, items };
  });

/** The end of the line that is shown where none is asked for. */
export const readRemoteLeaf = (client: Client, id: string): Promise<EntryId | null> =>
  withView(client, id, undefined, 1, async (_, view) => view.snapshot.leafId);

const withView = async <T>(
  client: Client,
  id: string,
  leaf: EntryId | undefined,
  limit: number,
  read: (session: Session, view: View) => Promise<T>,
): Promise<T> => {
  const session = client.session(id);
  try {
    const view = session.createView({ limit, ...(leaf === undefined ? {} : { leafId: leaf }) });
    await untilLoaded(session, view);
    if (leaf !== undefined && view.snapshot.leafId !== leaf)
      throw errorOf(refusal("not_found", `unable to read ${id}; it has no entry ${leaf}`));
    return await read(session, view);
  } finally {
    session.close();
  }
};
