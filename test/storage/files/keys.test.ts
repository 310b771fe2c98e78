import { relative, sep } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertKey } from '../../../src/storage/files/keys.ts';
import { allRoots, locate } from '../../../src/storage/files/roots.ts';

const roots = { data: '/d', workspace: '/w', durable: '/moved/durable', summary: '/moved/summary' };
const piece = fc.oneof(
  fc.constantFrom(
    '..',
    '.',
    '',
    'workspace',
    'users',
    '1',
    'durable.json',
    'quarantine',
    'a.bak',
    '\\',
    '\0',
    'é',
    '~',
  ),
  fc.string(),
);
const anyText = fc.oneof(
  fc.string(),
  fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('/')),
);

/** The key, or `undefined` where it is refused as it should be. */
function checked(text: string): string | undefined {
  try {
    return assertKey(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

describe('a key', () => {
  it('never leads out of its root folder, into the quarantine, or to a hidden or backup file', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const key = checked(text);
        fc.pre(key !== undefined);
        const { root, path } = locate(roots, key);
        expect(allRoots(roots)).toContain(root);
        const segments = relative(root, path).split(sep);
        expect(segments.filter((segment) => /^\.|\.bak$|[\\\0]/.test(segment))).toEqual([]);
        expect(root === roots.data && segments[0] === 'quarantine').toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('leads into a moved layer folder for that layer only', () => {
    expect(locate(roots, 'users/1/durable.json').path).toBe('/moved/durable/users/1/durable.json');
    expect(locate(roots, 'users/1/notebook/durable.json').path).toBe('/d/users/1/notebook/durable.json');
    expect(locate(roots, 'sessions/1/2/state.json').path).toBe('/moved/summary/sessions/1/2/state.json');
    expect(locate(roots, 'sessions/1/2/messages.jsonl').path).toBe('/d/sessions/1/2/messages.jsonl');
    expect(locate(roots, 'workspace').path).toBe('/w');
    expect(locate(roots, 'workspaces/x').path).toBe('/d/workspaces/x');
  });
});
