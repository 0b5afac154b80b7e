/** Token counts of Open WebUI, which come in the spelling of whatever model's service was asked. */
import type { Usage } from "@espalier/shared";
import { countOf, type Fields, fieldsOf } from "./fields.js";

/** Undefined where the counts are not those of a request. */
export const usageOf = (usage: Fields): Usage | undefined => {
  const input = countOf(usage.prompt_tokens ?? usage.input_tokens ?? usage.prompt_eval_count);
  const output = countOf(usage.completion_tokens ?? usage.output_tokens ?? usage.eval_count);
  if (input === undefined || output === undefined) return undefined;
  const inputDetails = fieldsOf(usage.prompt_tokens_details ?? usage.input_tokens_details);
  const outputDetails = fieldsOf(usage.completion_tokens_details ?? usage.output_tokens_details);
  const cachedInput = countOf(inputDetails.cached_tokens);
  const reasoning = countOf(outputDetails.reasoning_tokens);
  return {
    input,
    output,
    ...(cachedInput === undefined ? {} : { cachedInput }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
};
