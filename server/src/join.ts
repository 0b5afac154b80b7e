/** The answer to a join: what came after the cursor, or a fresh window (J1, J2). */
import {
  type ClientMessage,
  type Entry,
  isRunEnded,
  type LineAsk,
  type OpenEntry,
  type Run,
  type RunId,
  type ServerMessage,
} from "@espalier/shared";
import { maskOrigin } from "./origin.js";
import type { SignedIn } from "./principal.js";
import type { SessionRead } from "./session.js";
import { addLine, alternativesOf, createWindow, leafOf, sortedEntries } from "./window.js";

type Join = Extract<ClientMessage, { type: "join" }>;
type Joined = Extract<ServerMessage, { type: "joined" }>;

export const answerJoin = (session: SessionRead, join: Join, ch: number, principal: SignedIn): Joined => {
  const { state, epoch, header, origin } = session;
  const head = {
    type: "joined" as const,
    n: join.n,
    ch,
    session: join.session,
    epoch,
    head: state.head,
    createdAt: header?.createdAt ?? null,
    changedAt: header === null ? null : Math.max(header.createdAt, state.changedAt),
    ...(origin === undefined ? {} : { origin: maskOrigin(origin, principal) }),
    inherited: header?.inherited ?? 0,
  };
  const { cursor } = join;
  const isKnown = cursor?.epoch === epoch && cursor.seq <= state.head;
  const tail = isKnown ? session.tailAfter(cursor.seq) : null;
  if (tail !== null)
    return {
      ...head,
      mode: "tail",
      lines: [],
      entries: [],
      alternatives: [],
      open: [],
      runs: [],
      registers: [],
      records: tail,
    };
  return {
    ...head,
    mode: cursor === undefined ? "fresh" : "reset",
    ...windows(session, join.lines),
    records: [],
  };
};

const windows = ({ state }: SessionRead, asks: readonly LineAsk[]) => {
  const window = createWindow();
  const lines = asks.map((ask) => {
    const leaf = leafOf(state, ask);
    addLine(window, state.tree, leaf, ask.limit);
    return { leaf: leaf?.entry.id ?? null };
  });
  const entries = sortedEntries(window);
  const { registers, hasMore } = state.registers.newest();
  const open: OpenEntry[] = [];
  for (const { entry } of state.open())
    if (!window.entries.has(entry.id))
      open.push({ id: entry.id, parentId: entry.parentId, size: entry.size });
  return {
    lines,
    entries,
    alternatives: alternativesOf(window),
    open,
    runs: runsOf(state, entries),
    registers,
    ...(hasMore ? { hasMoreRegisters: true as const } : {}),
  };
};

/** The runs that have not ended, and those of the entries given. */
const runsOf = ({ runs }: SessionRead["state"], entries: readonly Entry[]): Run[] => {
  const given = new Map<RunId, Run>();
  for (const run of runs.open()) if (!isRunEnded(run.status)) given.set(run.id, run);
  for (const { runId } of entries) {
    const run = runId === undefined ? undefined : runs.get(runId);
    if (run !== undefined) given.set(run.id, run);
  }
  return [...given.values()];
};
