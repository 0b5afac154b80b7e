/**
 * Where the messages of a LibreChat export hang: in a tree by their place, in a list by their pointers.
 * `X_` is the placeholder for the reply to `X`; where that was never saved, the reply that was stands in.
 */
import type { Json } from "@espalier/shared";
import { type Fields, isFields, listOf, pointerOf, readTime, textOf } from "./fields.js";
import type { Report } from "./foreign.js";
import { isUsers, type Placed } from "./librechat-message.js";

export type Places = {
  /** In the order of the file. */
  readonly places: readonly Placed[];
  /** What is no message, and so has no place. */
  readonly outside: readonly Json[];
};

export const isTree = ({ messagesTree, messages }: Fields): boolean =>
  Array.isArray(messagesTree) ||
  listOf(messages).some((each) => isFields(each) && listOf(each.children).length > 0);

export const placesInTree = (roots: readonly Json[], report: Report): Places => {
  const places: Placed[] = [];
  const outside: Json[] = [];
  const pending: { message: Json; parentId: string | null }[] = [];
  const push = (messages: readonly Json[], parentId: string | null) => {
    for (const message of messages.toReversed()) pending.push({ message, parentId });
  };
  push(roots, null);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { message, parentId } = next;
    const place = placeOf(message, places.length, report);
    if (place === null) {
      outside.push(message);
      continue;
    }
    const told = parentOf(place.body);
    if (told !== parentId && told !== null)
      report(
        `${place.where}: parentMessageId ${told} disagrees with its place in the tree; the place is trusted`,
      );
    places.push({ ...place, parentId });
    push(listOf(place.body.children), place.sourceId);
  }
  return { places, outside };
};

export const placesInList = (messages: readonly Json[], report: Report): Places => {
  const read = messages.map((message, index) => ({ message, place: placeOf(message, index, report) }));
  const outside = read.filter(({ place }) => place === null).map(({ message }) => message);
  const places = read.flatMap(({ place }) => (place === null ? [] : [place]));
  return { places: withoutPlaceholders(places, report), outside };
};

/** Null for what is no message. One without an id is named by its place in the file. */
const placeOf = (message: Json, index: number, report: Report): Placed | null => {
  const ordinal = `#${index + 1}`;
  if (!isFields(message)) {
    report(`message ${ordinal}: unknown record type "${typeof message}" without an id; kept beside the tree`);
    return null;
  }
  const ownId = textOf(message.messageId);
  if (ownId === null) report(`message ${ordinal}: no id of its own; it gets one`);
  const sourceId = ownId ?? ordinal;
  return { sourceId, where: `message ${sourceId}`, body: message, parentId: parentOf(message) };
};

const NO_PARENT = "00000000-0000-0000-0000-000000000000";

const parentOf = ({ parentMessageId }: Fields): string | null =>
  parentMessageId === NO_PARENT ? null : pointerOf(parentMessageId);

const withoutPlaceholders = (places: readonly Placed[], report: Report): readonly Placed[] => {
  const ids = new Set(places.map(({ sourceId }) => sourceId));
  const isPlaceholder = (id: string | null): id is string =>
    id?.endsWith("_") === true && !ids.has(id) && ids.has(id.slice(0, -1));
  if (!places.some(({ parentId }) => isPlaceholder(parentId))) return places;
  const repliesById = newestReplies(places);
  return places.map((place) => {
    const { parentId, where, sourceId } = place;
    if (!isPlaceholder(parentId)) return place;
    const promptId = parentId.slice(0, -1);
    const reply = repliesById.get(promptId);
    const stand = reply === undefined || reply === sourceId ? promptId : reply;
    report(`${where}: parent ${parentId} is a placeholder; put below ${stand}`);
    return { ...place, parentId: stand };
  });
};

/** By time, of equals the later in the file. */
const newestReplies = (places: readonly Placed[]): ReadonlyMap<string, string> => {
  const newest = new Map<string, { id: string; time: number }>();
  for (const { parentId, sourceId, body, where } of places) {
    if (parentId === null || isUsers(body)) continue;
    const time = readTime(body.createdAt, where, () => {}) ?? 0;
    const known = newest.get(parentId);
    if (known === undefined || time >= known.time) newest.set(parentId, { id: sourceId, time });
  }
  return new Map([...newest].map(([id, reply]) => [id, reply.id]));
};
