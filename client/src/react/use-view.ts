/** What a view shows as a whole. */
import { useCallback, useSyncExternalStore } from "react";
import type { View, ViewSnapshot } from "../view-types.js";

/**
 * Renders again when the shown line changes, and never for a token.
 *
 * @example
 * const { ids, isHeld } = useView(view);
 * return <ViewProvider view={view}>{ids.map((id) => <Row key={id} id={id} />)}</ViewProvider>;
 */
export const useView = (view: View): ViewSnapshot => {
  const subscribe = useCallback(
    (onChange: () => void) =>
      view.subscribe(({ type }) => {
        if (type === "line") onChange();
      }),
    [view],
  );
  const read = (): ViewSnapshot => view.snapshot;
  return useSyncExternalStore(subscribe, read, read);
};
