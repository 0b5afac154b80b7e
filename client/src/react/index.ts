/**
 * `@espalier/client/react`: what the client knows, as hooks. Each renders again when what it returns has
 * changed, and only then.
 *
 * `useView`, `useSession`, `useMarks`, `useClient` and `useSessions` take what they read. What shows a part of a view
 * takes the view from a provider: `useEntry`, `useBranch`, `useRuns`.
 */
export { useProvidedView, ViewProvider } from "./provider.js";
export { useClient } from "./use-client.js";
export { type Branch, useBranch, useEntry } from "./use-entry.js";
export { useMarks, useRegister } from "./use-marks.js";
export { useRuns } from "./use-runs.js";
export { useSession } from "./use-session.js";
export { useSessions } from "./use-sessions.js";
export { useView } from "./use-view.js";
