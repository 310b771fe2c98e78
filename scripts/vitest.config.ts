import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

import type { Reach } from '../test/support/confine.ts';

/** The name of a test's file says what the test may use, and so to which project it belongs; all others are `fast`. */
const smoke = ['test/**/*.smoke.test.ts'];
const e2e = ['test/e2e/**/*.test.ts', 'test/**/*.e2e.test.ts', ...smoke];
/** Of what is published by itself, and of the checks themselves: not in `npm test` but for a smoke test of each. */
const sandbox = ['test/sandbox/**/*.test.ts'];
const project = ['test/project/**/*.test.ts'];
const postgres = ['test/**/*.postgres.test.ts'];
const soak = ['test/soak/**/*.test.ts'];
const browser = ['test/browser/**/*.test.ts'];

/** What is about files on disk, or runs without a stage. */
const onlyInFiles = ['backup', 'disk', 'doctor', 'rights', 'setup', 'terminal'].map(
  (name) => `test/e2e/${name}.test.ts`,
);

/** Begun before all others of their project, so that nothing is left to wait for alone at the end. */
const longest =
  /\/(?:simulation\.e2e|e2e\/(?:start-stop|refused|rights|backup)|visibility\/visibility|largest-inputs)\.test\.ts$/u;

const isLong = ({ moduleId }: TestSpecification) => longest.test(moduleId);

/** A process keeps what it has loaded for the next file of the same project: those of one project come one after the other. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is not an array
    const sorted = await super.sort(files);
    const names = [...new Set(sorted.map((file) => file.project.name))];
    return names.flatMap((name) => {
      const own = sorted.filter((file) => file.project.name === name);
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))];
    });
  }
}

function tests(
  name: string,
  reach: Reach,
  include: readonly string[],
  exclude: readonly string[],
): TestProjectInlineConfiguration {
  return { extends: true, test: { name, include: [...include], exclude: [...exclude], provide: { reach } } };
}

/** Before them the present sources are built, which their processes run. */
function withBuild(one: TestProjectInlineConfiguration): TestProjectInlineConfiguration {
  return { ...one, test: { ...one.test, globalSetup: ['test/support/build-setup.ts'] } };
}

/** The same with a PostgreSQL server. */
function withServer(one: TestProjectInlineConfiguration): TestProjectInlineConfiguration {
  const globalSetup = ['test/support/build-setup.ts', 'test/support/postgres-setup.ts'];
  return { ...one, test: { ...one.test, globalSetup } };
}

// oxlint-disable-next-line import/no-default-export -- vitest reads its configuration from the default export
export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    projects: [
      tests(
        'fast',
        'sockets',
        ['test/**/*.test.ts'],
        [...e2e, ...sandbox, ...project, ...postgres, ...soak, ...browser],
      ),
      withBuild(tests('e2e', 'processes', e2e, [...postgres, ...soak])),
      tests('sandbox', 'processes', sandbox, smoke),
      withBuild(tests('project', 'processes', project, smoke)),
      withServer(tests('postgres', 'processes', postgres, soak)),
      withServer(
        tests('e2e-postgres', 'processes', ['test/e2e/**/*.test.ts'], [...onlyInFiles, ...postgres, ...soak]),
      ),
      withBuild(tests('browser', 'processes', browser, [])),
      withBuild(tests('soak', 'processes', soak, postgres)),
      withServer(tests('soak-postgres', 'processes', ['test/soak/**/*.postgres.test.ts'], [])),
    ],
    setupFiles: ['test/support/setup.ts'],
    // These end a test that hangs. They say nothing about how fast a test is on a machine that is busy with other things.
    testTimeout: 300_000 * Math.max(1, Number(process.env['FC_RUNS'] ?? 1)),
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // No test changes a module, so that files can share what they have loaded.
    isolate: false,
    // Many tests wait for other processes, so there may be more of them than cores.
    maxWorkers: 4,
    reporters: ['default', new URL('closing-line-reporter.ts', import.meta.url).pathname],
    coverage: {
      provider: 'custom',
      customProviderModule: new URL('coverage-provider.ts', import.meta.url).pathname,
      include: ['src/**/*.ts'],
    },
  },
});
