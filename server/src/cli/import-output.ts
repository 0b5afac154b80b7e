/** What `espalier import` prints of each session as it is taken: a line for people, or an item of one JSON text. */
import type { ImportSummary } from "../import/foreign.js";
import { escapeJson, escapeLine } from "./escape.js";
import type { Taken } from "./import-session.js";
import type { Output } from "./output.js";
import { createStyle } from "./style.js";
import { countOf } from "./wording.js";

export type ImportPrinter = {
  /** Something was printed. */
  isBegun(): boolean;
  session(taken: Taken): Promise<void>;
  /** Nothing comes any more; `reports` concern no one session. A text that was begun must be ended. */
  end(reports: readonly string[]): Promise<void>;
};

export const createTextPrinter = (out: Output): ImportPrinter => ({
  isBegun: () => false,
  session: async (taken) => {
    out.write(`${describe(taken, out)}\n`);
    await out.drained();
  },
  end: async () => {},
});

/** The text is whole also where the import ends early; where it takes nothing, and fails, there is none. */
export const createJsonPrinter = (out: Output): ImportPrinter => {
  let count = 0;
  const write = async (text: string): Promise<void> => {
    out.write(escapeJson(text));
    await out.drained();
  };
  return {
    isBegun: () => count > 0,
    session: async ({ summary }) => {
      count += 1;
      await write(`${count === 1 ? BEGIN : ",\n"}${JSON.stringify(summary)}`);
    },
    end: (reports) => write(`${count === 0 ? BEGIN : ""}\n],"reports":${JSON.stringify(reports)}}\n`),
  };
};

const BEGIN = `{"sessions":[\n`;

export const nameOf = ({ id, title }: ImportSummary): string => (title === null ? id : `${id} (${title})`);

const describe = ({ summary, fate }: Taken, out: Output): string => {
  const style = createStyle(out);
  const { id, title, entries, roots, branchPoints } = summary;
  const counts = [countOf(entries, "entry", "entries")];
  if (roots.length > 1) counts.push(countOf(roots.length, "root"));
  const forks = branchPoints.filter(({ parent }) => parent !== null).length;
  if (forks > 0) counts.push(countOf(forks, "branch point"));
  const verb = fate === "imported" ? style.green(fate) : style.yellow(fate);
  return `${verb}  ${id}  ${style.bold(escapeLine(title ?? "untitled"))}  ${style.dim(counts.join(", "))}`;
};
