/**
 * Loads the registers that a join left out (G1): page after page in order of their keys, from the beginning again
 * where a fresh window came meanwhile. What changes while they come is of a higher seq, and stands.
 */
import type { Replica, ReplicaChange } from "./replica.js";
import type { Sync } from "./sync.js";

const PAGE_REGISTERS = 1000;

type PagesOptions = {
  readonly replica: Replica;
  readonly sync: Pick<Sync, "status" | "askUntilAnswered">;
  readonly onChanges: (changes: readonly ReplicaChange[]) => void;
};

/** The session is joined: loads what is missing, if anything is. */
export const createRegisterPages = ({ replica, sync, onChanges }: PagesOptions): (() => void) => {
  let isLoading = false;

  const load = async (): Promise<void> => {
    let { tree } = replica;
    let after: string | undefined;
    while (replica.lacksRegisters) {
      if (tree !== replica.tree) {
        tree = replica.tree;
        after = undefined;
      }
      const of = tree;
      const page = after === undefined ? {} : { after };
      const reply = await sync.askUntilAnswered(
        { type: "registers", limit: PAGE_REGISTERS, ...page },
        (answer) => {
          // Until the answer to a join has come, this may be of another window.
          if (answer.type !== "registers" || sync.status !== "live" || of !== replica.tree) return;
          const last = answer.registers.at(-1);
          after = last?.key;
          onChanges(replica.addRegisters(answer.registers, !answer.more || last === undefined));
        },
      );
      if (reply.type === "refused") return;
    }
  };

  return () => {
    if (isLoading || !replica.lacksRegisters) return;
    isLoading = true;
    void load().finally(() => {
      isLoading = false;
    });
  };
};
