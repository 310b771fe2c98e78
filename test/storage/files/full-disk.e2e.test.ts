import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtProgram } from '../../support/built-program.ts';
import { runProcess } from '../../support/processes.ts';
import { alice } from '../store-fixtures.ts';
import { createTemporaryStores, type TemporaryStores } from './temporary-store.ts';

let stores: TemporaryStores;
beforeEach(async () => {
  stores = await createTemporaryStores();
});
afterEach(() => stores.dispose());

const child = fileURLToPath(new URL('full-disk-child.ts', import.meta.url));

describe('a disk that really takes only part of a write', () => {
  it('costs the writer an error and nobody any data [S2]', async () => {
    const command = 'ulimit -f 512; exec "$0" "$@"';
    const args = ['-c', command, process.execPath, builtProgram(child), stores.dataDir, stores.workspaceDir];
    const { output } = await runProcess('sh', args);
    expect(JSON.parse(output)).toEqual({
      outcomes: ['rejected', 'rejected'],
      text: 'good',
      notes: ['good', 'next'],
      files: [`${alice}/durable.json`, `${alice}/notebook/facts/user.md`],
    });
    expect(await readdir(join(stores.dataDir, 'users', alice, 'notebook', 'facts'))).toEqual(['user.md']);
  });
});
