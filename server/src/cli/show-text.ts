/** Entries and messages as text to read, a heading and then all that they say, as a terminal may have it. */
import type { Entry, Part } from "@espalier/shared";
import { escapeLine, escapeText } from "./escape.js";
import type { LineItem } from "./source.js";
import type { Style } from "./style.js";
import { speakerOf, timeOf } from "./wording.js";

/** Lines, some of which hold line breaks. */
export function* showEntry({ entry, place, alternatives }: LineItem, style: Style): Generator<string> {
  const branch = alternatives > 1 ? style.yellow(` ${place}/${alternatives}`) : "";
  const status = entry.status === "complete" ? "" : style.red(` [${escapeLine(entry.status)}]`);
  yield `${style.bold(escapeLine(speakerOf(entry)))}${branch}${status} ${style.dim(`· ${timeOf(entry.time)} · ${entry.id}`)}`;
  yield* showContent(entry, style);
  yield "";
}

function* showContent(entry: Entry, style: Style): Generator<string> {
  switch (entry.type) {
    case "message":
      for (const part of entry.parts) yield* showPart(part, style);
      return;
    case "model-change":
      yield escapeLine(`${entry.provider} ${entry.modelId}`);
      if (entry.options !== undefined) yield jsonText(entry.options);
      return;
    case "option-change":
      yield `${escapeLine(entry.option)} = ${jsonText(entry.value)}`;
      return;
    case "compaction":
    case "branch-summary":
      yield escapeText(entry.summary);
      return;
    case "custom":
      yield jsonText(entry.data);
      return;
    case "erased":
      yield style.dim(`erased on ${timeOf(entry.erasedAt)} by ${escapeLine(entry.erasedBy)}`);
      return;
    default:
      yield style.dim("an entry of a newer version");
      yield jsonText(entry);
  }
}

export function* showPart(part: Part, style: Style): Generator<string> {
  const label = (text: string): string => style.cyan(`[${escapeLine(text)}]`);
  switch (part.type) {
    case "text":
      yield escapeText(part.text);
      return;
    case "thinking":
      yield `${label("thinking")} ${style.dim(escapeText(part.text))}`;
      return;
    case "tool-call":
      yield `${label(`${part.name}: ${part.state}`)} ${escapeText(part.input)}`;
      if (part.output !== undefined) yield `→ ${jsonText(part.output)}`;
      if (part.error !== undefined) yield `→ ${style.red(escapeText(part.error))}`;
      return;
    case "tool-result":
      yield `${label(part.isError === true ? "error" : "result")} ${jsonText(part.output)}`;
      return;
    case "file":
      yield label(`file ${part.name ?? part.mediaType} ${part.url}`);
      return;
    case "source":
      yield label(`source ${part.title ?? ""} ${part.url}`);
      return;
    case "data":
      yield `${label(part.name)} ${jsonText(part.data)}`;
      return;
    default:
      yield label("a part of a newer version");
  }
}

/** A text as it is, anything else as JSON. */
const jsonText = (value: unknown): string =>
  escapeText(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
