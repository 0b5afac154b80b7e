/** Colours, where the output shows them; else the text as it is. */
import type { Output } from "./output.js";

export type Style = { readonly [Name in keyof typeof CODES]: (text: string) => string };

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
} as const;

export const createStyle = ({ isColoured }: Output): Style => {
  const paint =
    ([on, off]: readonly [number, number]) =>
    (text: string): string =>
      isColoured && text !== "" ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  return {
    bold: paint(CODES.bold),
    dim: paint(CODES.dim),
    red: paint(CODES.red),
    green: paint(CODES.green),
    yellow: paint(CODES.yellow),
    blue: paint(CODES.blue),
    cyan: paint(CODES.cyan),
  };
};
