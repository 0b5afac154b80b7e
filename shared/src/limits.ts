/** The bounds and version that both sides of the wire hold to. */

export const PROTOCOL_VERSION = 2;

/** The window of a view, unless it asks for another (V8). */
export const WINDOW_ENTRIES = 50;
/** A window or page ends before it grows past this; one entry is always given. */
export const WINDOW_BYTES = 256 * 1024;
/** Alternatives given around each entry of a window (V9). */
export const ALTERNATIVES_AROUND = 32;
/** The largest message a client may send; a record larger than this cannot be made (L6). */
export const MESSAGE_BYTES = 1024 * 1024;
/** What an entry may hold after all its appends. */
export const ENTRY_BYTES = 16 * 1024 * 1024;
