// A component that shows marks, where there is no browser.

import type { EntryId, Session } from "@espalier/client";
import { useMarks, useRegister } from "@espalier/client/react";
import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import { createWorld, open } from "../kit/world.js";

const Pinned = ({ session }: { session: Session }) => {
  const pinned = useMarks(session, ({ pins }) => pins.list());
  const isFolded = useMarks(session, ({ collapsed }) => collapsed.has("e1" as EntryId, "thinking"));
  return <p>{[pinned.length, isFolded, String(useRegister(session, "note"))].join(" ")}</p>;
};

test("[G1] a server renders the marks that a session holds", async () => {
  const world = await createWorld();
  const { session } = await open(world, world.client("ann"));
  void session.marks.pins.toggle("e1" as EntryId);
  void session.marks.collapsed.setAll("thinking", true);
  void session.setRegister("note", "x");
  await world.settle();
  expect(renderToString(<Pinned session={session} />)).toBe("<p>1 true x</p>");
});
