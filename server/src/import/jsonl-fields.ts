/** Careful looks into the records of JSONL formats, beyond those of `fields.ts`. */
import type { Json, Part, Usage } from "@espalier/shared";
import { countOf, type Fields, isFields, readTime, textOf } from "./fields.js";
import type { Report } from "./foreign.js";
import type { Place, RecordReader } from "./jsonl.js";

/** No time of any format is written longer. */
const MAX_TIME_LENGTH = 64;

/** In ms; one that cannot be read is reported. */
export const readStamp = (value: unknown, where: string, report: Report): number | null => {
  const isOdd =
    typeof value === "string" ? value.length > MAX_TIME_LENGTH : isFields(value) || Array.isArray(value);
  if (!isOdd) return readTime(value, where, report);
  report(`${where}: unreadable time; passed over`);
  return null;
};

/** Whether a time as the source writes it says no more than the one that was read. */
export const isTime = (value: unknown, ms: number | null): boolean =>
  ms !== null && (typeof value === "string" ? Date.parse(value) : value) === ms;

/** The name of a record's type; that of a value that is no record, by its kind. */
export const typeNameOf = (record: unknown): string => {
  const type = isFields(record) ? textOf(record.type) : typeof record;
  return type === null || type === "" ? "none" : clip(type, MAX_NAME_LENGTH);
};
const MAX_NAME_LENGTH = 100;

export const clip = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;

type Counts = {
  readonly input: unknown;
  readonly output: unknown;
  readonly cachedInput: unknown;
  readonly costUsd: unknown;
  readonly model: unknown;
};

/** Null where neither input nor output is a count. Counts of nothing are left out. */
export const usageOf = ({ input, output, cachedInput, costUsd, model }: Counts): Usage | null => {
  if (countOf(input) === undefined && countOf(output) === undefined) return null;
  const usage: Usage = { input: countOf(input) ?? 0, output: countOf(output) ?? 0 };
  const cached = countOf(cachedInput) ?? 0;
  if (cached > 0) usage.cachedInput = cached;
  if (typeof costUsd === "number" && costUsd > 0 && Number.isFinite(costUsd)) usage.costUsd = costUsd;
  if (typeof model === "string") usage.model = model;
  return usage;
};

/** JSON text of a call's input; null where it is nested deeper than can be written. */
export const inputTextOf = (input: Json | undefined): string | null => {
  try {
    return JSON.stringify(input ?? {});
  } catch {
    return null;
  }
};

export const dataPart = (name: string, data: Json): Part => ({ type: "data", name, data });

/** An image that stands in the file, base64. */
export const inlineFile = (mediaType: string, base64: string): Part => ({
  type: "file",
  mediaType,
  url: `data:${mediaType};base64,${base64}`,
});

/** What a tool gave back: its text, where it holds text and files only; the files follow as parts. */
export const resultParts = (
  callId: string,
  content: Json | undefined,
  { isError, fileOf }: { isError: boolean; fileOf: (block: Fields) => Part | null },
): Part[] => {
  const { output, files } = outputOf(content, fileOf);
  const result: Part = { type: "tool-result", callId, output };
  return [isError ? { ...result, isError } : result, ...files];
};

const outputOf = (content: Json | undefined, fileOf: (block: Fields) => Part | null) => {
  if (!Array.isArray(content)) return { output: content ?? "", files: [] };
  const texts: string[] = [];
  const files: Part[] = [];
  for (const block of content as readonly Json[]) {
    const file = isFields(block) ? fileOf(block) : null;
    if (file !== null) files.push(file);
    else if (isPlainText(block)) texts.push(block.text);
    else return { output: content as Json, files: [] };
  }
  return { output: texts.join("\n"), files };
};

const isPlainText = (block: Json): block is Fields & { readonly text: string } =>
  isFields(block) &&
  block.type === "text" &&
  typeof block.text === "string" &&
  Object.keys(block).length === 2;

export type Repeat = { readonly id: string; readonly place: Place; readonly first: Place };

/** An identical repeat is told from a conflict by what stands in the file. */
export const reportRepeats = async (
  repeats: readonly Repeat[],
  read: RecordReader,
  isEqual: (a: unknown, b: unknown) => boolean,
  report: Report,
): Promise<void> => {
  for (const { id, place, first } of repeats) {
    const where = `line ${place.line}`;
    const clash = `id ${clip(id, MAX_NAME_LENGTH)} was used by line ${first.line} with another body`;
    report(
      isEqual(await read(first), await read(place))
        ? `${where}: repeats line ${first.line} exactly; ignored`
        : `${where}: ${clash}; the first is kept`,
    );
  }
};

/** Whether a value fits a register together with others. */
export const isSmall = (value: Json): boolean => (inputTextOf(value)?.length ?? Infinity) <= MAX_SMALL_LENGTH;
const MAX_SMALL_LENGTH = 8 * 1024;
