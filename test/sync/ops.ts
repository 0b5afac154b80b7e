/** What may happen, in any order, to several clients of one session. */
import fc from "fast-check";

export const CLIENTS = ["ann", "bob", "cid"];

export type Op =
  | { type: "send"; client: number; run: boolean }
  | { type: "edit" | "select" | "branch" | "step" | "regenerate"; client: number; at: number }
  | { type: "begin" | "append" | "end" | "follow" | "older" | "view" | "title"; client: number }
  | { type: "claim" | "bad" | "many" | "reload"; client: number }
  | { type: "retry" | "discard"; client: number; at: number }
  | { type: "pin" | "label" | "collapse" | "rewind" | "erase"; client: number; at: number }
  | { type: "fork"; client: number; copy: boolean }
  | { type: "reset"; client: number }
  | { type: "break"; client: number }
  | { type: "deliver"; client: number; toServer: boolean; count: number }
  | { type: "settle" | "restart" | "epoch" | "down" | "up" }
  | { type: "advance"; ms: number };

const client = fc.nat({ max: CLIENTS.length - 1 });
const at = fc.nat({ max: 20 });
export const opArbitrary: fc.Arbitrary<Op> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("send" as const), client, run: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "edit" as const,
        "select" as const,
        "branch" as const,
        "step" as const,
        "regenerate" as const,
      ),
      client,
      at,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "begin" as const,
        "append" as const,
        "append" as const,
        "append" as const,
        "end" as const,
        "follow" as const,
        "older" as const,
        "view" as const,
        "title" as const,
      ),
      client,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom("claim" as const, "claim" as const, "bad" as const, "reload" as const),
      client,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("many" as const), client }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constantFrom("retry" as const, "discard" as const), client, at }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "pin" as const,
        "label" as const,
        "collapse" as const,
        "rewind" as const,
        "erase" as const,
      ),
      client,
      at,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("fork" as const), client, copy: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("reset" as const), client }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("break" as const), client }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("deliver" as const),
      client,
      toServer: fc.boolean(),
      count: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "settle" as const,
        "settle" as const,
        "restart" as const,
        "epoch" as const,
        "down" as const,
        "up" as const,
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("advance" as const), ms: fc.integer({ min: 1, max: 12_000 }) }),
  },
);
