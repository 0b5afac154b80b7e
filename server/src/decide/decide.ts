/**
 * All policy: (state, actor, now), command → records or a refusal. Pure: the session applies what is
 * decided. A command that was carried out before is answered again, with no records (L4).
 */
import { decideAppend } from "./append.js";
import type { Command, Context, Decision } from "./decision.js";
import { decideErase } from "./erase.js";
import { decidePublish } from "./publish.js";
import { decideRegister } from "./register.js";
import { decideClaim, decideEnd } from "./runs.js";

export const decide = (context: Context, command: Command): Decision => {
  switch (command.type) {
    case "publish":
      return decidePublish(context, command);
    case "append":
      return decideAppend(context, command.append);
    case "claim":
      return decideClaim(context, command);
    case "end":
      return decideEnd(context, command);
    case "register":
      return decideRegister(context, command);
    case "erase":
      return decideErase(context, command);
  }
};
