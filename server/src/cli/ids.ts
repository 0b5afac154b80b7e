/** Ids as they were typed: what is none is told here, before anything is opened or asked. */
import { type EntryId, isId, isSessionId, type SessionId } from "@espalier/shared";
import { CommandError } from "./failure.js";

const GRAMMAR = "an id is letters, digits, `_` and `-`, at most 64, beginning with a letter or digit";

/** @throws CommandError */
export const toSessionId = (text: string): SessionId => {
  if (isSessionId(text)) return text;
  throw new CommandError(`unable to use ${JSON.stringify(text)} as a session; it is not an id`, GRAMMAR);
};

/** @throws CommandError */
const toEntryId = (text: string): EntryId => {
  if (isId(text)) return text;
  throw new CommandError(`unable to use ${JSON.stringify(text)} as an entry; it is not an id`, GRAMMAR);
};

export const toEntryIdOrNone = (text: string | undefined): EntryId | undefined =>
  text === undefined ? undefined : toEntryId(text);
