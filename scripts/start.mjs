// npm start: the chat example, from a fresh clone or a used one. PORT and DATA are read by the example itself.

import { existsSync } from "node:fs";
import { at, fail, runVisibly } from "./run.mjs";
import { setup } from "./setup.mjs";

if (!existsSync(at("examples", "chat", "package.json"))) fail("Unable to start; examples/chat is not there.");

await setup({ projects: ["server", "examples/chat"], withPage: true });
process.exit(await runVisibly(process.execPath, [at("examples", "chat", "dist", "server", "main.js")]));
