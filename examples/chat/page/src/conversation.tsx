/** One open conversation: its head, its messages, and where the next one is written. */
import type { Client, Session } from "@espalier/client";
import { useProvidedView, useSession, useView } from "@espalier/client/react";
import { useMemo } from "react";
import { Activity } from "./activity.js";
import { type Acts, ActsProvider, createActs } from "./acts.js";
import { Composer } from "./composer.js";
import { ConnectionLine } from "./connection-line.js";
import type { Keep } from "./keep.js";
import { MessageList } from "./message-list.js";
import { Title } from "./title.js";
import { UnshownWrites } from "./unshown-writes.js";
import { useScroll } from "./use-scroll.js";

type Props = {
  client: Client;
  session: Session;
  keep: Keep;
  isListOpen: boolean;
  onToggleList: () => void;
};

export const Conversation = ({ client, session, keep, isListOpen, onToggleList }: Props) => {
  const view = useProvidedView();
  const { ids, hasOlder, isHeld, isLoading, error } = useView(view);
  const acts = useMemo((): Acts => createActs(view), [view]);
  const scroll = useScroll(view, ids, hasOlder);

  return (
    <main className="conversation" aria-label="Conversation">
      <header>
        <button
          type="button"
          className="quiet list-toggle"
          aria-expanded={isListOpen}
          aria-controls="conversations"
          onClick={onToggleList}
        >
          Conversations
        </button>
        <Title session={session} />
      </header>
      <ActsProvider value={acts}>
        <section className="scroller" ref={scroll.scrollerRef} aria-label="Messages" tabIndex={-1}>
          <div className="column" ref={scroll.contentRef}>
            <div ref={scroll.topRef} className="top" data-testid="top">
              {hasOlder && <span>Loading older messages …</span>}
            </div>
            {ids.length === 0 && (
              <p className="empty">{isLoading ? "Loading …" : "Nothing here yet. Ask about trees."}</p>
            )}
            <MessageList ids={ids} />
            {isLoading && ids.length > 0 && <p className="note">Loading …</p>}
            {error !== null && <p role="alert">{error.message}</p>}
            <SessionFault session={session} />
            {isHeld && !isLoading && (
              <p className="rewound" role="status" aria-label="Rewound">
                You went back to here. What you write next begins a new branch; what came after is kept.{" "}
                <button type="button" onClick={() => view.follow()}>
                  Return to the end
                </button>
              </p>
            )}
            <UnshownWrites session={session} />
            <Activity />
          </div>
        </section>
        {!scroll.isAtEnd && (
          <button type="button" className="to-end" onClick={scroll.toEnd}>
            To the end
          </button>
        )}
        <footer>
          <ConnectionLine client={client} />
          <Composer sessionId={session.id} keep={keep} onSend={scroll.toEnd} />
        </footer>
      </ActsProvider>
    </main>
  );
};

const SessionFault = ({ session }: { session: Session }) => {
  const { status, error } = useSession(session);
  if (status !== "failed" || error === null) return null;
  return (
    <p role="alert">
      {error.message}{" "}
      <button type="button" onClick={() => session.retry()}>
        Try again
      </button>
    </p>
  );
};
