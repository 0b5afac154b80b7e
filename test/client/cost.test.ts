/** What a token costs a client, counted in look-ups instead of time. */
import type { Entry, EntryId, View } from "@espalier/client";
import type { Append, Seq } from "@espalier/shared";
import { expect, test } from "vitest";
import { createFedClient, messageEntry } from "../bench/fed-client.js";
import { countSteps } from "../kit/steps.js";

const stepsOfToken = async (history: number, hiddenViews: number): Promise<number> => {
  const entries: Entry[] = Array.from({ length: history }, (_, index) =>
    messageEntry(index, index === 0 ? null : index - 1, "text"),
  );
  const fed = await createFedClient(entries);
  for (let loaded = 1; loaded > 0; ) loaded = await fed.view.loadOlder(history);
  const heard: View[] = [];
  for (let index = 0; index < hiddenViews; index += 1) {
    const hidden = fed.session.createView({ leafId: "e3" as EntryId });
    hidden.subscribe(() => heard.push(hidden));
  }
  fed.view.subscribe(() => void fed.view.at(fed.view.snapshot.length - 1));
  const parent = history - 1;
  const streaming = messageEntry(history, parent, "", { status: "streaming" } as Partial<Entry>);
  fed.feed([streaming]);
  const token = (index: number): Append => ({
    kind: "append",
    id: streaming.id,
    seq: (history + 2 + index) as Seq,
    time: 0,
    at: index,
    deltas: [{ text: "x" }],
  });
  fed.feed([token(0)]);
  heard.length = 0;
  const frame = fed.frame([token(1)]);
  const steps = countSteps(() => fed.feedText(frame));
  expect(heard).toEqual([]);
  expect(fed.view.snapshot.length).toBe(history + 1);
  expect(fed.view.at(history)?.entry.size).toBe(2);
  fed.close();
  return steps;
};

test("[V11] case-S12: a token costs the same whatever the history and however many views do not show it", async () => {
  const least = await stepsOfToken(10, 0);
  expect(least).toBeGreaterThan(0);
  expect(await stepsOfToken(5000, 0)).toBe(least);
  expect(await stepsOfToken(10, 100)).toBe(least);
  expect(await stepsOfToken(5000, 100)).toBe(least);
});
