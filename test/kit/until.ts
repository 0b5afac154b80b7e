/** Waiting for what real sockets and processes bring about: asked again and again, never slept for. */

const PAUSE_MS = 5;

/** Resolves once it holds, with what it gave. A test's own time limit ends a wait in vain. */
export const until = async <T>(test: () => T | Promise<T>): Promise<NonNullable<T>> => {
  for (;;) {
    const found = await test();
    if (found !== false && found !== null && found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
};
