/** One part of a message. What this page does not know is shown with its name, and never dropped. */
import type { Part } from "@espalier/client";
import { memo } from "react";
import { Block, textOfJson } from "./block.js";

export const PartView = memo(({ part }: { part: Part }) => {
  switch (part.type) {
    case "text":
      return <div className="text">{part.text}</div>;
    case "thinking":
      return (
        <details className="block">
          <summary>Thinking</summary>
          <div className="text">{part.text}</div>
        </details>
      );
    case "tool-call":
      return (
        <Block label={`Tool: ${part.name} (${part.state})`}>
          {[part.input, part.output === undefined ? "" : textOfJson(part.output), part.error ?? ""]
            .filter((text) => text !== "")
            .join("\n")}
        </Block>
      );
    case "tool-result":
      return <Block label={part.isError ? "Tool failed" : "Tool result"}>{textOfJson(part.output)}</Block>;
    case "file":
      return <Link url={part.url} text={`File: ${part.name ?? part.mediaType}`} />;
    case "source":
      return <Link url={part.url} text={`Source: ${part.title ?? part.url}`} />;
    case "data":
      return part.name === "error" ? (
        <p className="error">{reasonIn(part.data)}</p>
      ) : (
        <Block label={`Data: ${part.name}`}>{textOfJson(part.data)}</Block>
      );
    default:
      return <Block label={`Unknown part: ${(part as { type: string }).type}`}>{textOfJson(part)}</Block>;
  }
});

/** Whoever writes a message chooses its links, so only those that lead to a document are followed. */
const Link = ({ url, text }: { url: string; text: string }) =>
  /^(https?:|blob:|data:(image|audio|video)\/)/i.test(url) ? (
    <a className="link" href={url} target="_blank" rel="noreferrer">
      {text}
    </a>
  ) : (
    <Block label={text}>{url}</Block>
  );

const reasonIn = (data: unknown): string => {
  const message = (data as { message?: unknown } | null)?.message;
  return typeof message === "string" ? message : textOfJson(data);
};
