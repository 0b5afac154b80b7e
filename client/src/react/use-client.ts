/** Whether a client is connected, and as whom. */
import { useSyncExternalStore } from "react";
import type { Client, ClientSnapshot } from "../client.js";

export const useClient = (client: Client): ClientSnapshot => {
  const read = (): ClientSnapshot => client.snapshot;
  return useSyncExternalStore(client.subscribe, read, read);
};
