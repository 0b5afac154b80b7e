/** Hands one view down to the components that show it. */
import { createContext, type ReactNode, useContext } from "react";
import type { View } from "../view-types.js";

const ViewContext = createContext<View | null>(null);

export const ViewProvider = ({ view, children }: { view: View; children: ReactNode }): ReactNode => (
  <ViewContext.Provider value={view}>{children}</ViewContext.Provider>
);

/** The view of the nearest provider, to write through and to move. It never changes by itself. */
export const useProvidedView = (): View => {
  const view = useContext(ViewContext);
  if (view === null) throw new Error("unable to find a view; render this below a <ViewProvider>");
  return view;
};
