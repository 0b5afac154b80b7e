// Brings a clone to the state that a command needs, and does nothing where it is there already.
//
// Each step keeps a stamp: a hash of what it read when it last succeeded, stored beside what it made, so that
// both go away together. A tool's own output is shown only when the tool fails. Plain Node, no dependencies:
// this file runs before anything is installed.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { lock } from "./lock.mjs";
import { at, fail, ROOT, runUnseen, step } from "./run.mjs";

const OLDEST_NODE = [20, 19];
const NOT_SOURCES = new Set(["node_modules", "dist", "data", "test-results", ".git"]);

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  const isNewEnough = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  if (!isNewEnough) {
    fail(`Espalier needs Node ${OLDEST_NODE.join(".")} or newer; this is ${process.versions.node}.`);
  }
}

// --- what is there -----------------------------------------------------------------------------------------

/** The folders of all packages but the root. */
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

const readManifest = (...dir) => JSON.parse(readFileSync(at(...dir, "package.json"), "utf8"));

function hasItsPackages(dir) {
  const { dependencies, devDependencies } = readManifest(dir);
  const isAlone = Object.keys({ ...dependencies, ...devDependencies }).length === 0;
  return isAlone || existsSync(at(dir, "node_modules"));
}

async function install() {
  const dirs = workspaceDirs();
  const manifests = ["package.json", ...dirs.map((dir) => `${dir}/package.json`)];
  const settings = ["pnpm-lock.yaml", "pnpm-workspace.yaml", ".npmrc"];
  const hash = hashOf([...settings, ...manifests].map((file) => at(file)));
  const stampPath = at("node_modules", ".setup-stamp");
  const stamp = readStamp(stampPath);
  if (stamp === hash && dirs.every(hasItsPackages)) return;

  const { packageManager } = readManifest();
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
