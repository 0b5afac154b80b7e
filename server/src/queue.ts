/** First in, first out, each in constant time: an array's own `shift` moves all the others. */

export type Queue<T> = {
  readonly size: number;
  push(item: T): void;
  first(): T | undefined;
  last(): T | undefined;
  shift(): T | undefined;
};

const MIN_SPLICE = 1024;

export const createQueue = <T>(): Queue<T> => {
  const items: (T | undefined)[] = [];
  let start = 0;
  return {
    get size() {
      return items.length - start;
    },
    push: (item) => void items.push(item),
    first: () => items[start],
    last: () => (items.length === start ? undefined : items.at(-1)),
    shift: () => {
      if (start === items.length) return undefined;
      const item = items[start];
      items[start] = undefined;
      start += 1;
      if (start >= MIN_SPLICE && start * 2 >= items.length) {
        items.splice(0, start);
        start = 0;
      }
      return item;
    },
  };
};
