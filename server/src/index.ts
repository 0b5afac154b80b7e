/** The public face of `@espalier/server`: run it, attach it, or bring one's own sockets and store. */
export { createEngine, type Engine, type EngineOptions } from "./engine.js";
export type { Authenticate, AuthRequest, Principal, Right } from "./principal.js";
export { createServer, type EspalierServer, type ServerOptions } from "./server.js";
export type { ServerSocket, SocketHandler } from "./socket.js";
export { createFileStore } from "./store/file/file-store.js";
export type { AppendOutcome, LoadOutcome, LogStore, StoredLog } from "./store/log-store.js";
export { createMemoryStore } from "./store/memory.js";
