/** The writing end of a stream, alone: what it sends, keeps and tells in whatever order answers come. */
import type { AppendDraft } from "@espalier/shared";
import { refusal, sizeOfDeltas } from "@espalier/shared";
import { expect, test } from "vitest";
import {
  createStreamWriter,
  MAX_UNACKNOWLEDGED,
  type StreamControl,
} from "../../client/src/stream-writer.js";
import { createClock } from "../kit/clock.js";

type Rig = StreamControl & {
  readonly sent: AppendDraft[];
  isOnline: boolean;
  sends: number;
  settled: number;
  turn(): void;
};

const createRig = (): Rig => {
  const clock = createClock();
  const sent: AppendDraft[] = [];
  const rig: Partial<Rig> = {
    sent,
    isOnline: true,
    sends: 0,
    settled: 0,
    turn: () => void clock.runDeferred(),
  };
  const control = createStreamWriter({
    id: "e" as never,
    runtime: clock.runtime(1),
    send: (append) => {
      rig.sends = (rig.sends ?? 0) + 1;
      if (rig.isOnline !== true) return false;
      sent.push(append);
      return true;
    },
    onSettled: () => {
      rig.settled = (rig.settled ?? 0) + 1;
    },
  });
  return Object.assign(rig, control) as Rig;
};

const textOf = (appends: readonly AppendDraft[]): string =>
  appends.flatMap(({ deltas }) => deltas.map((delta) => ("text" in delta ? delta.text : "#"))).join("");

test("[S9] an append after the end is told in `error`, and what came before the end still arrives", async () => {
  const rig = createRig();
  rig.isOnline = false;
  rig.writer.append("all");
  const ended = rig.writer.end();
  rig.writer.append(" more");
  expect(rig.writer.error).toMatchObject({ code: "closed" });
  rig.isOnline = true;
  rig.resume();
  expect(rig.sent).toEqual([{ id: "e", at: 0, deltas: [{ text: "all" }], status: "complete" }]);
  rig.acknowledged(3, "complete");
  expect(await ended).toMatchObject({ ok: true });
  expect(await rig.writer.end()).toMatchObject({ ok: true });
  expect(rig.settled).toBe(1);
});

test("[S7] [S9] what fails on this side is ended at what was sent, also after a drop", async () => {
  const rig = createRig();
  rig.writer.append("sent");
  rig.turn();
  expect(() => rig.writer.push({ type: "data", name: "n", data: Number.NaN as never })).not.toThrow();
  expect(() => rig.writer.append("lost")).not.toThrow();
  expect(rig.writer.error).toMatchObject({ code: "invalid" });
  expect(await rig.writer.end()).toMatchObject({ ok: false, error: { code: "invalid" } });
  expect(rig.sent.at(-1)).toEqual({ id: "e", at: 4, deltas: [], status: "failed" });
  expect(rig.settled).toBe(0);
  rig.resume();
  expect(rig.sent.at(-1)).toEqual({ id: "e", at: 0, deltas: [{ text: "sent" }], status: "failed" });
  rig.acknowledged(4, "failed");
  expect(rig.settled).toBe(1);
});

test("[S9] what cannot be JSON throws nothing", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  for (const fields of [cyclic, { output: 1n }, { output: undefined }]) {
    const rig = createRig();
    expect(() => rig.writer.set(0, fields)).not.toThrow();
    expect(rig.writer.error).toMatchObject({ code: "invalid" });
  }
});

test("[S7] an end is not confirmed by an acknowledgement that the server ended it otherwise", async () => {
  const rig = createRig();
  rig.writer.append("half and the rest");
  const ended = rig.writer.end();
  rig.acknowledged(4, "aborted");
  expect(await ended).toMatchObject({ ok: false, error: { code: "closed" } });
});

test("[S3] a gap sends the rest again from there, once; one beyond what was written fails", async () => {
  const rig = createRig();
  rig.writer.append("abc");
  rig.turn();
  rig.writer.append("def");
  rig.turn();
  rig.writer.append("ghi");
  rig.turn();
  const before = rig.sent.length;
  const gap = (size: number) => refusal("gap", "it starts beyond", { size });
  rig.refused(gap(3));
  rig.refused(gap(3));
  expect(textOf(rig.sent.slice(before))).toBe("defghi");
  expect(rig.sent.at(-1)?.at).toBe(3);
  rig.refused(gap(99));
  expect(rig.writer.error).toMatchObject({ code: "gap" });
  expect(await rig.writer.end()).toMatchObject({ ok: false });
});

test("[S9] offline, a token costs no try to send; past the bound the writer fails and keeps what was sent", () => {
  const rig = createRig();
  rig.isOnline = false;
  for (let index = 0; index < 1000; index += 1) {
    rig.writer.append("x");
    rig.turn();
  }
  expect(rig.sends).toBe(1);
  rig.writer.append("y".repeat(MAX_UNACKNOWLEDGED));
  expect(rig.writer.error).toMatchObject({ code: "overloaded" });
});

test("[S2] chunks are cut between code points and add up", () => {
  const rig = createRig();
  const text = "🌳".repeat(200_000);
  rig.writer.append(`a${text}`);
  rig.turn();
  expect(rig.sent.length).toBeGreaterThan(2);
  let at = 0;
  for (const append of rig.sent) {
    expect(append.at).toBe(at);
    at += sizeOfDeltas(append.deltas);
    expect(textOf([append]).isWellFormed()).toBe(true);
    expect(new TextEncoder().encode(JSON.stringify(append)).length).toBeLessThan(1024 * 1024);
  }
  expect(textOf(rig.sent)).toBe(`a${text}`);
});
