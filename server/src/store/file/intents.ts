/**
 * Erasures that were begun and are not finished: `erasures.jsonl` in the control folder, empty when there
 * is none. What each line is for is told in `erasure`.
 */
import { type EntryId, type Erase, isId, isSessionId, type SessionId } from "@espalier/shared";
import type { Disk } from "./disk.js";
import { createLineFile, type LineFile } from "./line-file.js";

/** A line's place in bytes, without its `\n`, and what is to stand there. */
export type NewLine = readonly [offset: number, length: number, text: string];

export type Intent = {
  /** Of this erase among those in the file. */
  readonly n: number;
  readonly id: SessionId;
  readonly entry: EntryId;
  readonly seq: number;
  /** Once they are known. */
  readonly lines?: readonly NewLine[];
};
type IntentLine = Intent | { readonly n: number; readonly isDone: true };

export type Intents = {
  /** Those that were not finished; call it once, before all else. */
  read(): Promise<Intent[]>;
  begin(id: SessionId, erase: Erase): Promise<Intent>;
  /** Adds the lines that are to be written. */
  settle(intent: Intent, lines: readonly NewLine[]): Promise<Intent>;
  end(intent: Intent): Promise<void>;
};

export const createIntents = (disk: Disk, control: string): Intents => {
  const file: LineFile<IntentLine> = createLineFile(disk, control, "erasures.jsonl", toIntentLine);
  const open = new Set<number>();
  let last = 0;
  return {
    read: async () => {
      const intents = new Map<number, Intent>();
      for (const line of await file.read()) {
        last = Math.max(last, line.n);
        if ("isDone" in line) intents.delete(line.n);
        else intents.set(line.n, line);
      }
      for (const n of intents.keys()) open.add(n);
      return [...intents.values()];
    },
    begin: async (id, { id: entry, seq }) => {
      last += 1;
      const intent: Intent = { n: last, id, entry, seq };
      open.add(intent.n);
      await file.add(intent);
      return intent;
    },
    settle: async (intent, lines) => {
      const settled: Intent = { ...intent, lines };
      await file.add(settled);
      return settled;
    },
    end: async ({ n }) => {
      open.delete(n);
      if (open.size === 0) await file.clear();
      else await file.add({ n, isDone: true });
    },
  };
};

const toIntentLine = (value: unknown): IntentLine | null => {
  const line = value as Partial<Intent> & { isDone?: boolean };
  if (!Number.isSafeInteger(line.n)) return null;
  return line.isDone === true || (isSessionId(line.id) && isId(line.entry)) ? (value as IntentLine) : null;
};
