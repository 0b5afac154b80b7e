/** Requests for an answer that have not reached the server: there is no message of theirs to mark. */
import type { Session, Write } from "@espalier/client";
import { useProvidedView, useSession } from "@espalier/client/react";

export const UnshownWrites = ({ session }: { session: Session }) => {
  const { writes } = useSession(session);
  const requests = writes.filter(({ items }) => items.length === 0);
  return requests.map((write) => <Request key={write.id} write={write} />);
};

const Request = ({ write }: { write: Write }) => {
  const view = useProvidedView();
  if (write.state === "pending") return <p className="note">Asking for another answer …</p>;
  return (
    <div className="failure" role="alert">
      <span>{write.error?.message ?? "The request was refused."}</span>
      <button type="button" onClick={() => view.retry(write.id)}>
        Retry
      </button>
      <button type="button" onClick={() => view.discard(write.id)}>
        Discard
      </button>
    </div>
  );
};
