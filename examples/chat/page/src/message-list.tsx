/** The shown line. It renders when the line changes; a token renders one row and not the list. */
import type { EntryId } from "@espalier/client";
import { memo, useMemo, useRef } from "react";
import { type Chunk, chunkUp } from "./chunks.js";
import { Row } from "./row.js";

export const MessageList = memo(({ ids }: { ids: readonly EntryId[] }) => {
  const chunks = useChunks(ids);
  return (
    <div data-testid="list">
      {chunks.map((chunk, index) => (
        <ChunkOfRows key={chunk[0]} ids={chunk} isLast={index === chunks.length - 1} />
      ))}
    </div>
  );
});

const ChunkOfRows = memo(({ ids, isLast }: { ids: Chunk; isLast: boolean }) => (
  <ol className="chunk">
    {ids.map((id, index) => (
      <Row key={id} id={id} isLast={isLast && index === ids.length - 1} />
    ))}
  </ol>
));

const useChunks = (ids: readonly EntryId[]): readonly Chunk[] => {
  const formerRef = useRef<readonly Chunk[]>([]);
  return useMemo(() => {
    formerRef.current = chunkUp(formerRef.current, ids);
    return formerRef.current;
  }, [ids]);
};
