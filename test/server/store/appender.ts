/**
 * A program that tests kill. It opens the store of the folder that it is given, says so, and appends to
 * three sessions without end; it prints what may be shown and what may be acknowledged, a line each.
 */
import { writeSync } from "node:fs";
import type { Epoch } from "@espalier/shared";
import { createRuntime } from "../../../server/src/runtime.js";
import { createFileStore } from "../../../server/src/store/file/file-store.js";
import { message, sessionId } from "./records.js";

const say = (...words: (string | number)[]): void => void writeSync(1, `${words.join(" ")}\n`);

const [dir = "", mode = "append"] = process.argv.slice(2);

const write = async (): Promise<void> => {
  const store = await createFileStore({
    dir,
    newEpoch: () => `epoch${process.pid}` as Epoch,
    runtime: createRuntime(),
    segmentBytes: 20_000,
    writeBehindMs: 3,
  });
  say("open", store.epoch);
  if (mode === "hold") return void setInterval(() => {}, 1000);
  await Promise.all(
    ["a", "b", "a/sub"].map(async (id) => {
      const loaded = await store.load(sessionId(id));
      let head = loaded.type === "ok" ? loaded.log.head : 0;
      for (;;) {
        head += 1;
        const seq = head;
        const outcome = await store.append(sessionId(id), seq - 1, [message(seq, `${id} ${seq}`)]);
        if (outcome.type !== "ok") throw new Error(outcome.type);
        say("shown", id, seq);
        const acknowledged = outcome.durable.then(() => say("acked", id, seq));
        if (seq % 3 === 0) await acknowledged;
      }
    }),
  );
};

write().catch((error: { code?: string; message: string }) => {
  say("failed", error.code ?? "", error.message);
  process.exit(1);
});
