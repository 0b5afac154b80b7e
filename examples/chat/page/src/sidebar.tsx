/** The list of conversations, the last changed first. On a narrow screen it lies over the conversation. */
import type { Client, SessionSummary } from "@espalier/client";
import { useSessions } from "@espalier/client/react";
import { memo } from "react";
import type { Conversations } from "./conversations.js";

type Props = { client: Client; conversations: Conversations; shownId: string; onLeave: () => void };

export const Sidebar = memo(({ client, conversations, shownId, onLeave }: Props) => {
  const sessions = useSessions(client);
  return (
    <nav
      className="sidebar"
      id="conversations"
      aria-label="Conversations"
      onKeyDown={(event) => event.key === "Escape" && onLeave()}
    >
      <header>
        <span className="brand">Espalier</span>
        <button
          type="button"
          onClick={() => {
            conversations.begin();
            onLeave();
          }}
        >
          New conversation
        </button>
      </header>
      <ul>
        {sessions.map((summary) => (
          <li key={summary.id}>
            <a
              href={conversations.addressOf(summary.id)}
              aria-current={summary.id === shownId ? "page" : undefined}
              onClick={onLeave}
            >
              <span className="title">{summary.title ?? "Untitled"}</span>
              <span className="detail">{detailOf(summary)}</span>
            </a>
          </li>
        ))}
      </ul>
      {sessions.length === 0 && <p className="empty">Conversations appear here.</p>}
    </nav>
  );
});

const DAY_MS = 24 * 60 * 60 * 1000;

const detailOf = ({ error, entries, changedAt }: SessionSummary): string => {
  if (error !== undefined) return "Cannot be opened";
  const date = new Date(changedAt);
  const isToday = Date.now() - changedAt < DAY_MS && date.getDate() === new Date().getDate();
  const when = isToday
    ? date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : date.toLocaleDateString([], { day: "numeric", month: "short" });
  return `${entries} ${entries === 1 ? "entry" : "entries"} · ${when}`;
};
