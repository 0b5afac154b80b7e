// Brings a clone to the state that a command needs, and does nothing where it is there already.
//
// Each step keeps a stamp: a hash of what it read when it last succeeded, stored beside what it made, so that
// both go away together. A tool's own output is shown only when the tool fails. Plain Node, no dependencies:
// this file runs before anything is installed.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");

const OLDEST_NODE = [20, 19];
const LOCK_POLL_MS = 100;
const LINE_REFRESH_MS = 1000;
const NOT_SOURCES = new Set(["node_modules", "dist", "data", "test-results", ".git"]);

/** Absolute path of something in the workspace. */
export const at = (...parts) => join(ROOT, ...parts);

/** Prints one sentence and ends the command. */
export function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  const isNewEnough = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  if (!isNewEnough) {
    fail(`Espalier needs Node ${OLDEST_NODE.join(".")} or newer; this is ${process.versions.node}.`);
  }
}

// --- what is there -----------------------------------------------------------------------------------------

function workspaceDirs() {
  const patterns = readFileSync(at("pnpm-workspace.yaml"), "utf8").matchAll(/^\s+- +["']?([^"'\s]+)/gm);
  const dirs = [...patterns].flatMap(([, pattern]) => {
    if (!pattern.endsWith("/*")) return [pattern];
    const parent = pattern.slice(0, -2);
    return existsSync(at(parent)) ? readdirSync(at(parent)).map((name) => `${parent}/${name}`) : [];
  });
  return dirs.filter((dir) => existsSync(at(dir, "package.json"))).sort();
}

function filesUnder(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter((child) => !NOT_SOURCES.has(child.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((child) =>
      child.isDirectory() ? filesUnder(join(path, child.name)) : [join(path, child.name)],
    );
}

function hashOf(paths) {
  const hash = createHash("sha256").update(process.versions.node.split(".")[0]);
  for (const file of paths.flatMap(filesUnder)) {
    hash.update(`\0${relative(ROOT, file)}\0`).update(readFileSync(file));
  }
  return hash.digest("hex");
}

const readStamp = (path) => (existsSync(path) ? readFileSync(path, "utf8") : undefined);

function writeStamp(path, hash) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, hash);
}

// --- running tools -----------------------------------------------------------------------------------------

/** Starts a program; signals that reach this process are handed on. Resolves to its exit code. */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, ...options });
    const isAtTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
    // A terminal gives Ctrl-C to the whole group itself; passing it on would press it twice.
    const onInterrupt = () => isAtTerminal || child.kill("SIGINT");
    const onTerminate = () => child.kill("SIGTERM");
    process.on("SIGINT", onInterrupt);
    process.on("SIGTERM", onTerminate);
    const settle = (code) => {
      process.off("SIGINT", onInterrupt);
      process.off("SIGTERM", onTerminate);
      resolve(code);
    };
    options.onStart?.(child);
    child.once("error", (error) => {
      process.stderr.write(`Unable to run ${command}; ${error.message}\n`);
      settle(127);
    });
    child.once("close", (code, signal) => settle(code ?? 128 + constants.signals[signal]));
  });
}

/** Runs a program with this process's own stdin, stdout and stderr. */
export const runVisibly = (command, args, options) => run(command, args, { stdio: "inherit", ...options });

/** Runs a program unseen; resolves to its exit code and all that it printed. */
export async function runUnseen(command, args, options) {
  const chunks = [];
  const code = await run(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
    onStart: (child) => {
      child.stdout?.on("data", (chunk) => chunks.push(chunk));
      child.stderr?.on("data", (chunk) => chunks.push(chunk));
    },
  });
  return { code, output: Buffer.concat(chunks).toString() };
}

/** Shows one calm line while `work` goes on. Resolves to whether it succeeded. */
export async function step(title, work) {
  const startedAt = Date.now();
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  const isLive = process.stderr.isTTY;
  const draw = (text) => process.stderr.write(isLive ? `\r\x1b[K${text}` : `${text}\n`);
  draw(`${title} …`);
  const timer = isLive ? setInterval(() => draw(`${title} … ${seconds()}`), LINE_REFRESH_MS) : undefined;
  const { code, output } = await work();
  clearInterval(timer);
  const outcome = code === 0 ? "done in" : "failed after";
  draw(`${title} … ${outcome} ${seconds()}${isLive ? "\n" : ""}`);
  if (code !== 0) process.stderr.write(output.endsWith("\n") ? output : `${output}\n`);
  return code === 0;
}

async function stepOrExit(title, work) {
  if (!(await step(title, work))) process.exit(1);
}

// --- the steps ---------------------------------------------------------------------------------------------

function pnpmEnvironment() {
  const env = { ...process.env };
  // Set by `npm run -s` and by production shells; they would hide pnpm's errors, or leave out the compiler.
  for (const name of ["npm_config_loglevel", "npm_config_omit", "npm_config_production", "NODE_ENV"]) {
    delete env[name];
  }
  return env;
}

async function install() {
  const dirs = workspaceDirs();
  const manifests = ["package.json", ...dirs.map((dir) => `${dir}/package.json`)];
  const settings = ["pnpm-lock.yaml", "pnpm-workspace.yaml", ".npmrc"];
  const hash = hashOf([...settings, ...manifests].map((file) => at(file)));
  const stampPath = at("node_modules", ".setup-stamp");
  const stamp = readStamp(stampPath);
  if (stamp === hash && dirs.every((dir) => existsSync(at(dir, "node_modules")))) return;

  const { packageManager } = JSON.parse(readFileSync(at("package.json"), "utf8"));
  const args = ["-y", packageManager, "install", "--frozen-lockfile", "--prod=false"];
  const isWindows = process.platform === "win32";
  const title = stamp === undefined ? "Installing packages (first time only)" : "Installing changed packages";
  rmSync(stampPath, { force: true });
  await stepOrExit(title, () =>
    runUnseen(isWindows ? "npx.cmd" : "npx", [...args, "--config.confirmModulesPurge=false"], {
      env: pnpmEnvironment(),
      shell: isWindows,
    }),
  );
  writeStamp(stampPath, hash);
}

/** Type-checks and builds with the compiler, which itself skips what is up to date. */
export const compile = (...projects) =>
  runUnseen(process.execPath, [at("node_modules/typescript/bin/tsc"), "-b", ...projects]);

/** A project and all that it refers to, by their folders. */
function closureOf(project) {
  const config = at(project, "tsconfig.json");
  if (!existsSync(config)) return [project];
  const references = [...readFileSync(config, "utf8").matchAll(/"path": *"([^"]+)"/g)];
  const folders = references.map(([, path]) => relative(ROOT, join(at(project), path)));
  return [...new Set([project, ...folders.flatMap(closureOf)])];
}

const BUILD_SETTINGS = ["pnpm-lock.yaml", "tsconfig.base.json"].map((file) => at(file));

async function build(projects) {
  const folders = [...new Set(projects.flatMap(closureOf))];
  const stampPath = (folder) => at(folder, "dist", ".setup-stamp");
  const hashes = new Map(
    folders.map((folder) => [
      folder,
      hashOf([...BUILD_SETTINGS, ...closureOf(folder).map((part) => at(part))]),
    ]),
  );
  if (folders.every((folder) => readStamp(stampPath(folder)) === hashes.get(folder))) return;
  await stepOrExit("Building", () => compile(...projects.map((project) => at(project))));
  for (const [folder, hash] of hashes) writeStamp(stampPath(folder), hash);
}

async function buildPage() {
  const chat = at("examples", "chat");
  const hash = hashOf([...BUILD_SETTINGS, chat, at("client", "src"), at("shared", "src")]);
  const stampPath = join(chat, "dist", ".page-stamp");
  if (readStamp(stampPath) === hash) return;
  const vite = join(chat, "node_modules", "vite", "bin", "vite.js");
  await stepOrExit("Building the page", () => runUnseen(process.execPath, [vite, "build"], { cwd: chat }));
  writeStamp(stampPath, hash);
}

// --- one setup at a time -----------------------------------------------------------------------------------

const LOCK_PATH = join(
  tmpdir(),
  `espalier-setup-${createHash("sha256").update(ROOT).digest("hex").slice(0, 16)}`,
);

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Takes the lock, unless a running process holds it. */
function tryLock() {
  const draft = `${LOCK_PATH}-${process.pid}`;
  writeFileSync(draft, String(process.pid));
  try {
    linkSync(draft, LOCK_PATH); // at once, content and all; fails where the lock exists
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    if (!isRunning(Number(readStamp(LOCK_PATH)))) rmSync(LOCK_PATH, { force: true });
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

async function lock() {
  const unlock = () => rmSync(LOCK_PATH, { force: true });
  while (!tryLock()) await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  process.once("exit", unlock);
  return () => {
    process.off("exit", unlock);
    unlock();
  };
}

/**
 * Checks Node, installs packages, and builds the named TypeScript projects, each only where it is needed.
 * Reports on stderr, and ends the process with code 1 when a step fails.
 *
 * @example await setup({ projects: ["server"], withPage: false });
 */
export async function setup({ projects = [], withPage = false } = {}) {
  checkNode();
  const unlock = await lock();
  await install();
  await build(projects);
  if (withPage) await buildPage();
  unlock();
}
