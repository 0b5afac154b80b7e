/** Every sample of a LibreChat export gives its expectation, in every field. */
import { describe, expect, test } from "vitest";
import { importLibreChat } from "../../server/src/import/librechat.js";
import { expectSample, samplesOf } from "./expectation.js";

const samples = samplesOf("librechat");

describe("[import] LibreChat samples", () => {
  test("there are some", () => expect(samples).toHaveLength(3));
  test.each(samples)("%s", (file) => expectSample("librechat", file, importLibreChat));
});
