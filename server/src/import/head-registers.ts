/**
 * What a session's registers can hold of what the source says of it: every join brings them along, so they
 * have a bound. What is too much stands in the first entry's `meta.session` instead.
 */
import type { Json } from "@espalier/shared";
import { clean } from "./clean.js";
import { fieldsOf, restOf, textOf } from "./fields.js";
import type { Report } from "./foreign.js";

type HeadRegisters = {
  readonly source: Json;
  readonly title: string | null;
  /** Null where the registers hold everything. */
  readonly rest: Json;
};

/** A code unit takes three bytes at most, and a register holds 64 KiB. */
const MAX_LENGTH = 20_000;
const MAX_TITLE_LENGTH = 1000;

/** A title as it is kept. */
export const keptTitle = (title: string): string =>
  title.length > MAX_TITLE_LENGTH
    ? `${title.slice(0, MAX_TITLE_LENGTH).toWellFormed()}…`
    : title.toWellFormed();

export const headRegisters = (
  head: { readonly source: Json; readonly title: string | null },
  report: Report,
): HeadRegisters => {
  const source = clean(head.source, "source", report);
  const title = head.title === null ? null : clean(head.title, "title", report);
  const isSourceLong = JSON.stringify(source).length > MAX_LENGTH;
  const isTitleLong = title !== null && title.length > MAX_TITLE_LENGTH;
  if (!isSourceLong && !isTitleLong) return { source, title, rest: null };
  const { format, id } = fieldsOf(source);
  const short = { format: format ?? null, ...restOf({ id: (textOf(id) ?? "").slice(0, MAX_TITLE_LENGTH) }) };
  return {
    source: isSourceLong ? short : source,
    title: title === null ? null : keptTitle(title),
    rest: restOf({ source: isSourceLong ? source : null, title: isTitleLong ? title : null }),
  };
};
