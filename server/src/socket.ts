/** A socket as the server needs it: real ones are accepted in `accept.ts`, tests bring their own. */
export type ServerSocket = {
  /** `sent` is called when the text has left this process's memory. */
  send(text: string, sent: () => void): void;
  /** Asks the other side for a sign of life; any answer counts as a message heard. */
  ping(): void;
  close(code: number, reason: string): void;
  /** Gives up on it without waiting for the other side. */
  terminate(): void;
};

/** What the socket's owner calls. */
export type SocketHandler = {
  message(text: string): void;
  /** Something was heard that is no message, such as a pong. */
  heard(): void;
  closed(): void;
};
