// The laws of import. Each says which files it binds and what it forbids them; docs tell why.
// To loosen one, edit the lists below and say why in the commit.

import type { Import, Reach, Source } from "./source.js";

export type Law = {
  text: string;
  binds: (path: string) => boolean;
  forbidsImport?: (found: Import, path: string) => boolean;
  forbidsReach?: (found: Reach) => boolean;
};

export type Violation = { path: string; line: number; what: string; law: string };

/** The only files of shared that may load zod. */
const SCHEMA_FILES = ["record", "protocol", "schema"].map((name) => `shared/src/${name}`);

/** The command line: the only part of the server that may use the client. */
const COMMAND_LINE = ["server/src/main.ts", "server/src/cli/"];

/** Where a socket is accepted or opened. */
const SOCKET_FILES = ["server/src/accept.ts", "server/src/server.ts", ...COMMAND_LINE];

/** Where the disk is touched. */
const DISK_FILES = ["server/src/store/file/", ...COMMAND_LINE];

/** What decides, from its arguments alone. */
const DECIDING_FILES = ["decide.ts", "decide/", "outbox.ts", "lease.ts"].map((name) => `server/src/${name}`);

/** The composition roots, and the one file each that holds the real clock, chance, timers and sockets. */
const WORLD_FILES = [
  "server/src/main.ts",
  "server/src/runtime.ts",
  "client/src/client.ts",
  "client/src/runtime.ts",
];

/** The client's optional parts, each behind a subpath of its own. All else in the client is its core. */
const CLIENT_SUBPATHS = ["react", "ai-sdk", "assistant-ui", "docs"];
const SUBPATH_PACKAGES = ["react", "react-dom", "ai", "@ai-sdk", "@assistant-ui", "yjs", "y-protocols"];

/** From the bottom up: each may import those before it, never those after. */
const CLIENT_LAYERS = ["link", "replica", "view", "react"];

/** Packages whose only purpose is chance or time. */
const WORLD_PACKAGES = ["nanoid", "node:timers", "timers"];

/** A path ending in `/` stands for all that is under it. */
const isOneOf = (paths: string[]) => (path: string) =>
  paths.some((allowed) => (allowed.endsWith("/") ? path.startsWith(allowed) : path === allowed));

const isPackage = (target: string, name: string) => target === name || target.startsWith(`${name}/`);
const isIn = (folder: string) => (path: string) => path.startsWith(`${folder}/src/`);
const isOfPackage = (target: string, folder: string) =>
  isPackage(target, `@espalier/${folder}`) || isIn(folder)(target);

const isSchemaFile = (path: string) => SCHEMA_FILES.includes(path.replace(/\.ts$/, ""));
const isPureShared = (path: string) =>
  isIn("shared")(path) && !isSchemaFile(path) && path !== "shared/src/index.ts";

const layerOf = (path: string) =>
  CLIENT_LAYERS.findIndex((layer) => new RegExp(`^client/src/${layer}(?:[-./]|$)`).test(path));
const isSubpath = (path: string) =>
  CLIENT_SUBPATHS.some((name) => path === `client/src/${name}` || path.startsWith(`client/src/${name}/`));
const isClientCore = (path: string) => isIn("client")(path) && !isSubpath(path);

export const LAWS: Law[] = [
  {
    text: "shared imports nothing but its own files, and zod in its schema files",
    binds: isIn("shared"),
    forbidsImport: ({ target }, path) =>
      !isIn("shared")(target) && !(isPackage(target, "zod") && isSchemaFile(path)),
  },
  {
    text: "what is pure in shared imports no schema file, except its types (`import type`)",
    binds: isPureShared,
    forbidsImport: ({ target, isTypeOnly }) =>
      !isTypeOnly && (SCHEMA_FILES.includes(target) || target === "shared/src/index"),
  },
  {
    text: "shared knows no clock, no chance, no timer",
    binds: isIn("shared"),
    forbidsReach: () => true,
  },
  {
    text: "the server never imports the client, except its command line",
    binds: (path) => isIn("server")(path) && !isOneOf(COMMAND_LINE)(path),
    forbidsImport: ({ target }) => isOfPackage(target, "client"),
  },
  {
    text: "the client never imports the server",
    binds: isIn("client"),
    forbidsImport: ({ target }) => isOfPackage(target, "server"),
  },
  {
    text: `ws is imported only where a socket is accepted: ${SOCKET_FILES.join(", ")}`,
    binds: (path) => !isOneOf(SOCKET_FILES)(path),
    forbidsImport: ({ target, isTypeOnly }) => !isTypeOnly && isPackage(target, "ws"),
  },
  {
    text: `the disk is touched only in ${DISK_FILES.join(", ")}`,
    binds: (path) => !isOneOf(DISK_FILES)(path),
    forbidsImport: ({ target }) => isPackage(target, "node:fs") || isPackage(target, "fs"),
  },
  {
    text: "what decides is pure: it imports only files beside it and @espalier/shared",
    binds: isOneOf(DECIDING_FILES),
    forbidsImport: ({ target, isTypeOnly }) =>
      !isTypeOnly && !isIn("server")(target) && !isOfPackage(target, "shared"),
  },
  {
    text: `in the client, imports go ${[...CLIENT_LAYERS].reverse().join(" → ")}, never the other way`,
    binds: (path) => layerOf(path) >= 0,
    forbidsImport: ({ target }, path) => layerOf(target) > layerOf(path),
  },
  {
    text: "the client's link does not know the client it is part of",
    binds: (path) => layerOf(path) === 0,
    forbidsImport: ({ target }) => target === "client/src/client",
  },
  {
    text: `the client's core knows nothing of ${SUBPATH_PACKAGES.join(", ")}; each has its own subpath`,
    binds: isClientCore,
    forbidsImport: ({ target }) =>
      isSubpath(target) || SUBPATH_PACKAGES.some((name) => isPackage(target, name)),
  },
  {
    text: "the client runs in browsers: it imports no module of Node",
    binds: isIn("client"),
    forbidsImport: ({ target }) => target.startsWith("node:"),
  },
  {
    text: `clock, chance, timers and sockets are handed in; only ${WORLD_FILES.join(", ")} take the real ones`,
    binds: (path) => !isOneOf(WORLD_FILES)(path),
    forbidsImport: ({ target, isTypeOnly }) =>
      !isTypeOnly && WORLD_PACKAGES.some((name) => isPackage(target, name)),
    forbidsReach: () => true,
  },
];

/** All breaches of one law in one file. */
export function violationsOf(law: Law, source: Source): Violation[] {
  if (!law.binds(source.path)) return [];
  const imports = source.imports.filter((found) => law.forbidsImport?.(found, source.path));
  const reaches = source.reaches.filter((found) => law.forbidsReach?.(found));
  return [
    ...imports.map(({ specifier, line }) => ({ line, what: `imports "${specifier}"` })),
    ...reaches.map(({ name, line }) => ({ line, what: `uses ${name}` })),
  ].map((found) => ({ path: source.path, ...found, law: law.text }));
}
