/** Random conversations: trees with everything that bears on a context, well made or not, and where to look at them. */
import {
  createTree,
  type EntryId,
  type LogRecord,
  type Part,
  pathTo,
  type Tree,
  type TreeNode,
} from "@espalier/shared";
import fc from "fast-check";
import {
  call,
  compaction,
  type Link,
  modelChange,
  note,
  optionChange,
  other,
  result,
  says,
  text,
} from "./context-records.js";
import { append, id, seq, unknownRecord } from "./records.js";

const callId = fc.constantFrom("x", "y");
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.constantFrom("", "a", "b").map(text),
  callId.map((each) => call(each)),
  callId.map((each) => call(each, { state: "done", output: 1 })),
  callId.chain((each) => fc.nat(99).map((found) => result(each, `${found}`))),
);
const parts = fc.array(part, { maxLength: 3 });
const role = fc.constantFrom("system", "user", "assistant", "assistant", "tool", "tool");
const audience = fc.constantFrom({}, {}, {}, { audience: "model" }, { audience: "reader" });
const status = fc.constantFrom("complete", "complete", "streaming", "aborted");

type Draw = { readonly ancestors: readonly number[] };
/** Makes a link, given its name and the ids above it. */
type Make = (name: string, above: readonly string[]) => Link;

const pick = (above: readonly string[], draw: number): string =>
  draw % 9 === 8 || above.length === 0 ? "gone" : (above[draw % above.length] as string);

const messages: fc.Arbitrary<Make> = fc.tuple(role, parts, audience, status).map(
  ([as, told, more, state]) =>
    (name) =>
      says(as as never, name, told, { ...more, status: state } as never),
);
const compactions: fc.Arbitrary<Make> = fc
  .record({ ancestors: fc.array(fc.nat(), { minLength: 2, maxLength: 4 }), keepsNone: fc.boolean() })
  .map(({ ancestors, keepsNone }: Draw & { keepsNone: boolean }) => (name, above) => {
    const [first = 0, upTo = 0, ...kept] = ancestors;
    const keptIds = kept.map((draw) => pick(above, draw)) as EntryId[];
    return compaction(name, keepsNone ? null : pick(above, first), pick(above, upTo), { keptIds });
  });
const others: fc.Arbitrary<Make> = fc.oneof(
  audience.map(
    (more): Make =>
      (name) =>
        note(name, more),
  ),
  fc.constantFrom<Make>(
    (name) => modelChange(name, name),
    (name) => modelChange(name, name, { effort: name }),
    (name) => optionChange(name, "effort", name),
    (name) => optionChange(name, "top", name),
    (name) => other("branch-summary", name, { fromId: "x", summary: name }),
    (name) => other("poll", name),
  ),
);

type Step =
  | { readonly type: "entry"; readonly make: Make; readonly parent: number }
  | { readonly type: "token" | "erase" | "look"; readonly node: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("entry" as const),
      make: fc.oneof(
        { weight: 8, arbitrary: messages },
        { weight: 2, arbitrary: others },
        { weight: 1, arbitrary: compactions },
      ),
      /** Most go on from where one looks. */
      parent: fc.oneof({ weight: 6, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: fc.nat() }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("token" as const), node: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom("erase", "look"), node: fc.nat() }) },
);

export const contextSteps = fc.array(step, { maxLength: 60 });

/** Plays steps on a tree; yields what one looks at after each. */
export function* play(steps: readonly Step[]): Generator<{ tree: Tree; leaf: TreeNode | null }> {
  const tree = createTree();
  let leaf: TreeNode | null = null;
  let at = 0;
  const apply = (record: LogRecord): TreeNode | null => {
    const applied = tree.apply(record);
    return applied.type === "added" || applied.type === "changed" ? applied.node : null;
  };
  for (const each of steps) {
    at++;
    const nodes: TreeNode[] = [...tree.nodes()];
    if (each.type === "entry") {
      const parent: TreeNode | null = each.parent < 0 ? leaf : (nodes[each.parent % nodes.length] ?? null);
      const above: string[] = parent === null ? [] : pathTo(parent).map(({ entry }) => entry.id);
      leaf = apply(each.make(`e${at}`, above)(parent?.entry.id ?? null, at));
    } else {
      const node = nodes[each.node % nodes.length];
      if (node === undefined) continue;
      const { entry } = node;
      if (each.type === "look") leaf = node;
      else if (each.type === "erase") apply(erase(entry.id, at));
      else if (entry.status === "streaming")
        apply(append(entry.id, at, entry.size, [{ push: text(`${at}`) }]));
    }
    yield { tree, leaf };
  }
}

const erase = (name: string, at: number): LogRecord =>
  unknownRecord({ kind: "erase", id: id(name), seq: seq(at), time: at, author: "root" });
