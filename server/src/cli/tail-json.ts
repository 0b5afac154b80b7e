/** What `tail --json` shows: one JSON object a line. */
import { escapeJson } from "./escape.js";
import type { FollowListener } from "./follow.js";
import type { Output } from "./output.js";

export const createTailJson = (out: Output): FollowListener => {
  const put = (value: object): void => out.write(`${escapeJson(JSON.stringify(value))}\n`);
  return {
    // The entries name their parents: where a line goes on is told by them.
    moved: () => {},
    older: () => {},
    entry: (entry) => put({ type: "entry", entry }),
    grown: (entry, growth) => {
      for (const each of growth)
        if (each.type === "replaced") put({ type: "entry", entry });
        else if (each.type === "end")
          put({ type: "end", id: entry.id, status: each.status, usage: entry.usage });
        else if (each.type === "text") put({ id: entry.id, ...each });
        else {
          const { type, part, before, content } = each;
          put({ id: entry.id, type, part, isNew: before === undefined, content });
        }
    },
  };
};
