/** One entry of the shown line, with what can be done with it. */
import type { Entry, EntryId, MessageEntry, ViewEntry } from "@espalier/client";
import { useEntry, useProvidedView } from "@espalier/client/react";
import { memo, useState } from "react";
import { useActs } from "./acts.js";
import { BranchPicker } from "./branch-picker.js";
import { Editor } from "./editor.js";
import { OtherEntry } from "./other-entry.js";
import { PartView } from "./part-view.js";

export const Row = memo(({ id, isLast }: { id: EntryId; isLast: boolean }) => {
  const shown = useEntry(id);
  if (shown === undefined || isForModelOnly(shown.entry)) return null;
  const { entry, state } = shown;
  const role = entry.type === "message" ? entry.role : entry.type;
  return (
    <li
      className="row"
      data-testid="entry"
      data-entry={id}
      data-role={role}
      data-state={state}
      data-status={entry.status}
    >
      {entry.type === "message" ? (
        <Message shown={shown} entry={entry} isLast={isLast} />
      ) : (
        <OtherEntry entry={entry} />
      )}
    </li>
  );
});

const Message = ({ shown, entry, isLast }: { shown: ViewEntry; entry: MessageEntry; isLast: boolean }) => {
  const [isEditing, setEditing] = useState(false);
  const { id } = entry;
  return (
    <article aria-label={AUTHORS[entry.role] ?? entry.role} aria-busy={entry.status === "streaming"}>
      <header>
        <span className="author">{AUTHORS[entry.role] ?? entry.role}</span>
        <BranchPicker id={id} parentId={entry.parentId} />
        <State shown={shown} />
      </header>
      {isEditing ? (
        <Editor entry={entry} onDone={() => setEditing(false)} />
      ) : (
        <>
          <div className="parts">
            {entry.parts.map((part, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever added at the end
              <PartView key={index} part={part} />
            ))}
          </div>
          <Actions shown={shown} entry={entry} isLast={isLast} onEdit={() => setEditing(true)} />
        </>
      )}
    </article>
  );
};

const State = ({ shown: { state, entry } }: { shown: ViewEntry }) => {
  if (state === "pending") return <span className="state">Pending …</span>;
  if (state === "failed") return <span className="state failed">Not sent</span>;
  if (entry.status === "aborted") return <span className="state">Stopped before its end</span>;
  if (entry.status === "failed") return <span className="state failed">Failed</span>;
  return null;
};

type ActionsProps = { shown: ViewEntry; entry: MessageEntry; isLast: boolean; onEdit: () => void };

const Actions = ({ shown: { id, state, error }, entry, isLast, onEdit }: ActionsProps) => {
  const view = useProvidedView();
  const acts = useActs();
  if (state === "failed")
    return (
      <div className="failure" role="alert">
        <span>{error?.message ?? "It was refused."}</span>
        <button type="button" onClick={() => view.retry(id)}>
          Retry
        </button>
        <button type="button" onClick={() => view.discard(id)}>
          Discard
        </button>
      </div>
    );
  const isConfirmed = state === "confirmed";
  return (
    <div className="actions">
      {entry.role === "user" && (
        <button type="button" className="quiet" onClick={onEdit}>
          Edit
        </button>
      )}
      {entry.role === "assistant" && isConfirmed && entry.status !== "streaming" && (
        <button type="button" className="quiet" onClick={() => acts.regenerate(id)}>
          Regenerate
        </button>
      )}
      {entry.role === "user" && isLast && isConfirmed && (
        <button type="button" className="quiet" onClick={() => acts.regenerate(id)}>
          Ask for an answer
        </button>
      )}
      {!isLast && isConfirmed && (
        <button type="button" className="quiet" onClick={() => view.branch(id)}>
          Go back to here
        </button>
      )}
    </div>
  );
};

const AUTHORS: Record<string, string> = {
  user: "You",
  assistant: "Agent",
  system: "Instructions",
  tool: "Tool",
};

const isForModelOnly = (entry: Entry): boolean =>
  (entry.type === "message" || entry.type === "custom") && entry.audience === "model";
