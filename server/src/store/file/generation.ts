/**
 * The epoch of the whole store (D2), kept in `generation.json`. It stays while nothing that anyone saw
 * can have been lost: after a clean close, which leaves no segment, and after the death of the process
 * alone, when the machine still has all that was written. In any other case a new one begins.
 */
import { readFile } from "node:fs/promises";
import { type Epoch, isId } from "@espalier/shared";
import { type Disk, readWhole, replaceFile } from "./disk.js";
import type { Segment } from "./segment.js";

const NAME = "generation.json";

/** What tells one boot of the machine from another, or null where there is no such thing. */
export const readBootId = (): Promise<string | null> =>
  readFile("/proc/sys/kernel/random/boot_id", "utf8").then(
    (text) => text.trim(),
    () => null,
  );

/** True where records that a client has seen may be gone. */
export const mayHaveLost = (
  segments: readonly Segment[],
  boot: string | null,
  hasTornFile: boolean,
): boolean =>
  hasTornFile || segments.some(({ header, tail }) => boot === null || header.boot !== boot || tail === "bad");

export const readGeneration = async (disk: Disk, control: string): Promise<Epoch | null> => {
  const bytes = await readWhole(disk, `${control}/${NAME}`);
  try {
    const { epoch } = JSON.parse(String(bytes)) as { epoch?: unknown };
    return isId(epoch) ? epoch : null;
  } catch {
    return null;
  }
};

export const writeGeneration = async (disk: Disk, control: string, epoch: Epoch): Promise<void> => {
  await replaceFile(disk, control, NAME, [`${JSON.stringify({ version: 1, epoch })}\n`]);
};
