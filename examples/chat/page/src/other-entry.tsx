/** Entries that are no messages. One that this page does not know is shown with its name, and never dropped. */
import type { Entry } from "@espalier/client";
import { Block, textOfJson } from "./block.js";

export const OtherEntry = ({ entry }: { entry: Exclude<Entry, { type: "message" }> }) => {
  switch (entry.type) {
    case "model-change":
      return <p className="mark">{`Model: ${entry.provider} ${entry.modelId}`}</p>;
    case "option-change":
      return <p className="mark">{`${entry.option}: ${textOfJson(entry.value)}`}</p>;
    case "compaction":
      return <Block label="Summary of what came before">{entry.summary}</Block>;
    case "branch-summary":
      return <Block label="Summary of another branch">{entry.summary}</Block>;
    case "custom":
      return <Block label={entry.name}>{textOfJson(entry.data)}</Block>;
    default:
      return <Block label={`Unknown entry: ${(entry as { type: string }).type}`}>{textOfJson(entry)}</Block>;
  }
};
