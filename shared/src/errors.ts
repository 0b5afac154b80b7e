/**
 * One table of every error: what it means, what to do about it, and the close code of the socket
 * where it ends one. Refusals travel as values (`ErrorBody`); throws are for programmer error.
 */

type ErrorInfo = { readonly meaning: string; readonly advice: string; readonly close?: number };

export const ERRORS = {
  invalid: {
    meaning: "a message or value does not have the shape the protocol gives it",
    advice: "mend the value named in the message; sending it again will not help",
    close: 1007,
  },
  invalid_id: {
    meaning: "an id does not fit the grammar",
    advice: "use letters, digits, `_` and `-`, at most 64, beginning with a letter or digit",
  },
  too_large: {
    meaning: "a record, page or frame is past its limit",
    advice: "send less at once",
    close: 1009,
  },
  protocol: {
    meaning: "the two sides speak different versions of the protocol",
    advice: "update the older side",
    close: 4400,
  },
  unauthorized: {
    meaning: "the token was refused",
    advice: "get a new token and connect again",
    close: 4401,
  },
  forbidden: {
    meaning: "this principal may not do that",
    advice: "ask for the right, or act as another principal",
  },
  not_found: {
    meaning: "there is no such session, run or entry",
    advice: "check the id; to begin a session, join it with `create`",
  },
  not_joined: { meaning: "the session was not joined on this connection", advice: "join it first" },
  unknown_parent: {
    meaning: "the entry that this one was to be placed by is not in the session",
    advice: "place it again from what the view shows now (`retry`), or discard it",
  },
  conflict: {
    meaning: "the same id or position already holds something else, or somebody else was first",
    advice: "use a new id, or read what is there",
  },
  gap: {
    meaning: "an append does not start where the entry ends",
    advice: "send again from the `size` given in the error",
  },
  closed: { meaning: "the entry or run has ended", advice: "publish a new entry" },
  damaged: {
    meaning: "the stored log of a session cannot be read",
    advice: "restore the file named in the message, or the line named in it, from a backup",
  },
  newer_version: {
    meaning: "a file was written by a newer version",
    advice: "update this program; the file was left untouched",
  },
  locked: {
    meaning: "another process owns the directory",
    advice: "stop that process, or use another directory",
  },
  unavailable: {
    meaning: "the log could not be written just now",
    advice: "try again later; nothing of the request was kept",
  },
  overloaded: {
    meaning: "a bound on memory or rate was reached",
    advice: "slow down and try again",
    close: 1013,
  },
  deleted: {
    meaning: "the session was deleted, and its id is not used again",
    advice: "use another session; a new one needs a new id",
  },
  nothing_to_compact: {
    meaning: "there is nothing that a summary could stand for",
    advice: "go on without; the conversation is as short as the policy asks",
  },
  cancelled: { meaning: "it was cancelled on this side", advice: "ask again, where it is still wanted" },
  timeout: { meaning: "the other side did not answer in time", advice: "try again" },
  offline: { meaning: "there is no connection", advice: "wait; it is retried by itself" },
  shut: { meaning: "the client, session or view was closed here", advice: "open a new one" },
  internal: {
    meaning: "a fault in the server",
    advice: "look into the server's log and report it",
    close: 1011,
  },
} as const satisfies Record<string, ErrorInfo>;

export type ErrorCode = keyof typeof ERRORS;

/** A refusal as it travels. `size` comes with `gap`: the position that the writer must go on from. */
export type ErrorBody = { readonly code: ErrorCode; readonly message: string; readonly size?: number };

/** @example refusal("gap", "unable to append to e1; it starts at 9 and the entry ends at 4", { size: 4 }) */
export const refusal = (code: ErrorCode, message: string, more?: { size: number }): ErrorBody =>
  more === undefined ? { code, message } : { code, message, size: more.size };

/** Thrown for programmer error only; what can happen in good programs is returned as an `ErrorBody`. */
export class EspalierError extends Error {
  readonly code: ErrorCode;
  readonly advice: string;
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EspalierError";
    this.code = code;
    this.advice = ERRORS[code].advice;
  }
}
