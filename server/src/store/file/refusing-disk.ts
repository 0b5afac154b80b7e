/**
 * What the system's refusals mean here. Some are about one path: that session fails, and others go on.
 * Some are about the disk or the directory as a whole: then it cannot be opened, and the error says what
 * to do about it. Nothing is lost by either: the journal keeps what is not in the files.
 */
import { type ErrorBody, EspalierError, refusal, type SessionId } from "@espalier/shared";

type SystemError = NodeJS.ErrnoException & { readonly address?: string };

const PATH_CODES = ["EISDIR", "ENOTDIR", "EEXIST", "EACCES", "EPERM", "ELOOP", "ENAMETOOLONG", "ENXIO"];
const KEPT = "What it lacks is kept in the journal, and is written when the file is as it was";

/** What stands at the path is to blame, or who may use it; other paths may well be fine. */
export const isOfPath = (error: unknown): boolean => PATH_CODES.includes((error as SystemError).code ?? "");

/** A session whose file cannot take what the journal holds for it. */
export const unwritable = (id: SessionId, path: string, error: Error): ErrorBody =>
  refusal("damaged", `unable to open ${id}; ${path} cannot be written (${error.message}). ${KEPT}`);

/** A session's file that is not as long as it was left; `size` is null where it is gone. */
export const changedFile = (id: SessionId, path: string, size: number | null, length: number): ErrorBody => {
  const found = size === null ? "it is gone" : `it has ${size} bytes`;
  const change = `${path} was changed by another program: ${found} where it had ${length}`;
  return refusal("damaged", `unable to open ${id}; ${change}. ${KEPT}`);
};

/** A session's file whose bytes are not those that the journal goes on from. */
export const strangeFile = (id: SessionId, path: string, at: number): ErrorBody => {
  const change = `${path} was changed by another program: the journal does not go on from byte ${at}`;
  return refusal("damaged", `unable to open ${id}; ${change}. ${KEPT}`);
};

/** `advice` is what to do about this failure, not about its code. */
class DirectoryError extends EspalierError {
  override readonly advice: string;
  constructor(message: string, advice: string, cause: Error) {
    super("unavailable", message, { cause });
    this.advice = advice;
  }
}

type Explanation = { readonly reason: string; readonly advice: string };

const FULL: Explanation = {
  reason: "no space is left",
  advice: "free space and start again; nothing is lost",
};
const READ_ONLY: Explanation = {
  reason: "it cannot be written to",
  advice: "make the directory writable, or use a copy of it in another place; nothing was changed",
};
const NO_FOLDER: Explanation = {
  reason: "a file is in the place of a folder",
  advice: "move that file away, or use another directory",
};

const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EROFS: READ_ONLY,
  EACCES: READ_ONLY,
  EPERM: READ_ONLY,
  ENOTDIR: NO_FOLDER,
  EEXIST: NO_FOLDER,
  // Folders are made with those above them, so none is missing: the system does not let them be made.
  ENOENT: {
    reason: "it cannot be made",
    advice: "make the place of the directory writable, or use another directory",
  },
};

/** The error of opening a directory, in words where it is one that people can do something about. */
export const explained = (dir: string, error: unknown): unknown => {
  const { code = "", message, path, address } = error as SystemError;
  const explanation = EXPLANATIONS[code];
  if (error instanceof EspalierError || explanation === undefined) return error;
  const { reason, advice } = explanation;
  return new DirectoryError(
    `unable to open ${dir}; ${path ?? address ?? dir}: ${reason} (${message})`,
    advice,
    error as Error,
  );
};
