/** Looks into the beginning of a JSON file, however cut off, for what its first objects are made of. */
import { Tokenizer, TokenType } from "@streamparser/json";

/**
 * The keys of the object that the bytes begin, or of the objects in the list that they begin, as far as
 * they are there. Nothing where they are no JSON.
 */
export const firstKeys = (bytes: Uint8Array): ReadonlySet<string> => {
  const keys = new Set<string>();
  let depth = 0;
  let keyDepth = 0;
  let text = "";
  const tokenizer = new Tokenizer();
  tokenizer.onToken = ({ token, value }) => {
    if (keyDepth === 0) keyDepth = token === TokenType.LEFT_BRACKET ? 2 : 1;
    if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) depth += 1;
    else if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) depth -= 1;
    else if (token === TokenType.STRING) text = String(value);
    else if (token === TokenType.COLON && depth === keyDepth) keys.add(text);
  };
  // What comes before the first fault is known all the same.
  tokenizer.onError = () => {};
  try {
    tokenizer.write(bytes);
  } catch {}
  return keys;
};
