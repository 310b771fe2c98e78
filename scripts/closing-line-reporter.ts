import type { Reporter, TestModule } from 'vitest/node';

/** Ends the run with one plain line, `N passed, N failed`, that any tool can read. */
// oxlint-disable-next-line import/no-default-export -- vitest loads a reporter by its default export
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      if (module.children.size === 0 && module.state() === 'failed') counts.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== 'pending') counts[state] += 1;
      }
    }
    const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`;
    process.on('exit', () =>
      process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed${skipped}\n`),
    );
  }
}
