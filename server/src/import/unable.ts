/** What an import ends with where a file cannot be read: a sentence that names the file so that it can be found. */
import { EspalierError } from "@espalier/shared";
import type { SourceFile } from "./foreign.js";

export const shownName = ({ name, path = name }: Pick<SourceFile, "name" | "path">): string => path;

export const unableToImport = (name: string, reason: string, cause?: unknown): EspalierError =>
  new EspalierError("invalid", `unable to import ${name}; ${reason}`, { cause });

export const unableToRead = (file: SourceFile, reason: string, cause?: unknown): EspalierError =>
  unableToImport(shownName(file), reason, cause);
