/** The part of the WebSocket interface that is used: browsers, `ws` and Node 22's own all have it. */
export type WebSocketLike = {
  send(data: string): void;
  close(code?: number, reason?: string): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  onerror: ((event: never) => void) | null;
};

export type WebSocketConstructor = new (url: string) => WebSocketLike;
