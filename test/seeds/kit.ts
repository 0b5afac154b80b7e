/** What these walks share: one world with one person in it, an agent, and what people and models read. */
import type { Client, EntryId, ErrorBody, Model, Session, View } from "@espalier/client";
import { serveRuns } from "@espalier/client";
import {
  type CompactionEntry,
  type ContextMessage,
  context,
  type Entry,
  type LogRecord,
  type Part,
  pathTo,
  type TreeNode,
  type Usage,
} from "@espalier/shared";
import { readTexts } from "../client/summaries.js";
import { createWorld, open, textOf, textsOf, type World, type WorldOptions } from "../kit/world.js";

export type Stage = {
  readonly world: World;
  readonly ann: Client;
  readonly session: Session;
  readonly view: View;
};

/** A world in which ann has opened the session `s`. */
export const createStage = async (options?: WorldOptions, model?: Model): Promise<Stage> => {
  const world = await createWorld(options);
  const ann = world.client("ann", model === undefined ? {} : { model });
  return { world, ann, ...(await open(world, ann)) };
};

/** Lets something that needs the world to go on come to its end. */
export const settled = async <T>(world: World, work: Promise<T>): Promise<T> => {
  await world.settle();
  return work;
};

/** The answer, where it is no refusal. */
export const granted = <T extends object>(answer: T | ErrorBody): T => {
  if ("code" in answer && "message" in answer) throw new Error(answer.message);
  return answer;
};

/** Publishes a message of an assistant or a tool where the view is, as an agent would leave it. */
export const answer = async (
  world: World,
  view: View,
  parts: string | readonly Part[],
  more: { role?: "assistant" | "tool"; usage?: Usage } = {},
): Promise<EntryId> => {
  const content = typeof parts === "string" ? [{ type: "text", text: parts } as const] : parts;
  const { id } = view.send({ type: "message", role: "assistant", parts: content, ...more });
  await world.settle();
  return id as EntryId;
};

export const toolCall = (callId: string, more: Partial<Extract<Part, { type: "tool-call" }>> = {}): Part => ({
  type: "tool-call",
  callId,
  name: "look",
  input: "{}",
  state: "ready",
  ...more,
});

export const toolResult = (callId: string, output = "seen"): Part => ({
  type: "tool-result",
  callId,
  output,
});

/** An agent that answers each prompt with `<text>!`, and tells how long a line it was given. */
export const serveEcho = async (world: World, name = "agent"): Promise<() => void> => {
  const stop = serveRuns(world.client(name), async (run) => {
    const history = granted(await run.history());
    const message = run.stream();
    message.append(`${textOf(history.at(-1) as Entry)}!`);
    await message.end("complete", { input: history.length, output: 1 });
  });
  await world.settle();
  return stop;
};

/** The shown entry that reads so. */
export const idOf = (view: View, text: string): EntryId => {
  const index = textsOf(view).indexOf(text);
  if (index < 0) throw new Error(`"${text}" is not shown in ${JSON.stringify(textsOf(view))}`);
  return view.at(index)?.id as EntryId;
};

/** Where a shown entry stands among its alternatives: "2 of 3". */
export const placeOf = (view: View, id: EntryId): string => {
  const { index, total } = view.branchInfo(id);
  return `${index + 1} of ${total}`;
};

/** The line to an entry, out of a session's log. */
export const pathIn = async (world: World, leafId: EntryId | null, session = "s"): Promise<Entry[]> => {
  if (leafId === null) return [];
  const node = (await world.fold(session)).get(leafId);
  if (node === undefined) throw new Error(`${leafId} is not in the log`);
  return pathTo(node).map(({ entry }) => entry);
};

/** What the model reads of the line that a view shows, out of the log. */
export const contextOf = async (
  world: World,
  view: View,
  session = "s",
): Promise<readonly ContextMessage[]> => context(await pathIn(world, view.snapshot.leafId, session));

export const modelReads = async (world: World, view: View, session = "s"): Promise<string[]> =>
  readTexts(await contextOf(world, view, session));

export const entriesOf = (records: readonly LogRecord[]): Entry[] =>
  records.filter((record): record is Entry => record.kind === "entry");

/** The compaction that a view shows last. */
export const compactionIn = (view: View): CompactionEntry => {
  const shown = view.getMessages().findLast(({ entry }) => entry.type === "compaction");
  if (shown === undefined) throw new Error("the line holds no compaction");
  return shown.entry as CompactionEntry;
};

/** The texts of a node's children, in their order. */
export const childTexts = (children: readonly TreeNode[]): string[] =>
  children.map(({ entry }) => textOf(entry));

/** What one client has said to the server so far, without its greetings and pings. */
export const saidBy = (world: World, owner: string): string[] =>
  world.network.log.filter((sent) => sent.to === "server" && sent.owner === owner).map(({ text }) => text);

export const drop = (world: World, owner: string): void => {
  for (const pair of [...world.network.pairs]) if (pair.owner === owner) pair.break();
};
