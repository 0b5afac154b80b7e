/** Texts gathered into pieces of a size that is worth writing. */

const PIECE_LENGTH = 64 * 1024;

export async function* inPieces(texts: Iterable<string>): AsyncGenerator<string> {
  let gathered: string[] = [];
  let length = 0;
  for (const text of texts) {
    gathered.push(text);
    length += text.length;
    if (length < PIECE_LENGTH) continue;
    yield gathered.join("");
    gathered = [];
    length = 0;
  }
  if (length > 0) yield gathered.join("");
}
