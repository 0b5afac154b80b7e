/** The model and the options in force at the end of a path (C7). */
import type { Json } from "./json.js";
import type { Entry } from "./record.js";

export type Settings = {
  /** Null where the path holds no model-change. */
  readonly provider: string | null;
  readonly modelId: string | null;
  readonly options: Readonly<Record<string, Json>>;
};

/**
 * Folds the model-changes and option-changes of a path, whose last entry is the leaf. A model-change resets
 * the options to its own. An option that was set to null is null.
 *
 * ```ts
 * settings(path); // { provider: "acme", modelId: "large-2", options: { effort: "high" } }
 * ```
 */
export const settings = (path: readonly Entry[]): Settings => {
  let provider: string | null = null;
  let modelId: string | null = null;
  let options = new Map<string, Json>();
  for (const entry of path) {
    if (entry.type === "option-change") options.set(entry.option, entry.value);
    else if (entry.type === "model-change") {
      provider = entry.provider;
      modelId = entry.modelId;
      options = new Map(Object.entries(entry.options ?? {}));
    }
  }
  // `fromEntries` defines where an assignment would call the setter of an option named `__proto__`.
  return Object.freeze({ provider, modelId, options: Object.freeze(Object.fromEntries(options)) });
};

/** The entries that `settings` depends on, as places in a list: the last model-change, then each option's last change. */
export const settingPlaces = (entries: readonly Entry[]): readonly number[] => {
  let model: number | null = null;
  const options = new Map<string, number>();
  entries.forEach((entry, place) => {
    if (entry.type === "option-change") options.set(entry.option, place);
    else if (entry.type === "model-change") {
      model = place;
      options.clear();
    }
  });
  return model === null ? [...options.values()] : [model, ...options.values()];
};
