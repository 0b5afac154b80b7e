/** One line that says so when there is no connection, and nothing while there is. */
import type { Client } from "@espalier/client";
import { useClient } from "@espalier/client/react";

export const ConnectionLine = ({ client }: { client: Client }) => {
  const { status, error } = useClient(client);
  // While it tries again it is still offline for its reader.
  const isOffline = status === "offline" || (status === "connecting" && error !== null);
  return (
    <div className="connection" role="status" aria-label="Connection" data-status={status}>
      {isOffline && "Offline. What you write is sent when you are back."}
      {status === "refused" && (
        <>
          {error?.message ?? "The server refused this connection."}{" "}
          <button type="button" onClick={() => client.retry()}>
            Try again
          </button>
        </>
      )}
    </div>
  );
};
