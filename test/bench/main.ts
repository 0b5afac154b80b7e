/**
 * Runs the benches and prints a row for each piece of work.
 *
 * `--only NAME` runs one module, `--quick` does little of each, `--json` prints rows for a machine.
 */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import type { Bench, Row } from "./measure.js";

const BENCHES: Record<string, () => Promise<{ run: Bench }>> = {
  fold: () => import("./fold.js"),
  view: () => import("./view.js"),
  join: () => import("./join.js"),
  transcript: () => import("./transcript.js"),
};

const { values } = parseArgs({
  options: { only: { type: "string" }, json: { type: "boolean" }, quick: { type: "boolean" } },
});

const names = Object.keys(BENCHES).filter((name) => values.only === undefined || values.only === name);
if (names.length === 0) {
  console.error(`Unable to run ${values.only}; there are: ${Object.keys(BENCHES).join(", ")}.`);
  process.exit(2);
}

const isOver = ({ ours, limit }: Row): boolean => limit !== undefined && ours > limit;
const figure = (value: number): string => value.toPrecision(3);

const lineOf = (row: Row): string => {
  const limit =
    row.limit === undefined ? "" : ` (at most ${figure(row.limit)}${isOver(row) ? ": OVER" : ""})`;
  const beside = row.beside === undefined ? "" : `  ${row.beside}`;
  return `${row.name.padEnd(10)} ${row.work.padEnd(52)} ${figure(row.ours).padStart(8)} ${row.unit}${limit}${beside}`;
};

if (!values.json) console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown"}`);
const rows: Row[] = [];
for (const name of names) {
  const bench = await BENCHES[name]?.();
  for (const row of (await bench?.run({ isQuick: values.quick === true })) ?? []) {
    rows.push(row);
    if (!values.json) console.log(lineOf(row));
  }
}
if (values.json) console.log(JSON.stringify(rows, null, 2));
