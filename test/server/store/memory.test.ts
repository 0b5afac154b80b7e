/** [D8] Sessions in memory, behind the same operations. */
import { createMemoryStore } from "../../../server/src/store/memory.js";
import { storeContract } from "../../kit/store-contract.js";
import { countEpochs } from "./records.js";

storeContract("[D8] the store in memory", async () => ({
  open: async () => createMemoryStore({ newEpoch: countEpochs() }),
}));
