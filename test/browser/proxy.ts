/** A wire between a page and its server that can be cut. It lets pages and scripts through, cut or not. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export type Proxy = {
  readonly url: string;
  /** Ends every WebSocket, and lets no other begin. */
  cut(): void;
  mend(): void;
  close(): void;
};

export const createProxy = async (port: number): Promise<Proxy> => {
  const webSockets = new Set<Socket>();
  const all = new Set<Socket>();
  let isCut = false;

  const server = createServer((near) => {
    all.add(near);
    const far = connect(port, "127.0.0.1");
    const end = (): void => {
      near.destroy();
      far.destroy();
      all.delete(near);
      webSockets.delete(near);
    };
    near.on("data", (chunk) => {
      if (/^upgrade: *websocket/im.test(chunk.toString("latin1"))) {
        if (isCut) return end();
        webSockets.add(near);
      }
      far.write(chunk);
    });
    far.on("data", (chunk) => near.write(chunk));
    for (const socket of [near, far]) socket.on("close", end).on("error", end);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    url: `http://localhost:${(server.address() as { port: number }).port}/`,
    cut: () => {
      isCut = true;
      for (const socket of [...webSockets]) socket.destroy();
    },
    mend: () => {
      isCut = false;
    },
    close: () => {
      server.close();
      for (const socket of [...all]) socket.destroy();
    },
  };
};
