/**
 * The JSON values on one line of a damaged file: one as a rule; several where two writers met on a line;
 * the whole one where a record that was cut off has another glued to it; none where nothing can be read.
 */

export type LineFault = "several" | "glued" | "bad";
export type LineValues = { readonly values: readonly unknown[]; readonly fault: LineFault | null };

/** Tells a record from any other JSON value; what is glued to a cut-off record must be one. */
export type IsRecord = (value: unknown) => boolean;

const BAD: LineValues = { values: [], fault: "bad" };

export const valuesOfLine = (text: string, isRecord: IsRecord): LineValues => {
  const whole = parse(text);
  if (whole !== undefined) return { values: [whole.value], fault: null };
  const { values, rest } = leadingValues(text);
  if (rest === text.length) return { values, fault: "several" };
  if (values.length > 0) return { values: [...values, ...gluedValues(text, rest, isRecord)], fault: "glued" };
  const glued = gluedValues(text, rest, isRecord);
  return glued.length === 0 ? BAD : { values: glued, fault: "glued" };
};

const parse = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
};

/** The objects that follow each other from the start on, and where what is none of them begins. */
const leadingValues = (text: string): { values: unknown[]; rest: number } => {
  const values: unknown[] = [];
  let rest = skipSpace(text, 0);
  while (rest < text.length) {
    const end = endOfObject(text, rest);
    const parsed = end === null ? undefined : parse(text.slice(rest, end));
    if (end === null || parsed === undefined) break;
    values.push(parsed.value);
    rest = skipSpace(text, end);
  }
  return { values, rest };
};

const skipSpace = (text: string, from: number): number => {
  let at = from;
  while (at < text.length && " \t\r\n".includes(text[at] as string)) at++;
  return at;
};

const QUOTE = 34;
const BACKSLASH = 92;

/** Where the object that begins at `from` ends, by its brackets alone; null where it does not. */
const endOfObject = (text: string, from: number): number | null => {
  if (text[from] !== "{") return null;
  let depth = 0;
  let isInString = false;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === 123 || code === 91) depth++;
    else if ((code === 125 || code === 93) && --depth === 0) return at + 1;
  }
  return null;
};

/** What may be looked through in search of a glued record, as a multiple of the line's length. */
const EFFORT = 32;

/** The record that begins somewhere after the cut and ends with the line. */
const gluedValues = (text: string, from: number, isRecord: IsRecord): readonly unknown[] => {
  let effort = EFFORT * text.length;
  for (let at = text.indexOf('{"', from + 1); at !== -1 && effort > 0; at = text.indexOf('{"', at + 1)) {
    const end = endOfObject(text, at);
    effort -= (end ?? text.length) - at;
    if (end === null || skipSpace(text, end) < text.length) continue;
    const parsed = parse(text.slice(at, end));
    if (parsed !== undefined && isRecord(parsed.value)) return [parsed.value];
  }
  return [];
};
