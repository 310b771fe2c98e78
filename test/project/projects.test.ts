import { readdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';

import { runProcess } from '../support/processes.ts';
import { copyOfTheTree } from './copy-of-the-tree.ts';

const root = new URL('../..', import.meta.url).pathname;
const listed = z.array(z.object({ file: z.string(), projectName: z.string() }));

const reaching = `
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { it } from 'vitest';

it('serves', async () => {
  await new Promise((resolve) => createServer().listen(0, '127.0.0.1', resolve));
});
it('starts', () => {
  spawn('true');
});
it('starts and waits', () => {
  spawnSync('true');
});
`;

describe('the projects of the tests', () => {
  it('have each test file in one of them', async () => {
    const words = ['vitest', 'list', '--config', 'scripts/vitest.config.ts', '--filesOnly', '--json'];
    const { output } = await runProcess('npx', words, { cwd: root });
    // The same end-to-end tests once more, over a database.
    const each = listed.parse(JSON.parse(output)).filter(({ projectName }) => projectName !== 'e2e-postgres');
    const files = each.map(({ file }) => relative(root, file));
    const found = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts'))
      .map((path) => `test/${path}`);
    expect(files.toSorted()).toEqual(found.toSorted());
  });

  it('let no test reach further than the name of its file says', async () => {
    const tree = await copyOfTheTree();
    onTestFinished(() => rm(tree, { recursive: true, force: true }));
    for (const name of ['planted', 'planted.e2e'])
      await writeFile(join(tree, `test/core/${name}.test.ts`), reaching);
    const words = ['run', '--silent', 'vitest', '--', 'test/core/planted', '--reporter=json'];
    const { output } = await runProcess('npm', words, { cwd: tree });
    const passed = z
      .object({
        testResults: z.array(
          z.object({
            name: z.string(),
            assertionResults: z.array(z.object({ title: z.string(), status: z.string() })),
          }),
        ),
      })
      .parse(JSON.parse(output))
      .testResults.map(({ name, assertionResults }) => [
        relative(`${tree}/test/core`, name),
        assertionResults.filter(({ status }) => status === 'passed').map(({ title }) => title),
      ]);
    expect(Object.fromEntries(passed)).toEqual({
      'planted.test.ts': ['serves'],
      'planted.e2e.test.ts': ['serves', 'starts', 'starts and waits'],
    });
  });
});
