/** The schemas, for whoever must check what comes from outside. Importing this loads zod. */
export {
  alternativesSchema,
  clientMessageSchema,
  lineAskSchema,
  serverMessageSchema,
  sessionSummarySchema,
} from "./protocol.js";
export {
  appendDraftSchema,
  appendSchema,
  deltaSchema,
  draftSchema,
  entrySchema,
  partSchema,
  recordSchema,
  registerSchema,
  runSchema,
} from "./record.js";
