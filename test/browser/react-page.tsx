/** A page that shows a view with every hook, in strict mode, and counts what is rendered and subscribed. */
import { connect, type EntryId, type View } from "@espalier/client";
import {
  useBranch,
  useClient,
  useEntry,
  useMarks,
  useProvidedView,
  useRuns,
  useSession,
  useSessions,
  useView,
  ViewProvider,
} from "@espalier/client/react";
import { memo, StrictMode, useEffect } from "react";
import { createRoot } from "react-dom/client";

const renders: Record<string, number> = {};
let subscriptions = 0;

/** Counts commits: strict mode renders twice and commits once. */
const useCount = (name: string): void => {
  useEffect(() => {
    renders[name] = (renders[name] ?? 0) + 1;
  });
};

const counted = (view: View): View => {
  const count =
    <Rest extends unknown[]>(subscribe: (...rest: Rest) => () => void) =>
    (...rest: Rest) => {
      subscriptions += 1;
      const unsubscribe = subscribe(...rest);
      return () => {
        subscriptions -= 1;
        unsubscribe();
      };
    };
  return Object.create(view, {
    subscribe: { value: count(view.subscribe) },
    subscribeEntry: { value: count(view.subscribeEntry) },
  }) as View;
};

const Row = memo(({ id }: { id: EntryId }) => {
  const shown = useEntry(id);
  const { index, total, step } = useBranch(id);
  useCount(id);
  if (shown?.entry.type !== "message") return null;
  const text = shown.entry.parts.map((part) => ("text" in part ? part.text : "")).join("");
  return (
    <li data-entry={id} data-state={shown.state}>
      <span>{text}</span>
      <button type="button" onClick={() => step(-1)}>
        {index + 1} of {total}
      </button>
    </li>
  );
});

const List = () => {
  const { ids } = useView(useProvidedView());
  useCount("list");
  return (
    <ol>
      {ids.map((id) => (
        <Row key={id} id={id} />
      ))}
    </ol>
  );
};

const Runs = () => {
  const runs = useRuns();
  useCount("runs");
  return <p id="runs">{runs.map(({ status }) => status).join()}</p>;
};

const Pinned = () => {
  const pinned = useMarks(session, ({ pins }) => pins.list());
  useCount("pinned");
  return <p id="pinned">{pinned.join()}</p>;
};

const client = connect({ url: `ws://${location.host}/espalier`, token: "page" });
const session = client.session("hooks", { create: true });
const view = counted(session.view);

const Outside = () => {
  const { status } = useClient(client);
  const { title, writes } = useSession(session);
  const sessions = useSessions(client);
  useCount("outside");
  return (
    <p id="outside">{[status, title, writes.length, sessions.map(({ id }) => id).join("+")].join(" ")}</p>
  );
};

const root = createRoot(document.getElementById("root") as HTMLElement);
root.render(
  <StrictMode>
    <Outside />
    <Pinned />
    <ViewProvider view={view}>
      <List />
      <Runs />
    </ViewProvider>
  </StrictMode>,
);

export type ReactPage = {
  renders(): Record<string, number>;
  subscriptions(): number;
  send(text: string): string;
  toggle(id: string): void;
  unmount(): void;
};

const page: ReactPage = {
  renders: () => ({ ...renders }),
  subscriptions: () => subscriptions,
  send: (text) => view.send(text).id,
  toggle: (id) => void session.marks.pins.toggle(id as EntryId),
  unmount: () => root.unmount(),
};
Object.assign(globalThis, { reactPage: page });
