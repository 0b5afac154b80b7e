/**
 * Where the reader is in the list. At the end it stays at the end while the text grows; anywhere else,
 * what is being read stays where it is, also when older messages come in above it.
 */
import type { EntryId, View } from "@espalier/client";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

export type Scroll = {
  readonly scrollerRef: RefObject<HTMLElement | null>;
  readonly contentRef: RefObject<HTMLDivElement | null>;
  readonly topRef: RefObject<HTMLDivElement | null>;
  readonly isAtEnd: boolean;
  toEnd(): void;
};

/** A reader this close to the end is at the end. */
const NEAR_PX = 48;
const OLDER_AHEAD = "800px 0px 0px 0px";
const OLDER_COUNT = 50;

type Anchor = { readonly id: string; readonly top: number };

export const useScroll = (view: View, ids: readonly EntryId[], hasOlder: boolean): Scroll => {
  const scrollerRef = useRef<HTMLElement>(null);
  const contentRef = useRef<HTMLDivElement>(null);
  const topRef = useRef<HTMLDivElement>(null);
  const sticksRef = useRef(true);
  const anchorRef = useRef<Anchor | null>(null);
  const shownRef = useRef(ids);
  const [isAtEnd, setAtEnd] = useState(true);

  const toEnd = useCallback(() => {
    sticksRef.current = true;
    const scroller = scrollerRef.current;
    if (scroller !== null) scroller.scrollTop = scroller.scrollHeight;
  }, []);

  useEffect(() => {
    const scroller = scrollerRef.current as HTMLElement;
    let formerTop = scroller.scrollTop;
    const onScroll = (): void => {
      const isNear = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_PX;
      // Who did not go up did not leave the end: it moved away from them.
      sticksRef.current = isNear || (sticksRef.current && scroller.scrollTop >= formerTop);
      formerTop = scroller.scrollTop;
      anchorRef.current = firstVisible(scroller);
      setAtEnd(isNear);
    };
    // Rows far out of sight have no true height before they come near (`content-visibility`).
    const onResize = new ResizeObserver(() => {
      if (sticksRef.current) toEnd();
      else restore(scroller, anchorRef.current);
      onScroll();
    });
    scroller.addEventListener("scroll", onScroll, { passive: true });
    onResize.observe(contentRef.current as HTMLElement);
    onResize.observe(scroller);
    return () => {
      scroller.removeEventListener("scroll", onScroll);
      onResize.disconnect();
    };
  }, [toEnd]);

  useLayoutEffect(() => {
    const scroller = scrollerRef.current as HTMLElement;
    const former = shownRef.current;
    shownRef.current = ids;
    if (sticksRef.current && isGrowth(former, ids)) toEnd();
    else restore(scroller, anchorRef.current);
    anchorRef.current = firstVisible(scroller);
  }, [ids, toEnd]);

  // Observed anew after each page: an observer tells of a change, and the top may still be in sight.
  const topId = ids[0];
  useEffect(() => {
    if (!hasOlder || topId === undefined) return;
    const observer = new IntersectionObserver(
      (seen) => {
        // Several may be told at once; the last is how it is now.
        if (seen.at(-1)?.isIntersecting) void view.loadOlder(OLDER_COUNT);
      },
      { root: scrollerRef.current, rootMargin: OLDER_AHEAD },
    );
    observer.observe(topRef.current as HTMLElement);
    return () => observer.disconnect();
  }, [view, hasOlder, topId]);

  return { scrollerRef, contentRef, topRef, isAtEnd, toEnd };
};

/** The same line, longer; a pending entry that is confirmed keeps its id. */
const isGrowth = (former: readonly EntryId[], ids: readonly EntryId[]): boolean => {
  const last = former.at(-1);
  return last === undefined || ids.includes(last, Math.max(0, former.length - 1));
};

/** Puts a row back to where it was. */
const restore = (scroller: HTMLElement, anchor: Anchor | null): void => {
  const row = anchor === null ? null : scroller.querySelector(`[data-entry="${CSS.escape(anchor.id)}"]`);
  if (anchor === null || row === null) return;
  const moved = row.getBoundingClientRect().top - anchor.top;
  if (Math.abs(moved) >= 1) scroller.scrollTop += moved;
};

/** The first row that is not wholly above the visible part. */
const firstVisible = (scroller: HTMLElement): Anchor | null => {
  const { top } = scroller.getBoundingClientRect();
  const chunk = firstBelow(scroller.getElementsByClassName("chunk"), top);
  const row = chunk === undefined ? undefined : firstBelow(chunk.children, top);
  return row === undefined
    ? null
    : { id: row.getAttribute("data-entry") ?? "", top: row.getBoundingClientRect().top };
};

/** Found by halving, since they stand in order. */
const firstBelow = (
  elements: HTMLCollectionOf<Element> | HTMLCollection,
  top: number,
): Element | undefined => {
  let low = 0;
  let high = elements.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((elements[middle] as Element).getBoundingClientRect().bottom > top) high = middle;
    else low = middle + 1;
  }
  return elements[low];
};
