/**
 * Calls and results of tools as a model's interface wants them (C6): a fold over the messages of a context
 * that can be undone from its end, so that a context which grows costs what is new.
 *
 * A result belongs to the nearest call above it of its id that has no result yet, so that an id which a
 * provider gave twice pairs within its own reply. A reply is a message, or several of the assistant's that each hold
 * a call, with nothing between them, as where each of a reply's calls was kept as an entry. Results stand right behind the reply of their call,
 * in their order; those of the call's own message stay where they are. A result without a call is left out. A call
 * without a result is given one that says "interrupted".
 */
import type { ContextMessage } from "./context-message.js";
import type { Part } from "./record.js";

export type ToolCallPart = Extract<Part, { type: "tool-call" }>;

/** What a call that was given no result is said to have returned. */
export const INTERRUPTED = "interrupted";

/** Whether a call holds its own outcome and waits for no result. */
export const isAnsweredInside = ({ state, output, error }: ToolCallPart): boolean =>
  (state === "done" || state === "failed") && (output !== undefined || error !== undefined);

type Call = { readonly slot: Slot; readonly part: ToolCallPart; isAnswered: boolean };

/** Messages with calls that follow each other, all of them the assistant's; or any one message with a part of a tool. */
type Reply = {
  readonly slots: Slot[];
  /** Results of its calls out of later messages, in their order. */
  readonly answers: ContextMessage[];
};

/** What one message became. */
type Slot = {
  readonly index: number;
  /** What stays in the message's own place. */
  own: ContextMessage | null;
  /** Calls that hold no outcome themselves. */
  calls: Call[];
  /** Null for a message without a part of a tool. */
  reply: Reply | null;
  /** Made when it is first shown, and kept while the same calls are open. */
  interrupted: ContextMessage | null;
  /** What was done to the calls, to be undone backwards. */
  steps: { readonly call: Call; readonly isOpening: boolean }[];
  /** The replies that were given an answer out of this message, one each. */
  targets: Reply[];
  /** The reply that the next message might have gone on with before this one. */
  before: Reply | null;
};

type ToolPairs = {
  /** Null keeps the place of an entry that says nothing. */
  push(message: ContextMessage | null): void;
  /** Undoes the last push. */
  pop(): void;
  /** Frozen; the same list while nothing changed. */
  messages(): readonly ContextMessage[];
};

export const createToolPairs = (): ToolPairs => {
  const slots: Slot[] = [];
  const openById = new Map<string, Call[]>();
  const shown: ContextMessage[] = [];
  /** Where each slot begins in what is shown. */
  const starts: number[] = [];
  /** Slots from here on are to be shown anew. */
  let staleFrom = 0;
  let frozen: readonly ContextMessage[] | null = null;
  /** What a message of the assistant's goes on with, if it comes next. */
  let current: Reply | null = null;

  const touch = (slot: Slot): void => {
    staleFrom = Math.min(staleFrom, slot.index);
    slot.interrupted = null;
    frozen = null;
  };

  const open = (call: Call): void => {
    const calls = openById.get(call.part.callId);
    if (calls === undefined) openById.set(call.part.callId, [call]);
    else calls.push(call);
    call.isAnswered = false;
    touch(call.slot);
  };

  const close = (callId: string): Call | undefined => {
    const calls = openById.get(callId);
    const call = calls?.pop();
    if (call === undefined) return undefined;
    if (calls?.length === 0) openById.delete(callId);
    call.isAnswered = true;
    touch(call.slot);
    return call;
  };

  /** Opens and answers calls in the order of the parts; for each result the slot of its call, null for one without. */
  const pair = (slot: Slot, parts: readonly Part[]): Owners =>
    parts.map((part) => {
      if (part.type === "tool-call" && !isAnsweredInside(part)) {
        const call: Call = { slot, part, isAnswered: false };
        open(call);
        slot.calls.push(call);
        slot.steps.push({ call, isOpening: true });
      }
      if (part.type !== "tool-result") return undefined;
      const call = close(part.callId);
      if (call !== undefined) slot.steps.push({ call, isOpening: false });
      return call?.slot ?? null;
    });

  const touchReply = ({ slots: [first] }: Reply): void => {
    if (first !== undefined) touch(first);
  };

  const answer = (slot: Slot, target: Reply, message: ContextMessage): void => {
    target.answers.push(message);
    slot.targets.push(target);
    touchReply(target);
  };

  /** Adds a slot to the reply that is under way, or to one of its own. */
  const join = (slot: Slot, { role, parts }: ContextMessage): void => {
    const isReply = role === "assistant" && parts.some(isCall);
    const goesOn = isReply && current !== null && !holdsOneOf(current, parts);
    const reply = goesOn && current !== null ? current : { slots: [], answers: [] };
    if (reply.slots.length > 0) touchReply(reply);
    reply.slots.push(slot);
    slot.reply = reply;
    current = isReply ? reply : null;
  };

  /** Puts what a message says where it belongs. */
  const place = (slot: Slot, message: ContextMessage): void => {
    const { own, moved } = divide(slot, message, pair(slot, message.parts));
    slot.own = own;
    for (const [target, answers] of moved) answer(slot, target, answers);
  };

  return {
    push: (message) => {
      if (message !== null) frozen = null;
      const isPlain = message?.parts.some(isOfTool) !== true;
      const slot = isPlain ? plainSlot(slots.length, message) : toolSlot(slots.length);
      slot.before = current;
      slots.push(slot);
      if (message === null) return;
      if (isPlain) current = null;
      else {
        join(slot, message);
        place(slot, message);
      }
    },
    pop: () => {
      const slot = slots.pop();
      if (slot === undefined) return;
      touch(slot);
      for (const target of slot.targets) {
        target.answers.pop();
        touchReply(target);
      }
      for (const { call, isOpening } of slot.steps.reverse()) {
        if (isOpening) close(call.part.callId);
        else open(call);
      }
      current = slot.before;
      if (slot.reply === null) return;
      slot.reply.slots.pop();
      touchReply(slot.reply);
    },
    messages: () => {
      if (frozen !== null) return frozen;
      if (staleFrom < starts.length) shown.length = starts[staleFrom] as number;
      starts.length = Math.min(starts.length, staleFrom);
      for (let index = starts.length; index < slots.length; index++) {
        starts.push(shown.length);
        show(slots[index] as Slot, shown);
      }
      staleFrom = slots.length;
      frozen = Object.freeze(shown.slice());
      return frozen;
    },
  };
};

const isOfTool = ({ type }: Part): boolean => type === "tool-call" || type === "tool-result";

/** Most messages have no part of a tool, and share their empty lists. */
const NOTHING: never[] = [];
Object.freeze(NOTHING);

const plainSlot = (index: number, own: ContextMessage | null): Slot => ({
  index,
  own,
  calls: NOTHING,
  reply: null,
  interrupted: null,
  steps: NOTHING,
  targets: NOTHING,
  before: null,
});

const toolSlot = (index: number): Slot => ({
  index,
  own: null,
  calls: [],
  reply: null,
  interrupted: null,
  steps: [],
  targets: [],
  before: null,
});

const show = (slot: Slot, shown: ContextMessage[]): void => {
  if (slot.own !== null) shown.push(slot.own);
  const { reply } = slot;
  if (reply === null || reply.slots.at(-1) !== slot) return;
  for (const answer of reply.answers) shown.push(answer);
  for (const each of reply.slots) showInterrupted(each, shown);
};

const showInterrupted = (slot: Slot, shown: ContextMessage[]): void => {
  if (slot.own === null || slot.calls.every((call) => call.isAnswered)) return;
  slot.interrupted ??= interruptedOf(slot.own, slot.calls);
  shown.push(slot.interrupted);
};

const interruptedOf = ({ entryId }: ContextMessage, calls: readonly Call[]): ContextMessage => {
  const results = calls
    .filter((call) => !call.isAnswered)
    .map(({ part: { callId } }): Part => {
      return Object.freeze({ type: "tool-result", callId, output: INTERRUPTED, isError: true });
    });
  return Object.freeze({ role: "tool", parts: Object.freeze(results), entryId });
};

/** By the place of a part: the slot of a result's call, null where it has none; undefined for all other parts. */
type Owners = readonly (Slot | null | undefined)[];

/** What of a message stays in its place, and what goes behind the calls of others. */
const divide = (slot: Slot, message: ContextMessage, owners: Owners) => {
  const own: Part[] = [];
  const partsByReply = new Map<Reply, Part[]>();
  const give = (target: Slot, part: Part): void => {
    const reply = target.reply as Reply;
    const parts = target === slot ? own : partsByReply.get(reply);
    if (parts === undefined) partsByReply.set(reply, [part]);
    else parts.push(part);
  };
  // In a message of results, what stands beside them goes with them, or is left out with them.
  const isOfResults = message.role === "tool" && !message.parts.some(isCall) && owners.some(isOwner);
  let beside = isOfResults ? (owners.find((owner) => owner != null) ?? null) : slot;
  message.parts.forEach((part, place) => {
    const owner = owners[place];
    const target = owner === undefined ? beside : owner;
    if (target === null) return;
    if (isOfResults) beside = target;
    give(target, part);
  });
  const moved = new Map<Reply, ContextMessage>();
  for (const [target, parts] of partsByReply) moved.set(target, partOf(message, "tool", parts));
  return { own: own.length === 0 ? null : partOf(message, message.role, own), moved };
};

/** A provider's id that comes twice is of another reply. */
const holdsOneOf = ({ slots }: Reply, parts: readonly Part[]): boolean =>
  parts.some(
    (part) =>
      part.type === "tool-call" &&
      slots.some(({ calls }) => calls.some(({ part: { callId } }) => callId === part.callId)),
  );

const isCall = ({ type }: Part): boolean => type === "tool-call";
const isOwner = (owner: Slot | null | undefined): boolean => owner !== undefined;

/** The message itself where that is all of it. */
const partOf = (
  message: ContextMessage,
  role: ContextMessage["role"],
  parts: readonly Part[],
): ContextMessage =>
  role === message.role && parts.length === message.parts.length
    ? message
    : Object.freeze({ role, parts: Object.freeze(parts), entryId: message.entryId });
