import { createHash } from "node:crypto";
import { jsonEqual, PROTOCOL_VERSION } from "@espalier/shared";
import { clientMessageSchema, serverMessageSchema } from "@espalier/shared/schema";
import { expect, test } from "vitest";

/** Of the wire as `PROTOCOL_VERSION` speaks it. */
const WIRE = "9ba5772262ebf5f33cd0c73bc3e4ae30b36f73486bed87448112b2b54619d8fa";

/** Who may change a value in memory is nothing that the wire says. */
const withoutReadOnly = (key: string, value: unknown): unknown =>
  key === "readOnly" && value === true ? undefined : value;

test("the wire does not change unnoticed", () => {
  const wire = [PROTOCOL_VERSION, clientMessageSchema.toJSONSchema(), serverMessageSchema.toJSONSchema()];
  const hash = createHash("sha256").update(JSON.stringify(wire, withoutReadOnly)).digest("hex");
  expect(
    hash,
    "the wire schemas changed: raise PROTOCOL_VERSION in shared/src/limits.ts if a released version speaks the " +
      `old one, and set WIRE in this test to "${hash}"`,
  ).toBe(WIRE);
});

test("every field of the wire is in what is hashed", () => {
  const text = JSON.stringify([clientMessageSchema.toJSONSchema(), serverMessageSchema.toJSONSchema()]);
  for (const field of ["deltas", "forkOf", "candidates", "upto", "alternatives"])
    expect(text).toContain(field);
  expect(jsonEqual(clientMessageSchema.toJSONSchema(), serverMessageSchema.toJSONSchema())).toBe(false);
});
