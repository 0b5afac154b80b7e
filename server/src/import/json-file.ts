/**
 * Reads a JSON file of any size: of a list one item at a time, of anything else the one value. It is read
 * in pieces and never held as text. Damage ends the reading, after all that is whole before it was given.
 */

import { EspalierError } from "@espalier/shared";
import { JSONParser } from "@streamparser/json";
import type { Report, SourceFile } from "./foreign.js";
import { shownName, unableToRead } from "./unable.js";
import { wellFormed } from "./utf8.js";

export type JsonFile =
  | { readonly kind: "list"; readonly items: AsyncIterable<unknown> }
  | { readonly kind: "value"; readonly value: unknown };

/** A value is held whole, so it has a bound; a list has none. */
export const MAX_VALUE_BYTES = 512 * 1024 * 1024;

/** Throws `invalid` where it is not JSON, or is one value that is too large; where a list is, its items do. */
export const openJson = async (file: SourceFile, report: Report): Promise<JsonFile> => {
  const first = await firstByteOf(file);
  if (first === null) throw unableToRead(file, "it is empty");
  const onFault = () => report(`${file.name}: bytes that are not UTF-8; replaced by U+FFFD`);
  if (first === OPENING_BRACKET) return { kind: "list", items: valuesOf(file, "$.*", onFault) };
  if (file.size > MAX_VALUE_BYTES)
    throw unableToRead(file, "it is one value of more than 512 MiB; export its parts one by one");
  let value: unknown;
  for await (value of valuesOf(file, "$", onFault));
  return { kind: "value", value };
};

const OPENING_BRACKET = 0x5b;
const BLANKS: readonly number[] = [0x20, 0x0a, 0x0d, 0x09];

/** The first byte that says something; null where none does. */
const firstByteOf = async (file: SourceFile): Promise<number | null> => {
  for await (const bytes of wellFormed(file.read(), () => {}))
    for (const byte of bytes) if (!BLANKS.includes(byte)) return byte;
  return null;
};

/** Strings are gathered in a buffer of this size: half as fast again as without one. */
const STRING_BYTES = 64 * 1024;

async function* valuesOf(file: SourceFile, path: string, onFault: () => void): AsyncGenerator<unknown> {
  let values: unknown[] = [];
  let count = 0;
  let fault: unknown = null;
  const parser = new JSONParser({ paths: [path], keepStack: false, stringBufferSize: STRING_BYTES });
  parser.onValue = ({ value }) => void values.push(value);
  parser.onError = (error) => {
    fault ??= error;
  };
  for await (const bytes of wellFormed(file.read(), onFault)) {
    if (parser.isEnded && isBlank(bytes)) continue;
    attempt(() => parser.write(bytes));
    const whole = values;
    values = [];
    count += whole.length;
    yield* whole;
    if (fault !== null) throw damage(shownName(file), count, fault);
  }
  if (!parser.isEnded) attempt(() => parser.end());
  if (fault !== null) throw damage(shownName(file), count, fault);

  function attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      fault ??= error;
    }
  }
}

const isBlank = (bytes: Uint8Array): boolean => bytes.every((byte) => BLANKS.includes(byte));

const damage = (name: string, count: number, cause: unknown): EspalierError => {
  const reason = `it is not JSON, or cut off: ${cause instanceof Error ? cause.message : String(cause)}`;
  const where = count === 0 ? "" : `all of `;
  const rest = count === 0 ? "" : `; what comes before that, ${count} in number, was read`;
  return new EspalierError("invalid", `unable to import ${where}${name}; ${reason}${rest}`, { cause });
};
