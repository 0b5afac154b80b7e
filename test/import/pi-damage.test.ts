/** pi files with random damage. A failure prints its seed and the file. */
import { test } from "vitest";
import { importPi } from "../../server/src/import/pi.js";
import { expectDamageSurvived } from "./damage.js";

test("[import] damage of any kind gives a valid log and loses no text", () =>
  expectDamageSurvived("pi", importPi, 200));
