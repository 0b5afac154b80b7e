// Every test imports the packages by name and gets their sources: no build stands between an edit and its test.
//
// Two projects. `node` runs in parallel. `browser` drives one real browser, a file at a time, after the rest,
// and is left out where there is none (scripts/test.mjs says so and sets ESPALIER_NO_BROWSER).

import { defineConfig } from "vitest/config";

const conditions = ["espalier-source", "module", "node", "development|production"];

const projects = [
  {
    extends: true as const,
    test: {
      name: "node",
      include: ["**/*.test.{ts,tsx}"],
      exclude: ["**/node_modules/**", "dist/**", "fixtures/**", "browser/**"],
      sequence: { groupOrder: 0 },
    },
  },
  {
    extends: true as const,
    test: {
      name: "browser",
      include: ["browser/**/*.test.{ts,tsx}"],
      exclude: ["**/node_modules/**"],
      fileParallelism: false,
      testTimeout: 60_000,
      hookTimeout: 60_000,
      sequence: { groupOrder: 1 },
    },
  },
];

const isWithoutBrowser = process.env.ESPALIER_NO_BROWSER === "1";

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ["espalier-source", "node"] } },
  test: {
    environment: "node",
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: "forks",
    maxWorkers: 2,
    projects: isWithoutBrowser ? projects.slice(0, 1) : projects,
  },
});
