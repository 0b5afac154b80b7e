/** `espalier tree`: draws every branch of a session. */
import { drawTree } from "./draw.js";
import { toSessionId } from "./ids.js";
import { BEFORE_RESET, sayLacking } from "./lacking.js";
import { writeLines } from "./output.js";
import { openSource, type SourceOptions } from "./source.js";
import { createStyle } from "./style.js";
import type { Terminal } from "./terminal.js";
import { treeToJson } from "./tree-json.js";

export type TreeOptions = Omit<SourceOptions, "runtime"> & {
  readonly json?: boolean;
  readonly full?: boolean;
};

export const runTree = async (session: string, options: TreeOptions, terminal: Terminal): Promise<void> => {
  const { out, err, runtime } = terminal;
  const source = await openSource({ ...options, runtime });
  try {
    const { tree, title, names, hasReset } = await source.tree(toSessionId(session));
    if (source.isServer && hasReset) sayLacking(err, session, [BEFORE_RESET], "shown");
    const { full = false, json = false } = options;
    const drawn = { title, session, full, names, columns: out.columns, style: createStyle(out) };
    await writeLines(out, json ? treeToJson(tree, session, title) : drawTree(tree, drawn));
  } finally {
    await source.close();
  }
};
