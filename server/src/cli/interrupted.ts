/** What ends a command that was asked to stop before it was done: told by the exit code alone. */
export class Interrupted extends Error {
  constructor() {
    super("unable to go on; it was stopped");
    this.name = "Interrupted";
  }
}
