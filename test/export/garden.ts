/** A conversation as people and agents have them: branches, code, tools, thoughts, a summary, and odd things. */
import type { EntryId, LogRecord, Part } from "@espalier/shared";
import { append, message, register, streaming } from "../shared/records.js";

const START = Date.UTC(2026, 4, 1, 9, 30);
const text = (words: string): Part[] => [{ type: "text", text: words }];
const at = <R extends LogRecord>(record: R): R => ({ ...record, time: START + record.seq * 47_000 });
/** What an entry has besides its content. */
const placed = (name: string, parent: string, seq: number) => {
  const { kind, id, parentId, rev, time, author, status, size } = at(message(name, parent, seq));
  return { kind, id, parentId, seq: seq as never, rev, time, author, status, size };
};

const ANSWER = `An **espalier** is a tree trained to grow flat against a wall or along wires. The wall gives it warmth, and every branch gets its share of light.

There are a few classical shapes:

1. *Horizontal cordon* – one stem, arms to both sides
2. *Palmette verrier* – like a candelabra
3. *Belgian fence* – many young trees, crossing

| Tree | Distance | First fruit |
|:-----|---------:|:-----------:|
| Apple on M9 | 1.5 m | 2 years |
| Pear on quince | 2 m | 3 years |
| Fig | 3 m | 2 years |

> Prune hard and it answers with wood; prune lightly and it answers with fruit.

See <https://en.wikipedia.org/wiki/Espalier> for pictures.`;

const CODE = `You can plan the wires with a few lines:

\`\`\`ts
/** Heights of the wires, in cm from the ground. */
export const wires = (count: number, first = 45, step = 35): number[] =>
  Array.from({ length: count }, (_, index) => first + index * step);

console.log(wires(5)); // [45, 80, 115, 150, 185]
\`\`\`

Call \`wires(5)\` for a wall of two metres. A long line does not break the page: \`const veryLongIdentifierThatGoesOnAndOn = anotherVeryLongIdentifier.withAMethod().andAnotherOne();\``;

const LOG: readonly LogRecord[] = [
  register("title", 1, "An espalier for the south wall"),
  message("q1", null, 2, {
    parts: text("What is an espalier, and would one suit a south wall of about **six metres**?"),
  }),
  streaming("a1", "q1", 3, [{ type: "thinking", text: "South wall: warm and dry.\n\nPear or fig, then." }]),
  append("a1", 4, 0, [{ push: { type: "text", text: "" } }, { text: ANSWER }], {
    status: "complete",
    usage: { input: 1204, output: 310, model: "oak-4" },
  }),
  message("a2", "q1", 5, {
    role: "assistant",
    parts: text("It is a tree trained along wires. Yes, it would."),
    status: "aborted",
  }),
  message("q2", "a1", 6, { parts: text("How far apart do the wires go?") }),
  message("t1", "q2", 7, {
    role: "assistant",
    parts: [
      { type: "text", text: "Let me look that up." },
      {
        type: "tool-call",
        callId: "c1",
        name: "search_almanac",
        input: '{"query":"espalier wire distance","limit":3}',
        state: "done",
      },
    ],
  }),
  message("t2", "t1", 8, {
    role: "tool",
    parts: [
      {
        type: "tool-result",
        callId: "c1",
        output: { distance: "30–40 cm", source: "RHS", pages: [112, 113] },
      },
    ],
  }),
  message("a3", "t2", 9, {
    role: "assistant",
    parts: [
      { type: "text", text: CODE },
      { type: "source", url: "https://www.rhs.org.uk/fruit/espalier", title: "RHS: espaliers" },
    ],
  }),
  message("q3", "a1", 10, { parts: text("And which pears ripen early?") }),
  message("a4", "q3", 11, {
    role: "assistant",
    parts: text("*Jargonelle* in August, *Williams* in September."),
  }),
  { ...placed("m1", "a3", 12), type: "model-change", provider: "acme", modelId: "elm-2" },
  {
    ...placed("s1", "m1", 13),
    type: "compaction",
    summary: "The user has a **south wall** of six metres and wants pears. Wires go 35 cm apart.",
    firstKeptId: "q2" as EntryId,
    upToId: "a3" as EntryId,
  },
  message("q4", "s1", 14, {
    parts: [
      { type: "text", text: "Here is the wall. What do you think?" },
      { type: "file", mediaType: "image/jpeg", url: "https://example.com/wall.jpg", name: "wall.jpg" },
    ],
  }),
  message("a5", "q4", 15, {
    role: "assistant",
    parts: text(
      "A good wall: light stone, and a gutter that keeps the roots dry.\n\n- Begin with **two** pears\n- Leave the middle for a fig",
    ),
  }),
  { ...placed("c1", "a5", 16), type: "custom", name: "approval", data: { by: "ann", plan: "two pears" } },
  message("q5", "a5", 17, { parts: text("A secret") }),
  at({ kind: "erase", id: "q5" as EntryId, seq: 18 as never, time: 0, author: "admin" as never }),
  message("q6", "a5", 19, { parts: text("Two pears it is. When do I plant?") }),
  message("a6", "q6", 20, {
    role: "assistant",
    parts: text("Between **November** and March, on a day without frost."),
  }),
];

export const GARDEN: readonly LogRecord[] = LOG.map(at);
