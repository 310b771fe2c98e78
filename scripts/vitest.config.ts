import { defineConfig } from 'vitest/config';

// oxlint-disable-next-line import/no-default-export -- vitest reads its configuration from the default export
export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/property-seed.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is polled for comes soon, but not on a machine that is busy with other things.
    expect: { poll: { timeout: 20_000 } },
    // No test changes a module, so that files can share what they have loaded.
    isolate: false,
    // Many tests wait for other processes, so there may be more of them than cores.
    maxWorkers: 4,
    reporters: ['default', new URL('closing-line-reporter.ts', import.meta.url).pathname],
    coverage: { provider: 'v8', include: ['src/**'] },
  },
});
