import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { applyPatches } from '../../../src/memory/notebook/apply-patches.ts';
import { aliceRoot, openNotebook } from './notebook-fixtures.ts';

const key = `${aliceRoot}/topics/rust.md`;

describe('memory_patch', () => {
  it('changes several places and tells how many', async () => {
    const { run, read } = await openNotebook({ [key]: 'one two three\r\nfour' });
    const outcome = await run('patch', {
      path: 'topics/rust.md',
      patches: [
        { oldText: 'three\nfour', newText: '3 4' },
        { oldText: 'one', newText: '$& $1 \\n' },
      ],
    });
    expect(outcome).toMatchObject({ ok: true, text: expect.stringContaining('appliedCount: 2') });
    expect(await read(key)).toBe('$& $1 \\n two 3 4\n');
  });

  it.each([
    [
      'stands nowhere',
      [
        { oldText: 'one', newText: 'x' },
        { oldText: 'seven', newText: 'x' },
      ],
      'does not stand',
    ],
    [
      'stands twice',
      [
        { oldText: 'one', newText: 'x' },
        { oldText: 't', newText: 'x' },
      ],
      'more than once',
    ],
    ['stands twice, overlapping', [{ oldText: 'aa', newText: 'x' }], 'more than once'],
    ['is a pattern', [{ oldText: 'o.e', newText: 'x' }], 'does not stand'],
    ['is empty', [{ oldText: '', newText: 'x' }], 'is empty'],
    [
      'overlaps another',
      [
        { oldText: 'one t', newText: 'x' },
        { oldText: 'two', newText: 'x' },
      ],
      'same place',
    ],
    ['leaves nothing', [{ oldText: 'one two three aaa', newText: '' }], 'empty'],
  ])('changes nothing where an oldText %s', async (_, patches, reason) => {
    const { run, read } = await openNotebook({ [key]: 'one two three aaa' });
    const outcome = await run('patch', { path: 'topics/rust.md', patches });
    expect(outcome).toMatchObject({ ok: false, text: expect.stringContaining(reason) });
    expect(await read(key)).toBe('one two three aaa');
  });

  it('makes no file', async () => {
    const { run, read } = await openNotebook();
    const patches = [{ oldText: 'a', newText: 'b' }];
    expect((await run('patch', { path: 'topics/rust.md', patches })).text).toContain(
      'no file topics/rust.md yet',
    );
    expect(await read(key)).toBeUndefined();
  });

  it('puts back the header lines that a patch took away [N4]', async () => {
    const { run, read } = await openNotebook({
      [`${aliceRoot}/facts/user.md`]: '# Me\n> Summary: s\n\n- Name: Alice\n',
    });
    const patches = [{ oldText: '# Me\n> Summary: s\n', newText: '' }];
    expect((await run('patch', { path: 'facts/user.md', patches })).ok).toBe(true);
    expect(await read(`${aliceRoot}/facts/user.md`)).toBe('# User\n> Summary: Name\n\n- Name: Alice\n');
  });

  it('is undone by the opposite patch, whatever the text', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (before, newText, after) => {
        const oldText = '⟨old⟩';
        const patched = applyPatches(before + oldText + after, [{ oldText, newText }]);
        expect(patched).toEqual({ outcome: 'patched', text: before + newText + after });
      }),
    );
  });
});
