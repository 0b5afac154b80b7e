/** What an agent is asked, and how it answers: piece by piece, whoever or whatever thinks of the pieces. */
import type { Entry, Json, Usage } from "@espalier/client";

export type Question = {
  /** The line that the answer goes on from, the oldest entry first. */
  readonly history: readonly Entry[];
  /** Another one for each answer, so that asking again gives another one. */
  readonly seed: string;
  readonly options: Readonly<Record<string, Json>>;
  /** Fires when nobody waits for the rest. */
  readonly signal: AbortSignal;
};

export type Piece = { readonly text: string } | { readonly usage: Usage };

export type Answer = (question: Question) => AsyncIterable<Piece>;

/** The text of a message; empty for other entries. */
export const textOf = (entry: Entry | undefined): string =>
  entry?.type === "message"
    ? entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
    : "";

export const isPrompt = (entry: Entry): boolean => entry.type === "message" && entry.role === "user";
