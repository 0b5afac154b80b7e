/** docs/protocol.schema.json gives the wire's shapes to other languages; it is made from the schemas. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROTOCOL_VERSION } from "@espalier/shared";
import { clientMessageSchema, serverMessageSchema } from "@espalier/shared/schema";
import { expect, test } from "vitest";

const FILE = join(import.meta.dirname, "../../docs/protocol.schema.json");

const made = (): string => {
  const options = { reused: "ref" } as const;
  const schemas = {
    protocol: PROTOCOL_VERSION,
    client: clientMessageSchema.toJSONSchema(options),
    server: serverMessageSchema.toJSONSchema(options),
  };
  const withoutReadOnly = (key: string, value: unknown) => (key === "readOnly" ? undefined : value);
  return `${JSON.stringify(schemas, withoutReadOnly, 1)}\n`;
};

test("the file holds the schemas as they are; UPDATE_SCHEMA=1 writes it", () => {
  if (process.env.UPDATE_SCHEMA === "1") writeFileSync(FILE, made());
  expect(readFileSync(FILE, "utf8") === made()).toBe(true);
});
