/** Where the next message is written. It never closes: what cannot be sent now is sent later. */
import { useProvidedView } from "@espalier/client/react";
import { type KeyboardEvent, useState } from "react";
import type { Keep } from "./keep.js";
import { isSendKey } from "./keys.js";

/** Where there is none, the focus would open one over the page. */
const HAS_KEYBOARD = matchMedia("(hover: hover)").matches;

type Props = { sessionId: string; keep: Keep; onSend: () => void };

export const Composer = ({ sessionId, keep, onSend }: Props) => {
  const view = useProvidedView();
  const [text, setText] = useState(() => keep.draft(sessionId));

  const write = (next: string): void => {
    setText(next);
    keep.keepDraft(sessionId, next);
  };

  const send = (): void => {
    if (text.trim() === "") return;
    view.send(text, { run: true });
    write("");
    onSend();
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isSendKey(event)) return;
    event.preventDefault();
    send();
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        aria-label="Message"
        placeholder="Write a message"
        rows={1}
        value={text}
        // biome-ignore lint/a11y/noAutofocus: writing is what a reader comes here for
        autoFocus={HAS_KEYBOARD}
        onChange={(event) => write(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="submit" disabled={text.trim() === ""}>
        Send
      </button>
    </form>
  );
};
