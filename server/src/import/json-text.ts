/** JSON text of any value, however deep: the engine's own writer ends where its stack does. */

/** The same text as `JSON.stringify` gives, for a value parsed from JSON. */
export const jsonText = (value: unknown): string => {
  try {
    return JSON.stringify(value);
  } catch {
    return [...jsonPieces(value)].join("");
  }
};

/** The text in pieces, by a loop. */
function* jsonPieces(value: unknown): Generator<string> {
  const pending: (string | { readonly value: unknown })[] = [{ value }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string") yield next;
    else if (typeof next.value !== "object" || next.value === null) yield JSON.stringify(next.value);
    else {
      const isList = Array.isArray(next.value);
      yield isList ? "[" : "{";
      pending.push(isList ? "]" : "}");
      const items = Object.entries(next.value);
      for (const [index, [key, item]] of [...items.entries()].reverse()) {
        const comma = index === 0 ? "" : ",";
        pending.push({ value: item }, isList ? comma : `${comma}${JSON.stringify(key)}:`);
      }
    }
  }
}
