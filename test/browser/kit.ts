/** What the browser tests share: one browser and one chat example for a file, and a fresh window for each need. */
import { afterAll, afterEach, beforeAll } from "vitest";
import { type ChatOptions, type ChatProcess, startChat } from "./chat-process.js";
import { type ChatWindow, openBrowser, type Windows } from "./windows.js";
import { createWitness, type Witness } from "./witness.js";

export type Kit = {
  readonly chat: ChatProcess;
  readonly witness: Witness;
  /** A window with a storage of its own; it is closed after the test. */
  open(url?: string): Promise<ChatWindow>;
};

export const chatKit = (options: ChatOptions = {}): Kit => {
  let chat: ChatProcess;
  let windows: Windows;
  let witness: Witness;
  const opened: ChatWindow[] = [];

  beforeAll(async () => {
    chat = await startChat(options);
    windows = await openBrowser();
    witness = createWitness(chat.socketUrl);
  }, 120_000);
  afterEach(async () => {
    for (const window of opened.splice(0)) await window.context.close();
  });
  afterAll(async () => {
    witness?.close();
    await windows?.close();
    await chat?.stop();
  });

  return {
    get chat() {
      return chat;
    },
    get witness() {
      return witness;
    },
    open: async (url) => {
      const window = await windows.open(url ?? chat.url);
      opened.push(window);
      return window;
    },
  };
};
