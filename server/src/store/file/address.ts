/**
 * Where the server that has a directory is reached: `server.json` in the control folder, there while it
 * listens. One that was killed leaves it behind, and a copy of the directory has it as well, so it counts only
 * while the lock that it names is held in this very folder.
 */
import { type Disk, readWhole, replaceFile } from "./disk.js";
import { isHeld } from "./lock.js";
import { CONTROL_DIR } from "./names.js";

const NAME = "server.json";

export type Address = {
  readonly url: string;
  /** The name of the lock that the server has the directory by. */
  readonly lock: string;
};

/** For the owner of the directory alone. */
export const writeAddress = async (disk: Disk, dir: string, address: Address): Promise<void> => {
  await replaceFile(disk, `${dir}/${CONTROL_DIR}`, NAME, [`${JSON.stringify(address)}\n`]);
};

export const removeAddress = (disk: Disk, dir: string): Promise<void> =>
  disk.remove(`${dir}/${CONTROL_DIR}/${NAME}`);

/** Null where no server has the directory, or none that is known of. */
export const readAddress = async (disk: Disk, dir: string): Promise<Address | null> => {
  const control = `${dir}/${CONTROL_DIR}`;
  const bytes = await readWhole(disk, `${control}/${NAME}`).catch(() => null);
  const noted = parse(String(bytes));
  return noted !== null && (await isHeld(control, noted.lock)) ? noted : null;
};

const parse = (text: string): Address | null => {
  try {
    const { url, lock } = JSON.parse(text) as Partial<Address>;
    return typeof url === "string" && typeof lock === "string" ? { url, lock } : null;
  } catch {
    return null;
  }
};
