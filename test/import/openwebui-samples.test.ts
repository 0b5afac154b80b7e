/** Every sample of an Open WebUI export gives its expectation, in every field. */
import { describe, expect, test } from "vitest";
import { importOpenWebUi } from "../../server/src/import/openwebui.js";
import { expectSample, samplesOf } from "./expectation.js";

const samples = samplesOf("openwebui");

describe("[import] Open WebUI samples", () => {
  test("there are some", () => expect(samples).toHaveLength(3));
  test.each(samples)("%s", (file) => expectSample("openwebui", file, importOpenWebUi));
});
