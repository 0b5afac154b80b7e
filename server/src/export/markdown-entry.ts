/** What one entry says, as blocks of Markdown. */
import type { Entry, Part } from "@espalier/shared";
import { fenced, link, plain, quoted } from "./markdown-text.js";
import { inputText, jsonText, linkOf, shownUrl, speakerOf, timeOf } from "./wording.js";

export function* entryText(entry: Entry): Generator<string> {
  switch (entry.type) {
    case "message":
      for (const part of entry.parts) yield* partText(part);
      return;
    case "model-change":
      yield `From here on: ${plain(`${entry.provider} ${entry.modelId}`)}\n`;
      if (entry.options !== undefined) yield fenced(jsonText(entry.options), "json");
      return;
    case "option-change":
      yield `From here on: ${plain(entry.option)}\n`;
      yield fenced(jsonText(entry.value), "json");
      return;
    case "compaction":
      yield "The model reads this in place of what came before:\n";
      yield quoted(entry.summary);
      return;
    case "branch-summary":
      yield "What happened on a line that was left:\n";
      yield quoted(entry.summary);
      return;
    case "custom":
      yield fenced(jsonText(entry.data), "json");
      return;
    case "erased":
      yield `*Erased on ${plain(timeOf(entry.erasedAt))} by ${plain(entry.erasedBy)}.*\n`;
      return;
    default:
      yield `An entry of a kind that this version does not know: ${plain(speakerOf(entry))}\n`;
      yield fenced(jsonText(entry), "json");
  }
}

function* partText(part: Part): Generator<string> {
  switch (part.type) {
    case "text":
      if (part.text.trim() !== "") yield quoted(part.text);
      return;
    case "thinking":
      if (part.text.trim() !== "") yield details("Thinking", quoted(part.text));
      return;
    case "tool-call":
      yield `**Tool call** ${plain(part.name)} (${plain(part.state)})\n`;
      if (part.input !== "") yield fenced(inputText(part.input), "json");
      if (part.output !== undefined) yield `Result:\n\n${fenced(jsonText(part.output))}`;
      if (part.error !== undefined) yield `Error:\n\n${fenced(part.error)}`;
      return;
    case "tool-result":
      yield `**${part.isError === true ? "Error" : "Result"}** of call ${plain(part.callId)}\n`;
      yield fenced(jsonText(part.output));
      return;
    case "file":
      yield `**File** ${plain(part.name ?? "")} (${plain(part.mediaType)}): ${address(part.url)}\n`;
      return;
    case "source":
      yield `**Source** ${address(part.url, part.title)}\n`;
      return;
    case "data":
      yield `**Data** ${plain(part.name)}\n`;
      yield fenced(jsonText(part.data), "json");
      return;
    default:
      yield "A part of a kind that this version does not know:\n";
      yield fenced(jsonText(part), "json");
  }
}

const details = (summary: string, content: string): string =>
  `<details><summary>${summary}</summary>\n\n${content}\n</details>\n`;

const address = (url: string, words?: string): string => {
  const href = linkOf(url);
  const shown = words === undefined || words === "" ? shownUrl(url) : words;
  return href === null
    ? plain(words === undefined ? shown : `${words}: ${shownUrl(url)}`)
    : link(shown, href);
};
