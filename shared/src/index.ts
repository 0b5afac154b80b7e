/** What a conversation is: the pure part, with no schema library. Schemas are in `@espalier/shared/schema`. */
export { type AppendMessage, isAppendMessage } from "./append-check.js";
export { ERRORS, type ErrorBody, type ErrorCode, EspalierError, refusal } from "./errors.js";
export {
  type EntryId,
  type Epoch,
  ID_ALPHABET,
  ID_LENGTH,
  isId,
  isPrincipalId,
  isSessionId,
  type PrincipalId,
  type RunId,
  type Seq,
  type SessionId,
  type WriterId,
} from "./ids.js";
export { type Json, jsonEqual, jsonFault, MAX_JSON_DEPTH } from "./json.js";
export {
  ALTERNATIVES_AROUND,
  ENTRY_BYTES,
  MESSAGE_BYTES,
  PROTOCOL_VERSION,
  WINDOW_BYTES,
  WINDOW_ENTRIES,
} from "./limits.js";
export {
  ACTIVE_LINE,
  type ChooseChild,
  defaultLeaf,
  newestChild,
  oldestChild,
  pathTo,
  promptOf,
  tipOf,
} from "./path.js";
export type {
  Alternatives,
  ClientMessage,
  Cursor,
  LineAsk,
  OpenEntry,
  PlacedEntry,
  PublishItem,
  RecordsMessage,
  RunPlace,
  RunRequest,
  ServerMessage,
  SessionSummary,
} from "./protocol.js";
export type {
  Append,
  AppendDraft,
  Audience,
  Delta,
  Draft,
  Entry,
  EntryStatus,
  LogRecord,
  MessageDraft,
  MessageEntry,
  Part,
  Place,
  Register,
  Role,
  Run,
  RunStatus,
  ToolState,
  Usage,
} from "./record.js";
export { createRegisters, type Registers } from "./register.js";
export { createRuns, isRunEnded, RUN_STEPS, type Runs } from "./run.js";
export type { Cancel, Runtime } from "./runtime.js";
export {
  deltasFault,
  foldAppend,
  foldDeltas,
  mergeAppends,
  mergeDeltas,
  mergeRecords,
  pushDelta,
  sizeOfDelta,
  sizeOfDeltas,
  takeDeltas,
  trimDeltas,
} from "./stream.js";
export { type Applied, createTree, type Tree, type TreeNode, trimAppend } from "./tree.js";
