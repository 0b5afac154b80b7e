// The hooks where there is no browser.

import type { Client, EntryId, Session } from "@espalier/client";
import {
  useBranch,
  useClient,
  useEntry,
  useProvidedView,
  useRuns,
  useSession,
  useSessions,
  useView,
  ViewProvider,
} from "@espalier/client/react";
import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import { createWorld, open, say, textOf } from "../kit/world.js";

const Row = ({ id }: { id: EntryId }) => {
  const shown = useEntry(id);
  const { index, total } = useBranch(id);
  return <li>{shown === undefined ? "" : `${textOf(shown.entry)} ${index + 1}/${total}`}</li>;
};

const List = () => {
  const { ids } = useView(useProvidedView());
  return (
    <ol data-runs={useRuns().length}>
      {ids.map((id) => (
        <Row key={id} id={id} />
      ))}
    </ol>
  );
};

const Outside = ({ client, session }: { client: Client; session: Session }) => (
  <p>{[useClient(client).status, useSession(session).status, useSessions(client).length].join(" ")}</p>
);

test("a server renders what a view holds", async () => {
  const world = await createWorld();
  const client = world.client("ann");
  const { session, view } = await open(world, client);
  await say(world, view, "one", "two");
  const html = renderToString(
    <ViewProvider view={view}>
      <Outside client={client} session={session} />
      <List />
    </ViewProvider>,
  );
  expect(html).toBe('<p>connected live 0</p><ol data-runs="0"><li>one 1/1</li><li>two 1/1</li></ol>');
});

test("a component outside a provider says what is missing", () => {
  expect(() => renderToString(<List />)).toThrow(/<ViewProvider>/);
});
