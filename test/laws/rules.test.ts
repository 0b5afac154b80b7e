/** docs/PROTOCOL.md promises that each rule is proven by a test that names it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const TESTS = join(import.meta.dirname, "..");
const PROTOCOL = join(TESTS, "../docs/PROTOCOL.md");

const testFiles = (): string[] =>
  readdirSync(TESTS, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.test\.tsx?$/.test(name) && !name.includes("node_modules"))
    .map((name) => join(TESTS, name));

const ruleIds = (): string[] =>
  [...readFileSync(PROTOCOL, "utf8").matchAll(/^- \*\*([A-Z]\d+)\*\*/gm)].map((match) => match[1] as string);

test("every rule of the protocol is named by a test", () => {
  const titles = testFiles()
    .flatMap(
      (path) => readFileSync(path, "utf8").match(/\b(?:test|it|describe)(?:\.\w+)*\b[^\n]*\n?[^\n]*/g) ?? [],
    )
    .join("\n");
  const ids = ruleIds();
  expect(ids.length).toBeGreaterThan(40);
  expect(ids.filter((id) => !titles.includes(`[${id}]`))).toEqual([]);
});

test("no rule stands twice", () => {
  const ids = ruleIds();
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});
