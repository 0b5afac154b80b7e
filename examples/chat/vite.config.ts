// Builds the page from the sources of the client, so no other build has to come first.

import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig, type UserConfig } from "vite";

export default defineConfig(({ command }) => {
  // Whoever builds it, with whatever in their environment: a page that is built is one for use.
  if (command === "build") process.env.NODE_ENV = "production";
  return page;
});

const page: UserConfig = {
  root: "page",
  base: "./",
  plugins: [react()],
  resolve: { conditions: ["espalier-source", ...defaultClientConditions] },
  build: { outDir: "../dist/page", emptyOutDir: true },
  // `vite` alone serves the page with hot reload, against a server that runs already.
  server: { proxy: { "/espalier": { target: "ws://localhost:4400", ws: true, rewriteWsOrigin: true } } },
};
