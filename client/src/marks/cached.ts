/** Makes something of a source anew only where the source is another one, so that what is read stays the same object. */
export const cached = <S, T>(read: () => S, make: (source: S) => T): (() => T) => {
  let held: { readonly source: S; readonly made: T } | null = null;
  return () => {
    const source = read();
    if (held === null || held.source !== source) held = { source, made: make(source) };
    return held.made;
  };
};
