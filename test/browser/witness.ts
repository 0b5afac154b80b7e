/** A client in this process, which says what the server holds. */
import { type Client, connect, type EntryId, type Session } from "@espalier/client";
import { expect } from "vitest";
import { WebSocket } from "ws";
import { textOf } from "../kit/world.js";
import { eventually } from "./windows.js";

export type Witness = {
  readonly client: Client;
  session(id: string): Promise<Session>;
  /** The texts of the newest line. */
  texts(id: string): Promise<readonly string[]>;
  /** Publishes messages, one below the other. */
  fill(id: string, texts: readonly string[]): Promise<void>;
  close(): void;
};

/** What one message to the server may carry. */
const BATCH = 500;

export const createWitness = (socketUrl: string): Witness => {
  const client = connect({ url: socketUrl, token: "witness", WebSocket });

  const session = async (id: string): Promise<Session> => {
    const opened = client.session(id, { create: true });
    await eventually(() => opened.snapshot.status).toBe("live");
    return opened;
  };

  return {
    client,
    session,
    texts: async (id) => {
      const opened = await session(id);
      const view = opened.createView({ limit: 1000 });
      await eventually(() => view.snapshot.isLoading).toBe(false);
      const texts = view.getMessages().map(({ entry }) => textOf(entry));
      view.close();
      return texts;
    },
    fill: async (id, texts) => {
      const opened = await session(id);
      let after: EntryId | null = null;
      for (let from = 0; from < texts.length; from += BATCH) {
        const items = texts.slice(from, from + BATCH).map((text, index) => {
          const place: { after: EntryId | null } = { after };
          after = `e${from + index}` as EntryId;
          const role: "user" | "assistant" = (from + index) % 2 === 0 ? "user" : "assistant";
          const parts = [{ type: "text" as const, text }];
          return { draft: { id: after, type: "message" as const, role, parts }, place };
        });
        expect(await opened.publish(items)).toMatchObject({ ok: true });
      }
    },
    close: () => client.close(),
  };
};
