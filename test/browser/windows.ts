/** Windows of a real browser on the chat page, each with a storage of its own; and what a reader sees there. */
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { expect } from "vitest";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export type Shown = {
  readonly role: string;
  readonly state: string;
  readonly status: string;
  readonly text: string;
};

export type ChatWindow = {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly composer: Locator;
  /** One message, by its number from the oldest shown. */
  message(index: number): Locator;
  /** Everything that is shown, the oldest first. */
  shown(): Promise<readonly Shown[]>;
  texts(): Promise<readonly string[]>;
  send(text: string): Promise<void>;
  /** Waits until a message is there, confirmed, with a status. */
  until(index: number, status: "streaming" | "complete"): Promise<void>;
  /** Waits until a message has at least so many characters. */
  untilLength(index: number, length: number): Promise<void>;
  button(index: number, name: string): Locator;
  press(index: number, name: string): Promise<void>;
  /** "2 of 3", or nothing. */
  place(index: number): Promise<string>;
  /** The conversation that is open. */
  sessionId(): Promise<string>;
};

export type Windows = {
  /** A window on the chat page. */
  open(url: string): Promise<ChatWindow>;
  /** A window on any other. */
  page(url: string): Promise<Page>;
  close(): Promise<void>;
};

/** No wait takes this long where all is well; it ends a test that fails. */
const PATIENCE_MS = 30_000;

/** Waits until what is read is what is expected. */
export const eventually = <T>(read: () => T | Promise<T>): ReturnType<typeof expect.poll> =>
  expect.poll(read, { timeout: PATIENCE_MS, interval: 20 });

export const openBrowser = async (): Promise<Windows> => {
  const executablePath = process.env.CHROMIUM_PATH || "/usr/bin/chromium";
  const browser: Browser = await chromium.launch({ executablePath, args: ARGS, headless: true });
  const openPage = async (url: string): Promise<Page> => {
    const context = await browser.newContext();
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    await page.goto(url);
    return page;
  };
  return {
    open: async (url) => {
      const window = createWindow(await openPage(url));
      await window.composer.waitFor();
      return window;
    },
    page: openPage,
    close: () => browser.close(),
  };
};

const createWindow = (page: Page): ChatWindow => {
  const composer = page.getByRole("textbox", { name: "Message", exact: true });
  const message = (index: number): Locator => page.getByTestId("entry").nth(index);

  const shown = (): Promise<readonly Shown[]> =>
    page.getByTestId("entry").evaluateAll((rows) =>
      rows.map((row) => ({
        role: row.getAttribute("data-role") ?? "",
        state: row.getAttribute("data-state") ?? "",
        status: row.getAttribute("data-status") ?? "",
        text: row.querySelector(".parts")?.textContent ?? "",
      })),
    );

  const window: ChatWindow = {
    page,
    context: page.context(),
    composer,
    message,
    shown,
    texts: async () => (await shown()).map(({ text }) => text),
    send: async (text) => {
      await composer.fill(text);
      await composer.press("Enter");
    },
    until: async (index, status) => {
      await eventually(async () => {
        const found = (await shown())[index];
        return `${found?.state} ${found?.status}`;
      }).toBe(`confirmed ${status}`);
    },
    untilLength: async (index, length) => {
      await eventually(async () => (await shown())[index]?.text.length ?? 0).toBeGreaterThanOrEqual(length);
    },
    button: (index, name) => message(index).getByRole("button", { name }),
    press: async (index, name) => {
      await message(index).hover();
      await window.button(index, name).click();
    },
    place: async (index) => {
      const picker = message(index).getByRole("group", { name: "Alternatives" });
      return (await picker.count()) === 0 ? "" : ((await picker.locator("span").textContent()) ?? "");
    },
    sessionId: async () => (await page.evaluate("location.hash")) as string,
  };
  return { ...window, sessionId: async () => (await window.sessionId()).replace("#/", "") };
};
