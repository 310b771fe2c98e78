import { existsSync, readFileSync } from 'node:fs';

import { transformSync } from 'esbuild';
import { describe, expect, it } from 'vitest';

import { plant, plantedFaults } from './planted-faults.ts';

describe('planted faults', () => {
  it.each(plantedFaults)('$name can be planted in the sources as they are', (fault) => {
    const source = readFileSync(fault.file, 'utf8');
    const planted = plant(fault, source);
    expect(planted).not.toBe(source);
    // A file that cannot be read as a program would be found by every test.
    transformSync(planted, { loader: 'ts' });
  });

  it('name test files that are there', () => {
    const named = plantedFaults.flatMap(({ test }) => test ?? []);
    expect(named.filter((test) => !existsSync(test))).toEqual([]);
  });

  it('have names of their own', () => {
    const names = plantedFaults.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('that are not to be found, or found twice, are named with where they belong', () => {
    const fault = { name: 'no-sync', promise: '', file: 'src/disk.ts', find: 'sync();', put: '' };
    for (const source of ['nothing', 'sync(); sync();'])
      expect(() => plant(fault, source)).toThrow(/"no-sync".*src\/disk\.ts: sync\(\);/u);
  });
});
