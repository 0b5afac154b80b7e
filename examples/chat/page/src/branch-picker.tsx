/** "2 of 3": where an entry stands among its alternatives, and steps to the others. */
import type { EntryId } from "@espalier/client";
import { useBranch } from "@espalier/client/react";
import { type KeyboardEvent, useLayoutEffect, useRef } from "react";
import { useActs } from "./acts.js";

export const BranchPicker = ({ id, parentId }: { id: EntryId; parentId: EntryId | null }) => {
  const { index, total } = useBranch(id);
  const acts = useActs();
  const previousRef = useRef<HTMLButtonElement>(null);
  const nextRef = useRef<HTMLButtonElement>(null);

  // Another entry has another picker; who steps by keyboard must not lose their place.
  useLayoutEffect(() => {
    const by = total > 1 ? acts.takeStep(parentId) : undefined;
    if (by === undefined) return;
    const [pressed, other] = by === 1 ? [nextRef, previousRef] : [previousRef, nextRef];
    const target = pressed.current?.disabled ? other.current : pressed.current;
    target?.focus({ preventScroll: true });
  }, [acts, parentId, total]);

  if (total < 2) return null;
  const step = (by: 1 | -1): void => acts.step(id, parentId, by);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowLeft" && index > 0) step(-1);
    if (event.key === "ArrowRight" && index < total - 1) step(1);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form
    <span className="picker" role="group" aria-label="Alternatives" onKeyDown={onKeyDown}>
      <button
        type="button"
        className="quiet"
        aria-label="Previous alternative"
        ref={previousRef}
        disabled={index === 0}
        onClick={() => step(-1)}
      >
        ‹
      </button>
      <span>
        {index + 1} of {total}
      </span>
      <button
        type="button"
        className="quiet"
        aria-label="Next alternative"
        ref={nextRef}
        disabled={index === total - 1}
        onClick={() => step(1)}
      >
        ›
      </button>
    </span>
  );
};
