/** Makes a program of its own from a file here, for tests that must kill a process. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

/** Returns the program's path; it is a folder of its own, to be removed by the caller. */
export const bundle = async (name: string): Promise<{ dir: string; path: string }> => {
  const dir = mkdtempSync(join(tmpdir(), "espalier-program-"));
  const here = fileURLToPath(new URL(".", import.meta.url));
  await build({
    root: here,
    configFile: false,
    logLevel: "error",
    resolve: { conditions: ["espalier-source", "module", "node"] },
    ssr: { noExternal: true },
    build: {
      ssr: join(here, name),
      outDir: dir,
      emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: "program.mjs" } },
    },
  });
  return { dir, path: join(dir, "program.mjs") };
};
