/**
 * Where the server that has a directory is reached: `server.json` in the control folder, there while it
 * listens. One that was killed leaves it behind, so it counts only while the process that it names lives.
 */
import { type Disk, readWhole, replaceFile } from "./disk.js";
import { CONTROL_DIR } from "./names.js";

const NAME = "server.json";

export type Address = { readonly url: string; readonly pid: number };

/** For the owner of the directory alone. */
export const writeAddress = async (disk: Disk, dir: string, address: Address): Promise<void> => {
  await replaceFile(disk, `${dir}/${CONTROL_DIR}`, NAME, [`${JSON.stringify(address)}\n`]);
};

export const removeAddress = (disk: Disk, dir: string): Promise<void> =>
  disk.remove(`${dir}/${CONTROL_DIR}/${NAME}`);

/** Null where no server has the directory, or none that is known of. */
export const readAddress = async (disk: Disk, dir: string): Promise<Address | null> => {
  const bytes = await readWhole(disk, `${dir}/${CONTROL_DIR}/${NAME}`).catch(() => null);
  try {
    const { url, pid } = JSON.parse(String(bytes)) as Partial<Address>;
    return typeof url === "string" && typeof pid === "number" && isAlive(pid) ? { url, pid } : null;
  } catch {
    return null;
  }
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};
