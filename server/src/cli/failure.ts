/** What ends a command: a sentence "unable to X; reason", and what to do about it. */
import { ERRORS, type ErrorBody, type ErrorCode, EspalierError } from "@espalier/shared";

export class CommandError extends Error {
  readonly advice: string | undefined;
  constructor(message: string, advice?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CommandError";
    this.advice = advice;
  }
}

/** Advice that fits a command better than the code's own, which is for programs. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  not_found: "`espalier ls` lists the sessions",
  unauthorized: "hand one in with --token, or in ESPALIER_TOKEN",
};

export const errorOf = ({ code, message }: ErrorBody): CommandError =>
  new CommandError(message, ADVICE[code] ?? ERRORS[code]?.advice);

/** The same error with advice that fits the command better than its code's own. */
export const advised = (error: unknown, adviceByCode: Partial<Record<string, string>>): unknown => {
  if (!(error instanceof EspalierError)) return error;
  const advice = adviceByCode[error.code];
  return advice === undefined ? error : new CommandError(error.message, advice, { cause: error });
};

/** The same error; where it is that the session lacks an entry, it says how to see those that it has. */
export const advisedOfEntry = (error: unknown, session: string): unknown => {
  if (!(error instanceof EspalierError || error instanceof CommandError)) return error;
  if (!/; (?:it has|there is) no entry \S+$/.test(error.message)) return error;
  return new CommandError(error.message, `\`espalier tree ${session}\` shows its entries`, { cause: error });
};

/** One line, without the program's name. */
export const lineOf = (error: unknown): string => {
  const { message, advice } = partsOf(error);
  return advice === undefined ? message : `${message} (${advice})`;
};

const partsOf = (error: unknown): { message: string; advice: string | undefined } => {
  if (error instanceof CommandError || error instanceof EspalierError) return error;
  return {
    message: `unable to go on; ${error instanceof Error ? error.message : String(error)}`,
    advice: undefined,
  };
};
