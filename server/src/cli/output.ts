/** Writing to a stream that may be slow, no terminal, or gone: a reader that has left ends the writing quietly. */
import { escapeLine } from "./escape.js";

export type Output = {
  readonly isTerminal: boolean;
  /** Colours are wanted and shown. */
  readonly isColoured: boolean;
  /** Width in columns. */
  readonly columns: number;
  /** The reader has left: nothing more need be written. */
  readonly isClosed: boolean;
  /** Why writing failed, other than by a reader that has left; null where it did not. */
  readonly fault: Error | null;
  write(text: string): void;
  /** Resolves when what was written has been taken, or nobody takes it any more. */
  drained(): Promise<void>;
  onClosed(listener: () => void): void;
};

export type OutputStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
export type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_COLUMNS = 120;

export const createOutput = (stream: OutputStream, env: Environment): Output => {
  let isClosed = false;
  let fault: Error | null = null;
  const listeners: (() => void)[] = [];
  const onError = (error: NodeJS.ErrnoException): void => {
    isClosed = true;
    if (error.code !== "EPIPE") fault ??= error;
    for (const listener of listeners.splice(0)) listener();
  };
  stream.on("error", onError);

  return {
    isTerminal: stream.isTTY === true,
    isColoured: stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb",
    get columns() {
      return stream.columns ?? positive(env.COLUMNS) ?? DEFAULT_COLUMNS;
    },
    get isClosed() {
      return isClosed;
    },
    get fault() {
      return fault;
    },
    write: (text) => {
      if (!isClosed) stream.write(text);
    },
    drained: () =>
      new Promise((resolve) => {
        if (isClosed) return resolve();
        stream.write("", () => resolve());
      }),
    onClosed: (listener) => {
      if (isClosed) listener();
      else listeners.push(listener);
    },
  };
};

const positive = (text: string | undefined): number | undefined => {
  const number = Number(text);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
};

const CHUNK_LENGTH = 64 * 1024;

/** Writes a line each, and no faster than they are taken; stops where the reader has left. */
export const writeLines = async (output: Output, lines: Iterable<string>): Promise<void> => {
  let chunk = "";
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < CHUNK_LENGTH) continue;
    output.write(chunk);
    chunk = "";
    await output.drained();
    if (output.isClosed) return;
  }
  output.write(chunk);
  await output.drained();
};

/** Something to say beside the output proper, on a line of its own. */
export const say = (output: Output, sentence: string): void =>
  output.write(`espalier: ${escapeLine(sentence)}\n`);
