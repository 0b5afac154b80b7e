// npm test: lint, type check, then every test. Arguments go to vitest: `npm test -- -t T4`.
//
// A lint fault does not keep the tests from running, a type error does; both fail the command.

import { existsSync, readdirSync } from "node:fs";
import { at, fail, runUnseen, runVisibly, step } from "./run.mjs";
import { compile, setup } from "./setup.mjs";

const BROWSERS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

function findBrowser() {
  const asked = process.env.CHROMIUM_PATH;
  if (asked && !existsSync(asked)) fail(`Unable to use CHROMIUM_PATH; there is no file ${asked}.`);
  return asked || BROWSERS.find((path) => existsSync(path));
}

function browserTestFiles() {
  const folder = at("test", "browser");
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true }).filter((file) => /\.test\.tsx?$/.test(file));
}

const biome = (...args) =>
  runUnseen(process.execPath, [at("node_modules/@biomejs/biome/bin/biome"), ...args]);

function runTests(env) {
  const vitest = at("test", "node_modules", "vitest", "vitest.mjs");
  const reporters = ["--reporter=default", `--reporter=${at("scripts", "count-reporter.mjs")}`];
  const args = [vitest, "run", ...reporters, ...process.argv.slice(2)];
  return runVisibly(process.execPath, args, { cwd: at("test"), env });
}

function framed(lines) {
  const width = Math.max(...lines.map((line) => line.length));
  const bar = "!".repeat(width + 6);
  return [bar, ...lines.map((line) => `!! ${line.padEnd(width)} !!`), bar].join("\n");
}

const browser = process.env.ESPALIER_NO_BROWSER === "1" ? undefined : findBrowser();
const leftOut = browser ? [] : browserTestFiles();

await setup();
const isClean = await step("Checking style", () => biome("check", "--colors=off", at()));
if (!(await step("Checking types and building", () => compile()))) process.exit(1);

const browserEnv = browser ? { CHROMIUM_PATH: browser } : { ESPALIER_NO_BROWSER: "1" };
const code = await runTests({ ...process.env, ...browserEnv });

if (leftOut.length > 0) {
  const files = leftOut.length === 1 ? "1 FILE" : `${leftOut.length} FILES`;
  const help = "For all tests: apt-get install chromium, or set CHROMIUM_PATH to a Chromium or Chrome.";
  console.log(`\n${framed([`THE BROWSER TESTS WERE LEFT OUT (${files}): no browser was found.`, help])}`);
}
if (!isClean) console.log("\nThe style check failed; see above. `npm run format` repairs most of it.");
process.exit(code || (isClean ? 0 : 1));
