/** How many columns a text takes on a terminal, and cutting it to them. */

/** Latin text, common punctuation and box characters: a column each. Most lines are no more than that. */
const PLAIN = /^[\x20-\x7e\u00a0-\u02ff\u2010-\u2027\u2500-\u257f●○]*$/;
/** East Asian wide and full-width characters, and pictures. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
const ZERO = /^[\p{M}\u200d]+$/u;
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

const widthOfGrapheme = (grapheme: string): number => {
  if (ZERO.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
};

export const widthOf = (text: string): number => {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += widthOfGrapheme(segment);
  return width;
};

/** At most `columns` wide; where something is left out it ends with `…`. */
export const cutTo = (text: string, columns: number): string => {
  if (columns <= 0) return "";
  if (PLAIN.test(text)) return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
  let width = 0;
  let fitting = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    width += widthOfGrapheme(segment);
    if (width > columns) return `${text.slice(0, fitting)}…`;
    if (width <= columns - 1) fitting = index + segment.length;
  }
  return text;
};

export const padTo = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - widthOf(text)));
