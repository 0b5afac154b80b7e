/**
 * Reads a foreign JSON file, whole for now: this is the one place that a streaming parser would replace.
 * A byte order mark is passed over; bytes that are not UTF-8 become U+FFFD, and are reported.
 */
import { EspalierError } from "@espalier/shared";
import type { Report } from "./foreign.js";

/** Reads a file by its name; undefined, or a rejection with code `ENOENT`, where there is none. */
export type ReadFile = (name: string) => Promise<string | Uint8Array | undefined>;

/** A list's items one by one, or the one value that the file holds. */
export type SourceFile =
  | { readonly kind: "list"; readonly items: AsyncIterable<unknown> }
  | { readonly kind: "value"; readonly value: unknown };

/** Null where there is no such file. Throws `invalid` where it is not JSON. */
export const openSourceFile = async (
  name: string,
  read: ReadFile,
  report: Report,
): Promise<SourceFile | null> => {
  const content = await readOrAbsent(name, read);
  if (content === undefined) return null;
  const text = typeof content === "string" ? content : decode(content, name, report);
  const value = parse(text.startsWith("\uFEFF") ? text.slice(1) : text, name);
  return Array.isArray(value) ? { kind: "list", items: itemsOf(value) } : { kind: "value", value };
};

export const unableToImport = (name: string, reason: string, cause?: unknown): EspalierError =>
  new EspalierError("invalid", `unable to import ${name}; ${reason}`, { cause });

const readOrAbsent: (name: string, read: ReadFile) => ReturnType<ReadFile> = async (name, read) => {
  try {
    return await read(name);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw unableToImport(name, `it could not be read: ${messageOf(error)}`, error);
  }
};

/** A text holds half a gigabyte at most. */
const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_STRING_TOO_LONG";

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const decode = (bytes: Uint8Array, name: string, report: Report): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (isTooLarge(error))
      throw unableToImport(name, "it is too large to be read at once; import its parts", error);
    report(`${name}: bytes that are not UTF-8; replaced by U+FFFD`);
    return new TextDecoder("utf-8").decode(bytes);
  }
};

const parse = (text: string, name: string): unknown => {
  if (text.trim() === "") throw unableToImport(name, "it is empty");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unableToImport(name, `it is not JSON, or cut off: ${messageOf(error)}`, error);
  }
};

async function* itemsOf(items: readonly unknown[]): AsyncGenerator<unknown> {
  yield* items;
}
