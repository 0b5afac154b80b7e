/** The whole page: the list of conversations beside the shown one. */
import type { Client } from "@espalier/client";
import { ViewProvider } from "@espalier/client/react";
import { useState, useSyncExternalStore } from "react";
import { Conversation } from "./conversation.js";
import type { Conversations } from "./conversations.js";
import type { Keep } from "./keep.js";
import { Sidebar } from "./sidebar.js";

type Props = { client: Client; conversations: Conversations; keep: Keep };

export const App = ({ client, conversations, keep }: Props) => {
  const session = useSyncExternalStore(conversations.subscribe, () => conversations.shown);
  const [isListOpen, setListOpen] = useState(false);
  return (
    <div className="app" data-list={isListOpen ? "open" : "closed"}>
      <Sidebar
        client={client}
        conversations={conversations}
        shownId={session.id}
        onLeave={() => setListOpen(false)}
      />
      <ViewProvider view={session.view}>
        <Conversation
          key={session.id}
          client={client}
          session={session}
          keep={keep}
          isListOpen={isListOpen}
          onToggleList={() => setListOpen((isOpen) => !isOpen)}
        />
      </ViewProvider>
    </div>
  );
};
