/** Every sample of a pi session gives its expectation, in every field. */
import { describe, expect, test } from "vitest";
import { importPi } from "../../server/src/import/pi.js";
import { expectSample, samplesOf } from "./expectation.js";

const samples = samplesOf("pi");

describe("[import] pi samples", () => {
  test("there are some", () => expect(samples).toHaveLength(8));
  test.each(samples)("%s", (file) => expectSample("pi", file, importPi));
});
