// A vitest reporter: one plain line of counts, for people in a hurry and for programs.
//
// What failed outside of any test (a file that did not load, a hook, a stray rejection) counts as failed too.

function countOf(modules, unhandledErrors) {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const inState = (state) => tests.filter((test) => test.result().state === state).length;
  const hasFailedTest = (module) => [...module.children.allTests("failed")].length > 0;
  const broken = modules.filter((module) => module.state() === "failed" && !hasFailedTest(module));
  return {
    passed: inState("passed"),
    failed: inState("failed") + broken.length + unhandledErrors.length,
    skipped: inState("skipped"),
  };
}

export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const { passed, failed, skipped } = countOf(modules, unhandledErrors);
    console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
  }
}
