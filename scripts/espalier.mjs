// npm run -s espalier -- …: the command line, built first where needed. Only the command itself writes to stdout.

import { at, runVisibly } from "./run.mjs";
import { setup } from "./setup.mjs";

await setup({ projects: ["server"] });
process.exit(await runVisibly(process.execPath, [at("server", "dist", "main.js"), ...process.argv.slice(2)]));
