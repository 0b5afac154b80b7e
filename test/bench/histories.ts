/** Sessions of some length to measure with: made once, folded often. */
import {
  createTree,
  type EntryId,
  ID_ALPHABET,
  ID_LENGTH,
  type LogRecord,
  type MessageEntry,
  type PrincipalId,
  type Seq,
  type Tree,
} from "@espalier/shared";

const AUTHOR = "ann" as PrincipalId;

/** Made letter by letter, as ids are made: a map that takes one has it to hash. */
export const newIds = (count: number, random: () => number): EntryId[] =>
  Array.from({ length: count }, () => {
    let id = "";
    for (let letter = 0; letter < ID_LENGTH; letter++)
      id += ID_ALPHABET[Math.floor(random() * ID_ALPHABET.length)];
    return id as EntryId;
  });

export const message = (id: EntryId, parentId: EntryId | null, seq: number): MessageEntry => ({
  kind: "entry",
  id,
  parentId,
  seq: seq as Seq,
  rev: seq as Seq,
  time: 1_800_000_000_000 + seq,
  author: AUTHOR,
  status: "complete",
  size: 0,
  type: "message",
  role: "user",
  parts: [{ type: "text", text: "When is the next spring tide?" }],
});

/** A line, in which each entry hangs from an earlier one than the last with the chance `forks`. */
export const history = (count: number, forks: number, random: () => number): MessageEntry[] => {
  const ids = newIds(count, random);
  const parentOf = (index: number): EntryId | null => {
    if (index === 0) return null;
    const parent = random() < forks ? Math.floor(random() * index) : index - 1;
    return ids[parent] as EntryId;
  };
  return ids.map((id, index) => message(id, parentOf(index), index + 1));
};

export const alternatives = (count: number, random: () => number): MessageEntry[] => {
  const [root, ...ids] = newIds(count + 1, random) as [EntryId, ...EntryId[]];
  return [message(root, null, 1), ...ids.map((id, index) => message(id, root, index + 2))];
};

export const foldOf = (records: Iterable<LogRecord>): Tree => {
  const tree = createTree();
  for (const record of records) tree.apply(record);
  return tree;
};
