/** The conversation's title, and a way to change it. */
import type { Session } from "@espalier/client";
import { useSession } from "@espalier/client/react";
import { type KeyboardEvent, useState } from "react";

export const Title = ({ session }: { session: Session }) => {
  const { title } = useSession(session);
  const [given, setGiven] = useState<string | null>(null);
  const [isEditing, setEditing] = useState(false);
  const [refusal, setRefusal] = useState("");
  const shown = given ?? title ?? "New conversation";

  const rename = async (text: string): Promise<void> => {
    setEditing(false);
    const wanted = text.trim();
    if (wanted === "" || wanted === title) return;
    setGiven(wanted);
    const refused = await session.setRegister("title", wanted);
    setGiven(null);
    setRefusal(refused?.message ?? "");
  };

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>): void => {
    if (event.key === "Enter" && !event.nativeEvent.isComposing) void rename(event.currentTarget.value);
    if (event.key === "Escape") setEditing(false);
  };

  if (isEditing)
    return (
      <input
        className="title-input"
        aria-label="Title"
        defaultValue={shown}
        maxLength={200}
        ref={(input) => input?.select()}
        onKeyDown={onKeyDown}
        onBlur={() => setEditing(false)}
      />
    );
  return (
    <>
      <h1>{shown}</h1>
      <button type="button" className="quiet" onClick={() => setEditing(true)}>
        Rename
      </button>
      {refusal !== "" && <span role="alert">{refusal}</span>}
    </>
  );
};
