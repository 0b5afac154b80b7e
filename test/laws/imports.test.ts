// Reads what every source file imports and reaches for, and holds it to the laws in laws.ts.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { LAWS, violationsOf } from "./laws.js";
import { readSource, type Source } from "./source.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

function sourcesOf(folder: string): Source[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`)
    .map((path) => readSource(path, readFileSync(join(ROOT, path), "utf8")));
}

const sources = ["shared/src", "server/src", "client/src"].flatMap(sourcesOf);

const breachesIn = (path: string, text: string) =>
  LAWS.flatMap((law) => violationsOf(law, readSource(path, text)));

describe("the laws of import", () => {
  it.each(LAWS)("$text", (law) => {
    const breaches = sources.flatMap((source) => violationsOf(law, source));
    expect(breaches.map(({ path, line, what }) => `${path}:${line} ${what}; ${law.text}`)).toEqual([]);
  });
});

const BAD: [path: string, text: string][] = [
  ["shared/src/ids.ts", `import { readFileSync } from "node:fs";`],
  ["shared/src/ids.ts", `import { nanoid } from "nanoid";`],
  ["shared/src/tree.ts", `import { z } from "zod";`],
  ["shared/src/protocol.ts", `import type { Session } from "../../server/src/session.js";`],
  ["shared/src/tree.ts", `import { entrySchema } from "./record.js";`],
  ["shared/src/path.ts", `import { type Entry } from "./record.js";`],
  ["shared/src/tree.ts", `export { entrySchema } from "./schema.js";`],
  ["shared/src/tree.ts", `const at = Date.now();`],
  ["shared/src/tree.ts", `const id = globalThis.Math.random();`],
  ["server/src/session.ts", `import { connect } from "@espalier/client";`],
  ["server/src/session.ts", `import { connect } from "../../client/src/client.js";`],
  ["client/src/view.ts", `import type { Server } from "@espalier/server";`],
  ["server/src/hub.ts", `import { WebSocketServer } from "ws";`],
  ["client/src/link.ts", `const { WebSocket: Socket } = await import("ws");`],
  ["server/src/store/memory.ts", `import { open } from "node:fs/promises";`],
  ["server/src/session.ts", `import fs = require("fs");`],
  ["server/src/decide.ts", `import { createHash } from "node:crypto";`],
  ["client/src/link-state.ts", `import { createReplica } from "./replica.js";`],
  ["client/src/replica.ts", `import type { View } from "./view.js";`],
  ["client/src/view.ts", `import { useView } from "./react/index.js";`],
  ["client/src/link.ts", `import { connect } from "./client.js";`],
  ["client/src/pending.ts", `import { useState } from "react";`],
  ["client/src/agent.ts", `import { streamText } from "ai";`],
  ["client/src/client.ts", `export * from "./docs/index.js";`],
  ["client/src/runtime.ts", `import { setTimeout } from "node:timers";`],
  ["client/src/link.ts", `const timer = setTimeout(retry, 10);`],
  ["client/src/link.ts", `const world = { setInterval };`],
  ["client/src/link.ts", `const socket = new WebSocket(url);`],
  ["client/src/react/use-view.tsx", `const at = <time>{performance.now()}</time>;`],
  ["server/src/lease.ts", `const at = new Date();`],
  ["server/src/hub.ts", `const wait = window.setTimeout;`],
  ["server/src/connection.ts", `import { nanoid } from "nanoid";`],
];

const GOOD: [path: string, text: string][] = [
  ["shared/src/record.ts", `import { z } from "zod"; import { isId } from "./ids.js";`],
  ["shared/src/tree.ts", `import type { Entry } from "./record.js"; import { tipOf } from "./path.js";`],
  ["shared/src/tree.ts", `// Date.now() in a comment\nconst hint = "Math.random()"; import.meta.url;`],
  ["shared/src/usage.ts", `const at = new Date(record.at).toISOString();`],
  ["server/src/main.ts", `import { connect } from "@espalier/client"; const at = Date.now();`],
  ["server/src/cli/tail.ts", `import { connect } from "@espalier/client"; import fs from "node:fs";`],
  ["server/src/accept.ts", `import { WebSocketServer } from "ws";`],
  ["server/src/connection.ts", `import type { WebSocket } from "ws"; let socket: WebSocket;`],
  ["server/src/store/file/journal.ts", `import { open } from "node:fs/promises";`],
  ["server/src/decide.ts", `import { tipOf } from "@espalier/shared"; import { may } from "./auth.js";`],
  ["client/src/replica.ts", `import { createLink } from "./link.js";`],
  ["client/src/view.ts", `import { createReplica } from "./replica.js"; import "./viewport.js";`],
  [
    "client/src/react/use-view.ts",
    `import { useState } from "react"; import { createView } from "../view.js";`,
  ],
  ["client/src/link.ts", `const start = (timers: Timers) => timers.setTimeout(retry, 10);`],
  ["client/src/link.ts", `type Timers = { setTimeout: typeof setTimeout }; const a = { setTimeout: b };`],
  ["client/src/link.ts", `const open = ({ WebSocket }: Options) => new WebSocket(url);`],
  ["client/src/runtime.ts", `export const now = () => Date.now(); export { nanoid } from "nanoid";`],
];

describe("the reading of the laws", () => {
  it.each(BAD)("%s may not: %s", (path, text) => {
    expect(breachesIn(path, text)).not.toEqual([]);
  });

  it.each(GOOD)("%s may: %s", (path, text) => {
    expect(breachesIn(path, text)).toEqual([]);
  });

  it.each(LAWS)("can be broken: $text", (law) => {
    const breaches = BAD.flatMap(([path, text]) => violationsOf(law, readSource(path, text)));
    expect(breaches).not.toEqual([]);
  });

  it("names the file and the line of a breach", () => {
    const [breach] = breachesIn("client/src/pending.ts", `\n\nimport "react";`);
    expect(breach).toMatchObject({ path: "client/src/pending.ts", line: 3, what: `imports "react"` });
  });
});
