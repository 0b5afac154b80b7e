// npm run bench: the measurements of test/bench, on what is built and not on the sources.

import { at, runVisibly } from "./run.mjs";
import { setup } from "./setup.mjs";

await setup({ projects: ["test"] });

const main = at("test", "dist", "bench", "main.js");
const env = { NODE_ENV: "production", ...process.env };
process.exit(await runVisibly(process.execPath, ["--expose-gc", main, ...process.argv.slice(2)], { env }));
