/**
 * Content as a terminal may have it: what could move the cursor, colour the screen, or turn the reading
 * direction is shown as an escape, such as `\x1b`.
 */

/** Controls; line and paragraph separators; marks and overrides of direction; what is invisible. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;
const UNSAFE_BUT_LINES = new RegExp(`(?![\\n\\t])${UNSAFE.source}`, "gu");

const escapeOf = (char: string): string => {
  const code = char.charCodeAt(0);
  return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
};

const hex = (code: number, length: number): string => code.toString(16).padStart(length, "0");

/** Line breaks and tabs stay. */
export const escapeText = (text: string): string =>
  text.replaceAll("\r\n", "\n").replace(UNSAFE_BUT_LINES, escapeOf);

/** On one line: what breaks or bends it becomes one space. */
export const escapeLine = (text: string): string =>
  text
    .replace(/[\s\u2028\u2029]+/g, " ")
    .trim()
    .replace(UNSAFE, escapeOf);

/** JSON text that says the same and is as safe to look at. */
export const escapeJson = (json: string): string =>
  json.replace(UNSAFE, (char) => (char === "\n" ? char : `\\u${hex(char.charCodeAt(0), 4)}`));
