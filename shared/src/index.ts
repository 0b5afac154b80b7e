/** What a conversation is: the pure part, with no schema library. Schemas are in `@espalier/shared/schema`. */
export { type AppendMessage, isAppendMessage } from "./append-check.js";
export { type BranchSummaryPlan, planBranchSummary } from "./branch-summary.js";
export {
  type CompactionPlan,
  type CompactionPolicy,
  checkCompactionPolicy,
  type PlanOptions,
  planCompaction,
} from "./compaction.js";
export { type ContextOptions, context, contextEntries } from "./context.js";
export type { ContextMessage, EditMessage } from "./context-message.js";
export { type ContextReader, createContextReader } from "./context-reader.js";
export { eraseEntry } from "./erase.js";
export { ERRORS, type ErrorBody, type ErrorCode, EspalierError, refusal } from "./errors.js";
export { type ForkPoint, forkPath, forkPoint } from "./fork.js";
export {
  type EntryId,
  type Epoch,
  ID_ALPHABET,
  ID_LENGTH,
  isId,
  isPrincipalId,
  isSessionId,
  isSidechain,
  type PrincipalId,
  type RunId,
  rootOf,
  type Seq,
  type SessionId,
  type WriterId,
} from "./ids.js";
export { BRANCH_INSTRUCTION, DEFAULT_INSTRUCTION, SPLIT_INSTRUCTION } from "./instructions.js";
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
  type Collapse,
  collapseAll,
  isCollapsed,
  isPinned,
  pins,
  type ReadMark,
  readBranch,
  readCollapse,
  readReadMark,
  toggleCollapse,
} from "./marks.js";
export {
  type ChooseChild,
  defaultLeaf,
  isPrompt,
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
  Start,
  UsageSum,
  UsageTotals,
} from "./protocol.js";
export type {
  Append,
  AppendDraft,
  Audience,
  CompactionEntry,
  Delta,
  Draft,
  Entry,
  EntryStatus,
  Erase,
  LogRecord,
  MessageDraft,
  MessageEntry,
  Origin,
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
export {
  ACTIVE_LINE,
  ARCHIVED,
  KEY_KINDS,
  META,
  ownerOfKey,
  RESET,
  TITLE,
} from "./register-keys.js";
export { createRuns, isRunEnded, RUN_STEPS, type Runs } from "./run.js";
export type { Cancel, Runtime } from "./runtime.js";
export { type Settings, settings } from "./settings.js";
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
export { type EstimateTokens, estimateTokens } from "./tokens.js";
export { type ToolOutcome, toolState } from "./tool-state.js";
export { lastMessage, transcript } from "./transcript.js";
export { type Applied, createTree, type Tree, type TreeNode, trimAppend } from "./tree.js";
export { createSessionUsage, type SessionUsage, type SessionUsageOptions, usageOfPath } from "./usage.js";
export { addUsage } from "./usage-tally.js";
