/** What an application keeps of a session as a whole (F7, G1): one JSON object, replaced as a whole. */
import { type ErrorBody, type Json, META } from "@espalier/shared";
import type { ShownRegisters } from "../shown-registers.js";

export type MetaObject = { readonly [key: string]: Json };

export type Meta = {
  /** Empty where nothing was set. */
  get(): MetaObject;
  /** In place of all that was set, also by others. Resolves with null, or with why the server refused it. */
  set(value: MetaObject): Promise<ErrorBody | null>;
  /**
   * Sets what is shown now with some fields changed; null takes a field away. It goes out as a whole: of two who
   * change it at once, the last one's is kept.
   *
   * @example await session.marks.meta.merge({ project: "garden", draft: null })
   */
  merge(fields: MetaObject): Promise<ErrorBody | null>;
};

export const createMeta = (registers: ShownRegisters): Meta => {
  const get = (): MetaObject => {
    const value = registers.get(META);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as MetaObject)
      : NONE;
  };
  const set: Meta["set"] = (value) => registers.set(META, Object.keys(value).length === 0 ? null : value);
  return {
    get,
    set,
    merge: (fields) => {
      const merged = Object.entries({ ...get(), ...fields }).filter(([, value]) => value !== null);
      return set(Object.fromEntries(merged));
    },
  };
};

const NONE: MetaObject = Object.freeze({});
