/**
 * `espalier import`: takes the conversations of other programs' files into a directory, one session at a
 * time. What is there already is left as it is, so a second import changes nothing.
 */
import { resolve } from "node:path";
import { EspalierError } from "@espalier/shared";
import { detectFormat, type FormatName, IMPORTERS } from "../import/detect.js";
import type { Importing, Source } from "../import/foreign.js";
import type { LogStore } from "../store/log-store.js";
import { openDiskSource } from "./disk-source.js";
import { advised, CommandError, lineOf } from "./failure.js";
import { filesOf, type NamedFile } from "./import-files.js";
import { createJsonPrinter, createTextPrinter, type ImportPrinter, nameOf } from "./import-output.js";
import { createProgress, type Progress, SILENT } from "./import-progress.js";
import { createIntake, type Taken } from "./import-session.js";
import { Interrupted } from "./interrupted.js";
import { say } from "./output.js";
import { openDirectoryOr } from "./source.js";
import type { Terminal } from "./terminal.js";
import { countOf } from "./wording.js";

export type ImportOptions = { readonly dir: string; readonly json?: boolean; readonly format?: FormatName };

export const runImport = async (
  paths: readonly string[],
  options: ImportOptions,
  terminal: Terminal,
): Promise<void> => {
  const { out, err, runtime } = terminal;
  const { dir, json = false } = options;
  const stop = createStop(terminal);
  const progress = stop.watched(json ? SILENT : createProgress(err, runtime));
  const directory = createDirectory(dir, terminal);
  const reports: string[] = [];
  const job: Job = {
    options,
    terminal,
    progress,
    requireGoing: stop.requireGoing,
    printer: json ? createJsonPrinter(out) : createTextPrinter(out),
    store: directory.store,
    readPaths: new Set(),
    report: (line) => {
      reports.push(line);
      progress.clear();
      say(err, line);
    },
  };
  const failures: unknown[] = [];
  let isBegun = false;
  try {
    for await (const file of filesOf(paths, job.report)) {
      stop.requireGoing();
      const failure = await importFile(file, job);
      if (failure !== null) failures.push(failure);
    }
    isBegun = directory.isOpen() || failures.length === 0;
  } finally {
    progress.clear();
    await directory.close().finally(async () => {
      if (isBegun || job.printer.isBegun()) await job.printer.end(reports);
    });
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length === 0) return;
  for (const failure of failures) say(err, lineOf(failure));
  throw new CommandError(
    `unable to import everything; ${countOf(failures.length, "file")} could not be read`,
  );
};

/** Ctrl-C ends an import where it next reads or takes something: what was taken by then is whole. */
const createStop = (terminal: Terminal) => {
  let isStopped = false;
  void terminal.untilStopped().then(() => {
    isStopped = true;
  });
  const requireGoing = (): void => {
    if (isStopped) throw new Interrupted();
  };
  const watched = (progress: Progress): Progress => ({
    ...progress,
    read: (bytes) => {
      requireGoing();
      progress.read(bytes);
    },
  });
  return { requireGoing, watched };
};

type Job = {
  readonly options: ImportOptions;
  readonly terminal: Terminal;
  readonly progress: Progress;
  /** @throws Interrupted */
  readonly requireGoing: () => void;
  readonly printer: ImportPrinter;
  readonly store: () => Promise<LogStore>;
  /** Files that were read with another one. */
  readonly readPaths: Set<string>;
  /** Tells what concerns no one session. */
  readonly report: (line: string) => void;
};

/** The directory is opened for the first session: a file that has none makes no directory. */
const createDirectory = (dir: string, { runtime }: Terminal) => {
  let opening: Promise<LogStore> | null = null;
  const open = async (): Promise<LogStore> => {
    const opened = await openDirectoryOr(dir, runtime, async (url) => {
      throw new CommandError(
        `unable to import into ${dir}; a server has it, at ${url}`,
        "stop the server, import, and start it again",
      );
    });
    return opened.type === "served" ? opened.server : opened.store;
  };
  return {
    isOpen: () => opening !== null,
    store: () => {
      opening ??= open();
      return opening;
    },
    close: async () => {
      const store = await opening?.catch(() => null);
      await store?.close();
    },
  };
};

/** Resolves with what is wrong with the file, after all of it that can be read was taken. */
const importFile = async ({ path, isNamed }: NamedFile, job: Job): Promise<unknown> => {
  if (!isNamed && job.readPaths.has(resolve(path))) return null;
  const { progress, terminal, options } = job;
  const { runtime } = terminal;
  try {
    const source = await openSource(path, progress);
    const format = options.format ?? (await detectFormat(source.file));
    if (format === null) {
      if (isNamed) throw unknownFormat(path, source);
      job.report(`${path}: its format is not known; skipped`);
      return null;
    }
    const importing = IMPORTERS[format](source, { newId: () => runtime.newId(), now: () => runtime.now() });
    try {
      await takeAll(importing, isNamed ? "" : `${path}: `, job);
    } finally {
      for (const name of [...importing.files, ...(importing.asides ?? [])])
        job.readPaths.add(resolve(path, "..", name));
    }
    return null;
  } catch (error) {
    if (error instanceof CommandError || error instanceof Interrupted) throw error;
    if (error instanceof EspalierError)
      return advised(error, { invalid: ADVICE, not_found: "check the path" });
    throw error;
  }
};

/** Each session is told as it is taken, also those before a fault. */
const takeAll = async (importing: Importing, prefix: string, job: Job): Promise<void> => {
  const { store, options, printer, progress, report, terminal } = job;
  let told = 0;
  const tellReports = (): void => {
    for (const line of importing.reports.slice(told)) report(prefix + line);
    told = importing.reports.length;
  };
  const onTaken = async (taken: Taken): Promise<void> => {
    progress.taken();
    progress.clear();
    const name = nameOf(taken.summary);
    for (const line of taken.summary.reports) say(terminal.err, `${prefix}${name}: ${line}`);
    await printer.session(taken);
  };
  let intake: ReturnType<typeof createIntake> | null = null;
  try {
    for await (const session of importing.sessions) {
      tellReports();
      job.requireGoing();
      intake ??= createIntake(await store(), options.dir, onTaken);
      await intake.take(session);
    }
  } finally {
    await intake?.drain();
    tellReports();
  }
};

const ADVICE = "name a file that one of the known programs exported, and its format with --format";

const openSource = async (path: string, progress: Progress): Promise<Source> => {
  const listener = { opened: progress.expect, read: progress.read };
  const source = await openDiskSource(path, listener);
  if (source !== null) return source;
  throw new EspalierError("not_found", `unable to import ${path}; there is no such file`);
};

const unknownFormat = (path: string, { file }: Source): EspalierError => {
  const reason = file.size === 0 ? "it is empty" : "its format is not known";
  return new EspalierError("invalid", `unable to import ${path}; ${reason}`);
};
