/** One piece of work after the other, whatever becomes of each. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export const createInTurn = (): InTurn => {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
};
