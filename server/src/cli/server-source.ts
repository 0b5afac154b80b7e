/** The sessions of a running server, by the public client. */
import type { Client } from "@espalier/client";
import { createRegisters, createRuns, type SessionId } from "@espalier/shared";
import { errorOf } from "./failure.js";
import { readRemoteFacts } from "./remote-facts.js";
import { readRemoteLeaf, readRemoteLine } from "./remote-line.js";
import { readRemoteTree } from "./remote-tree.js";
import type { Source } from "./source.js";

const PAGE = 1000;

/** What reaches the server once more, for what the client does not tell. */
type ServerAddress = { readonly url: string; readonly token: string | undefined };

export const serverSource = (client: Client, address: ServerAddress): Source => ({
  isServer: true,
  pages: async function* (ask) {
    let after: SessionId | undefined;
    for (let more = true; more; ) {
      const page = await client.list({ ...ask, limit: PAGE, ...(after === undefined ? {} : { after }) });
      if ("code" in page) throw errorOf(page);
      yield page.sessions;
      after = page.sessions.at(-1)?.id;
      more = page.more;
    }
  },
  conversation: async (id) => {
    const facts = await readRemoteFacts(address, id, client.newId());
    const { tree } = await readRemoteTree(client, id);
    const registers = createRegisters();
    for (const register of facts.registers) registers.apply(register);
    const runs = createRuns();
    for (const run of facts.runs) runs.apply(run);
    return { id, header: facts.header, tree, registers, runs, others: [], last: null };
  },
  tree: (id) => readRemoteTree(client, id),
  line: (id, leaf) => readRemoteLine(client, id, leaf),
  leaf: (id) => readRemoteLeaf(client, id),
  fork: async (ask) => {
    const forked = await client.fork(ask);
    if ("code" in forked) throw errorOf(forked);
    return forked;
  },
  remove: async (id) => {
    const error = await client.delete(id);
    if (error !== null) throw errorOf(error);
  },
  close: async () => client.close(),
});
