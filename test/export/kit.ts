/** Conversations to export, random ones among them, and exports read back. */
import {
  createRegisters,
  createRuns,
  createTree,
  defaultLeaf,
  type EntryId,
  type LogRecord,
  RESET,
  type SessionId,
} from "@espalier/shared";
import fc from "fast-check";
import { type Conversation, foldConversation } from "../../server/src/export/conversation.js";
import { importEspalier } from "../../server/src/import/espalier.js";
import type { LogHeader } from "../../server/src/store/log-store.js";
import { type Collected, collect, memorySource, options } from "../import/kit.js";
import { randomLog } from "../shared/random-log.js";
import { register, run } from "../shared/records.js";

export const conversationOf = (
  records: readonly LogRecord[],
  header: LogHeader = { createdAt: 1000 },
  id = "plans",
): Conversation => foldConversation({ id: id as SessionId, header, records });

export const textOf = async (pieces: AsyncIterable<string>): Promise<string> => {
  let text = "";
  for await (const piece of pieces) text += piece;
  return text;
};

export const recordsIn = (exported: string): LogRecord[] =>
  exported
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line) as LogRecord);

export const importText = async (text: string): Promise<Collected> => {
  const { sessions } = await collect(importEspalier(memorySource({ "plans.jsonl": text }), options()));
  return sessions[0] as Collected;
};

export const conversationFrom = ({ id, createdAt, origin, inherited, records }: Collected): Conversation =>
  foldConversation({
    id,
    header: {
      createdAt,
      ...(origin === undefined ? {} : { origin }),
      ...(inherited === undefined ? {} : { inherited }),
    },
    records,
  });

/** All that a log says, as JSON: two logs that say the same give the same. */
export const foldOf = (records: Iterable<LogRecord>): string => {
  const tree = createTree();
  const registers = createRegisters();
  const runs = createRuns();
  let head = 0;
  for (const record of records) {
    head = record.seq;
    if (record.kind === "register") registers.apply(record);
    if (record.kind === "run") runs.apply(record);
    else tree.apply(record);
  }
  const nodes = [...tree.nodes()];
  return JSON.stringify({
    head,
    entries: nodes.map(({ entry }) => entry),
    children: nodes.map(({ children }) => children.map(({ entry }) => entry.id)),
    roots: tree.roots.map(({ entry }) => entry.id),
    newest: tree.newest?.entry.id,
    leaf: defaultLeaf(tree, registers)?.entry.id,
    registers: registers.all().toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    runs: [...runs.all()],
  });
};

/** What a server writes beside entries and their appends. */
const beside = fc.record({
  at: fc.nat(),
  of: fc.nat(),
  what: fc.constantFrom("title", "clear", "pin", "view:active", "reset", "run", "run", "erase", "newer"),
});

/** A random log of all kinds of records, with a seq each, which may skip. */
export const randomWholeLog: fc.Arbitrary<LogRecord[]> = fc
  .tuple(randomLog, fc.array(beside, { maxLength: 20 }))
  .map(([log, others]) => {
    const places = others.map((other) => ({ ...other, at: other.at % (log.length + 1) }));
    const runs: string[] = [];
    const entries: EntryId[] = [];
    const out: LogRecord[] = [];
    let seq = 0;
    const add = (record: LogRecord): void => {
      seq += 1 + (out.length % 4 === 0 ? 2 : 0);
      if (record.kind === "entry") entries.push(record.id);
      out.push(
        "rev" in record
          ? { ...record, seq: seq as never, rev: seq as never }
          : { ...record, seq: seq as never },
      );
    };
    for (let index = 0; index <= log.length; index += 1) {
      for (const { what, of } of places.filter(({ at }) => at === index)) {
        const entry = entries[of % Math.max(1, entries.length)] ?? ("none" as EntryId);
        if (what === "title") add(register("title", 1, `Title ${of} 🌳`));
        else if (what === "clear") add(register("title", 1, null));
        else if (what === "pin") add(register(`pin:${entry}`, 1, true));
        else if (what === "view:active") add(register(what, 1, entry));
        else if (what === "reset") add(register(RESET, 1, `r${seq}`));
        else if (what === "newer")
          add({ kind: "weather", id: "w", seq: 1, time: 7, is: [of] } as unknown as LogRecord);
        else if (what === "erase" && entries.length > 0)
          add({ kind: "erase", id: entry, seq: 1 as never, time: 9, author: "adm" as never });
        else if (what === "run") {
          const isNew = of % 2 === 0 || runs.length === 0;
          const name = isNew ? `r${runs.length}` : (runs[of % runs.length] as string);
          if (isNew) runs.push(name);
          add(run(name, 1, isNew ? "requested" : "active", { inputId: entries[0] ?? null }));
        }
      }
      const record = log[index];
      if (record !== undefined) add(record);
    }
    return out;
  });
