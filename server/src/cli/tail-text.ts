/** What `tail` shows to a person: a heading for each entry, and its text as it comes. */
import type { Entry, EntryId, Part } from "@espalier/shared";
import { escapeLine, escapeText } from "./escape.js";
import type { FollowListener } from "./follow.js";
import type { Growth } from "./growth.js";
import type { Output } from "./output.js";
import { createStyle } from "./style.js";
import { cutTo } from "./width.js";
import { previewOf, shortJson, speakerOf, timeOf } from "./wording.js";

export const createTailText = (out: Output): FollowListener => {
  const style = createStyle(out);
  /** What the cursor stands in: text that is streamed there goes on without a heading. */
  let current: { id: EntryId; part: number } | null = null;
  let isAtLineStart = true;
  let isFirst = true;

  const write = (text: string): void => {
    if (text === "") return;
    out.write(text);
    isAtLineStart = text.endsWith("\n");
  };

  const freshLine = (): void => {
    if (!isAtLineStart) write("\n");
  };

  const heading = (entry: Entry, note = ""): void => {
    freshLine();
    if (!isFirst) write("\n");
    isFirst = false;
    const speaker = style.bold(escapeLine(speakerOf(entry)));
    write(`${speaker} ${style.dim(`· ${timeOf(entry.time)} · ${entry.id}${note}`)}\n`);
  };

  const label = (text: string): void => {
    freshLine();
    write(style.cyan(`[${escapeLine(text)}] `));
  };

  const showPart = (part: Part): void => {
    switch (part.type) {
      case "text":
        freshLine();
        return write(escapeText(part.text));
      case "thinking":
        label("thinking");
        return write(escapeText(part.text));
      case "tool-call":
        label(`${part.name}: ${part.state}`);
        write(escapeText(part.input));
        return showOutcome(part);
      case "tool-result":
        label(part.isError === true ? "error" : "result");
        return write(escapeText(shortJson(part.output)));
      case "file":
        return label(`file ${part.name ?? part.mediaType} ${part.url}`);
      case "source":
        return label(`source ${part.title ?? ""} ${part.url}`);
      case "data":
        label(part.name);
        return write(escapeLine(shortJson(part.data)));
      default:
        return label("a part of a newer version");
    }
  };

  const showOutcome = ({ output, error }: Part & { type: "tool-call" }): void => {
    if (output !== undefined) write(` → ${escapeLine(shortJson(output))}`);
    if (error !== undefined) write(` → ${style.red(escapeLine(error))}`);
  };

  /** The whole of it anew, but for the input of a call that was shown as it came. */
  const showChanged = (before: Part, part: Part): void => {
    if (part.type === "text") {
      label("rewritten");
      return write(escapeText(part.text));
    }
    if (part.type !== "tool-call" || before.type !== "tool-call" || part.input !== before.input)
      return showPart(part);
    label(`${part.name}: ${part.state}`);
    showOutcome(part);
  };

  const show = (entry: Entry): void => {
    if (entry.type === "message") for (const part of entry.parts) showPart(part);
    else write(previewOf(entry));
    current = { id: entry.id, part: entry.type === "message" ? entry.parts.length - 1 : 0 };
    if (entry.status !== "streaming") end(entry);
  };

  const end = ({ status }: Entry): void => {
    freshLine();
    if (status !== "complete") write(`${style.red(`[${escapeLine(status)}]`)}\n`);
    current = null;
  };

  const grow = (entry: Entry, growth: Growth): void => {
    switch (growth.type) {
      case "text":
        if (current?.id !== entry.id || current.part !== growth.part) {
          const part = entry.type === "message" ? entry.parts[growth.part] : undefined;
          if (part?.type === "tool-call") label(`${part.name}: ${part.state}`);
          else freshLine();
        }
        current = { id: entry.id, part: growth.part };
        return write(escapeText(growth.text));
      case "part":
        if (growth.before === undefined) showPart(growth.content);
        else showChanged(growth.before, growth.content);
        current = { id: entry.id, part: growth.part };
        return;
      case "end":
        return end(entry);
      case "replaced":
        heading(entry, " · again: the server had lost a part of it");
        return show(entry);
    }
  };

  return {
    older: () => write(style.dim("… older entries are not shown\n")),
    moved: (parent) => {
      freshLine();
      if (!isFirst) write("\n");
      isFirst = true;
      current = null;
      const from =
        parent === null
          ? "another line of the tree"
          : `another branch, from ${parent.id}: ${cutTo(previewOf(parent), 40)}`;
      write(style.yellow(`── ${from}\n`));
    },
    entry: (entry) => {
      heading(entry);
      show(entry);
    },
    grown: (entry, growth) => {
      const isReplaced = growth[0]?.type === "replaced";
      if (current?.id !== entry.id && !isReplaced) heading(entry, " · goes on");
      for (const each of growth) grow(entry, each);
    },
  };
};
