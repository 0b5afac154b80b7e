/**
 * The public face of `@espalier/server`: `createServer` runs one, or attaches it to an http server of yours;
 * `createEngine` takes sockets and a store that you bring.
 */
export { type ErrorBody, type ErrorCode, EspalierError, refusal, type SessionId } from "@espalier/shared";
export { createEngine, type Engine, type EngineOptions } from "./engine.js";
export type { Authenticate, AuthRequest, Principal, Right } from "./principal.js";
export { createRuntime } from "./runtime.js";
export { createServer, type EspalierServer, type ServerOptions } from "./server.js";
export type { ServerSocket, SocketHandler } from "./socket.js";
export { createFileStore } from "./store/file/file-store.js";
export type {
  AppendOutcome,
  ChangeOutcome,
  ListAsk,
  LoadOutcome,
  LogHeader,
  LogStore,
  SessionPage,
  StoredLog,
} from "./store/log-store.js";
export { createMemoryStore } from "./store/memory.js";
