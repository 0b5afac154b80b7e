/** The page's composition root: one client, the open conversations, and what shows them. */
import { connect } from "@espalier/client";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.js";
import { createConversations } from "./conversations.js";
import { createKeep } from "./keep.js";
import "./style.css";

const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/espalier`;
const client = connect({ url, storage: sessionStorage });
const keep = createKeep(sessionStorage);
const conversations = createConversations(client, keep);

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <App client={client} conversations={conversations} keep={keep} />
  </StrictMode>,
);
