/** Answers by a model behind the chat-completions API, as it is spoken by OpenAI and by many others. */
import type { Entry } from "@espalier/client";
import OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { type Answer, textOf } from "./answer.js";

export type OpenAiOptions = {
  readonly apiKey: string;
  /** The API's address, where it is not OpenAI's own. */
  readonly baseURL?: string | undefined;
  readonly model?: string | undefined;
};

const DEFAULT_MODEL = "gpt-4o-mini";

export const createOpenAiAnswer = ({ apiKey, baseURL, model = DEFAULT_MODEL }: OpenAiOptions): Answer => {
  const openai = new OpenAI({ apiKey, ...(baseURL === undefined ? {} : { baseURL }) });
  return async function* ({ history, signal }) {
    const stream = await openai.chat.completions.create(
      { model, messages: toChatMessages(history), stream: true, stream_options: { include_usage: true } },
      { signal },
    );
    for await (const { choices, usage } of stream) {
      const text = choices[0]?.delta.content;
      if (text) yield { text };
      if (usage) yield { usage: { input: usage.prompt_tokens, output: usage.completion_tokens, model } };
    }
  };
};

/** What a model is told of a line: its messages, except those that are for readers alone. */
export const toChatMessages = (history: readonly Entry[]): ChatCompletionMessageParam[] =>
  history.flatMap((entry): ChatCompletionMessageParam[] => {
    if (entry.type !== "message" || entry.audience === "reader" || entry.role === "tool") return [];
    const content = textOf(entry);
    return content === "" ? [] : [{ role: entry.role, content }];
  });
