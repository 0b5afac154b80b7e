/** Espalier's own format: what goes out comes back, and goes out again as the same text. */
import type { EntryId, LogRecord } from "@espalier/shared";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exportEspalier } from "../../server/src/export/espalier.js";
import { append, message, register, run, streaming } from "../shared/records.js";
import {
  conversationFrom,
  conversationOf,
  foldOf,
  importText,
  randomWholeLog,
  recordsIn,
  textOf,
} from "./kit.js";

describe("random logs", () => {
  test("[T1][T2][G1] 1,000 of them: the import of an export is the same tree, and its export the same text", async () => {
    await fc.assert(
      fc.asyncProperty(randomWholeLog, async (log) => {
        const text = await textOf(exportEspalier(conversationOf(log)));
        const imported = await importText(text);
        expect(imported.summary.reports).toEqual([]);
        expect(foldOf(imported.records)).toBe(foldOf(log));
        expect(await textOf(exportEspalier(conversationFrom(imported)))).toBe(text);
      }),
      { numRuns: 1000 },
    );
  }, 120_000);

  test("[T1] one line: its import is a log of its own, whose export is the same text", async () => {
    await fc.assert(
      fc.asyncProperty(randomWholeLog, fc.nat(), async (log, pick) => {
        const conversation = conversationOf(log);
        const nodes = [...conversation.tree.nodes()];
        if (nodes.length === 0) return;
        const leaf = nodes[pick % nodes.length]?.entry.id as EntryId;
        const text = await textOf(exportEspalier(conversation, { leaf }));
        const imported = await importText(text);
        expect(imported.summary.reports).toEqual([]);
        expect(imported.summary.activeLine.at(-1)).toBe(leaf);
        expect(imported.summary.entries).toBe(imported.summary.activeLine.length);
        expect(await textOf(exportEspalier(conversationFrom(imported)))).toBe(text);
        const head = imported.records.at(-1)?.seq ?? 0;
        for (const record of imported.records)
          if ("rev" in record) expect(record.rev).toBeLessThanOrEqual(head);
      }),
      { numRuns: 300 },
    );
  }, 60_000);
});

describe("what stands in it", () => {
  const GARDEN: LogRecord[] = [
    register("title", 1, "Garden"),
    message("a", null, 2),
    streaming("b", "a", 3),
    message("c", "a", 4),
    append("b", 5, 0, ["Fern"]),
    run("r", 6, "requested", { inputId: "a" as EntryId }),
    register("pin:c", 7, true),
    register("pin:a", 8, true),
    register("branch:shade", 9, "c"),
    register("read:ann", 10, "c"),
    append("b", 11, 4, ["s"], { status: "complete" }),
  ];

  test("the header says what it is, and which line is shown; each record stands once", async () => {
    const header = { createdAt: 7, origin: { session: "s", entry: "x", isShared: true }, inherited: 3 };
    const text = await textOf(exportEspalier(conversationOf(GARDEN, header as never)));
    expect(JSON.parse(text.split("\n")[0] as string)).toEqual({
      kind: "espalier-export",
      version: 1,
      id: "plans",
      title: "Garden",
      createdAt: 7,
      origin: { session: "s", entry: "x" },
      inherited: 3,
      leaf: "c",
    });
    const records = recordsIn(text);
    expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 6, 7, 8, 9, 10, 11]);
    expect(records[2]).toMatchObject({ id: "b", rev: 11, status: "complete", parts: [{ text: "Ferns" }] });
    // The last record was folded into `b`: what is written on must get a seq above it.
    expect(records.at(-1)).toMatchObject({ kind: "append", id: "b", seq: 11, at: 5, deltas: [] });
  });

  test("one line has what is of it, and nothing of the other", async () => {
    const text = await textOf(exportEspalier(conversationOf(GARDEN), { leaf: "b" as EntryId }));
    const keys = recordsIn(text).map((record) => ("key" in record ? record.key : record.id));
    expect(keys).toEqual(["title", "a", "b", "r", "pin:a", "b"]);
  });

  test("an unknown leaf is refused", () => {
    expect(() => exportEspalier(conversationOf(GARDEN), { leaf: "z" as EntryId })).toThrow(
      /^unable to read plans; it has no entry z$/,
    );
  });
});
