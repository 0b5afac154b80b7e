/** The registers of one principal: the key is its own once the server has said who this client is. */
import { type ErrorBody, type Json, type PrincipalId, refusal } from "@espalier/shared";
import type { ShownRegisters } from "../shown-registers.js";

export type OwnRegister = {
  /** Null where it is not set, and before it is known whose it is. */
  get(): Json;
  set(value: Json): Promise<ErrorBody | null>;
};

export type GetPrincipal = () => PrincipalId | null;

export const createOwnRegister = (
  registers: ShownRegisters,
  kind: string,
  getPrincipal: GetPrincipal,
): OwnRegister => ({
  get: () => {
    const principal = getPrincipal();
    return principal === null ? null : registers.get(`${kind}${principal}`);
  },
  set: (value) => {
    const principal = getPrincipal();
    return principal === null ? Promise.resolve(UNKNOWN) : registers.set(`${kind}${principal}`, value);
  },
});

const UNKNOWN = refusal("offline", "unable to set it; the server has not said yet who this client is");
