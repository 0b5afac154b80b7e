/** Rewrites a prompt in its place. What is saved is an alternative to it; the former one is kept. */
import type { MessageEntry } from "@espalier/client";
import { useProvidedView } from "@espalier/client/react";
import { type KeyboardEvent, useState } from "react";
import { isSendKey } from "./keys.js";

export const Editor = ({ entry, onDone }: { entry: MessageEntry; onDone: () => void }) => {
  const view = useProvidedView();
  const others = entry.parts.filter(({ type }) => type !== "text");
  const [text, setText] = useState(() =>
    entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"),
  );

  const save = (): void => {
    if (text.trim() === "" && others.length === 0) return;
    onDone();
    view.edit(entry.id, [{ type: "text", text }, ...others], { run: true });
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape") onDone();
    if (!isSendKey(event)) return;
    event.preventDefault();
    save();
  };

  return (
    <form
      className="editor"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <textarea
        aria-label="Edit message"
        value={text}
        rows={3}
        ref={focusAtEnd}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="actions">
        <button type="submit">Save as another branch</button>
        <button type="button" className="quiet" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  );
};

/** Stays the same function, so that it runs once and not at each key. */
const focusAtEnd = (area: HTMLTextAreaElement | null): void => {
  area?.focus();
  area?.setSelectionRange(area.value.length, area.value.length);
};
