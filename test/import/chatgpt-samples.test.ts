/** Every sample of a ChatGPT export gives its expectation, in every field. */
import { describe, expect, test } from "vitest";
import { importChatGpt } from "../../server/src/import/chatgpt.js";
import { expectSample, samplesOf } from "./expectation.js";

const samples = samplesOf("chatgpt");

describe("[import] ChatGPT samples", () => {
  test("there are some", () => expect(samples).toHaveLength(10));
  test.each(samples)("%s", (file) => expectSample("chatgpt", file, importChatGpt));
});
