/** Directories with sessions in them, for the commands to read. */
import type { EntryId, LogRecord, MessageEntry } from "@espalier/shared";
import { createRuntime } from "../../server/src/runtime.js";
import { createFileStore } from "../../server/src/store/file/file-store.js";
import { countEpochs, message, sessionId, title } from "../server/store/records.js";

/** A message that goes on from another one; `parent` 0 stands for none. */
export const reply = (
  seq: number,
  parent: number,
  text?: string,
  more: Partial<MessageEntry> = {},
): MessageEntry =>
  message(seq, text, {
    parentId: parent === 0 ? null : (`e${parent}` as EntryId),
    role: seq % 2 === 1 ? "user" : "assistant",
    ...more,
  });

export { title };

export const fill = async (
  dir: string,
  logs: Readonly<Record<string, readonly LogRecord[]>>,
): Promise<void> => {
  const store = await createFileStore({ dir, newEpoch: countEpochs(), runtime: createRuntime() });
  for (const [id, records] of Object.entries(logs)) {
    const outcome = await store.append(sessionId(id), 0, records);
    if (outcome.type !== "ok") throw new Error(`not taken: ${JSON.stringify(outcome)}`);
    await outcome.durable;
  }
  await store.close();
};

export const chain = (length: number): MessageEntry[] =>
  Array.from({ length }, (_, index) => reply(index + 1, index));
