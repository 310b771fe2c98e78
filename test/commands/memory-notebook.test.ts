import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { runs } from '../support/runs.ts';
import { createHarness, dmPlace } from './harness.ts';

const root = `users/${aliceId}/notebook`;

/** Alice's notebook, where she edits it by the forms that she is given. */
async function openNotebook(texts: Readonly<Record<string, string>> = {}) {
  const harness = createHarness();
  for (const [path, text] of Object.entries(texts)) await harness.store.writeText(`${root}/${path}`, text);
  const show = (path = '') => harness.give(`notebook ${path}`, dmPlace);
  return {
    ...harness,
    show,
    read: (path: string) => harness.store.readText(`${root}/${path}`),
    /** Submits the form that stands for a file now, or one from before. */
    write: async (path: string, text: string, line?: string) => {
      const given = line ?? (await show(path)).form?.line ?? '';
      return harness.give(`${given.slice('memory '.length)} ${text}`, dmPlace);
    },
  };
}

describe('the notebook by hand [N9]', () => {
  it('is listed with sizes and summaries; profile and curated notes can be begun', async () => {
    const { show } = await openNotebook({
      'facts/user.md': '# User\n> Summary: name, role\n\n- Name: Alice\n',
      'daily/2026-01-15.md': '# 2026-01-15\n',
    });
    const { text, buttons } = await show();
    expect(text.split('\n')).toEqual([
      'Your notebook, which I keep for our DM:',
      '- `USER.md` (0 bytes)',
      '- `MEMORY.md` (0 bytes)',
      '- `facts/user.md` (44 bytes): name, role',
      '- `daily/2026-01-15.md` (13 bytes): 2026-01-15',
      expect.stringMatching(/^-# /u),
    ]);
    expect(buttons?.map(({ label }) => label)).toContain('facts/user.md');
  });

  it('is rewritten whole by the form of a file, which undo takes back', async () => {
    const { show, write, say, read } = await openNotebook({ 'USER.md': '- likes tea\n' });
    const shown = await show('USER.md');
    expect(shown.text).toBe('`USER.md`:\n\\- likes tea');
    expect(shown.buttons).toEqual([
      { label: 'Edit', line: 'memory notebook USER.md', takes: 'nothing', opensForm: true },
    ]);
    expect(shown.form?.value).toBe('- likes tea\n');
    const { text, buttons } = await write('USER.md', '- likes\r\n  green tea');
    expect(text).toBe('Saved `USER.md`: 20 bytes.');
    expect(await read('USER.md')).toBe('- likes\n  green tea\n');
    expect(buttons).toMatchObject([{ label: 'Undo' }]);
    expect(await say('undo', dmPlace)).toBe('Undone: the `note`.');
    expect(await read('USER.md')).toBe('- likes tea\n');
  });

  it('may be begun, and left empty', async () => {
    const { write, read, show } = await openNotebook({ 'MEMORY.md': 'All of it' });
    await write('topics/rust.md', 'Borrowing');
    expect(await read('topics/rust.md')).toBe('Borrowing\n');
    await write('MEMORY.md', '');
    expect((await read('MEMORY.md'))?.trim()).toBe('');
    expect((await show('MEMORY.md')).text).toContain('Nothing yet.');
  });

  it('is not written where it changed meanwhile; what was written is given back, and can be saved over it', async () => {
    const { show, write, store, read } = await openNotebook({ 'USER.md': 'one' });
    const { form } = await show('USER.md');
    await store.writeText(`${root}/USER.md`, 'two');
    const refused = await write('USER.md', 'three', form?.line);
    expect(refused.text).toBe(
      'USER.md was changed since you opened it, so nothing was written.\nYou wrote:\nthree',
    );
    expect(await read('USER.md')).toBe('two');
    expect(refused.form).toMatchObject({ value: 'three', reason: expect.stringContaining('was changed') });
    await write('USER.md', 'three', refused.form?.line);
    expect(await read('USER.md')).toBe('three\n');
  });

  it.each([
    [
      'a file of facts that is too large',
      'facts/user.md',
      `- ${'x'.repeat(15_400)}`,
      'they stay under 15360',
    ],
    [
      'an episode of another month',
      'episodes/2026-01.md',
      '## Trip\n- Date: 2025-12-01',
      'in the file of its month',
    ],
  ])('keeps the rules of its tools, and gives back what was written: %s', async (_, path, text, reason) => {
    const { write, read } = await openNotebook();
    const refused = await write(path, text);
    expect(refused.text).toContain(reason);
    expect(refused.form?.value).toBe(text);
    expect(await read(path)).toBeUndefined();
  });

  it('leaves out what looks like a secret [K14], and writes nothing in a pause [K9]', async () => {
    const { write, read, say } = await openNotebook();
    expect((await write('USER.md', 'my password is Tr0ub4dor&3x')).text).toContain('looks like a secret');
    expect(await read('USER.md')).not.toContain('Tr0ub4dor');
    await say('pause', dmPlace);
    const paused = await write('USER.md', 'in a pause');
    expect(paused.text).toContain('paused');
    expect(paused.form?.value).toBe('in a pause');
    expect(await read('USER.md')).not.toContain('pause');
  });

  it('has no form on Discord for what is too long for one, since that would cut it', async () => {
    const { show } = await openNotebook({ 'USER.md': 'x'.repeat(4001) });
    const { buttons, text } = await show('USER.md');
    expect(buttons).toEqual([]);
    expect(text).toContain('`!memory page` edits it');
  });

  it('is told and changed where the asker alone reads, and nowhere else [V3]', async () => {
    const { give, read } = await openNotebook({ 'USER.md': 'a secret of mine' });
    for (const words of ['notebook', 'notebook USER.md', 'notebook-write 00000000 USER.md x'])
      expect((await give(words)).text).toMatch(/^That is for you alone/u);
    expect((await give('notebook USER.md', publicPlace, { ephemeral: true })).text).toContain(
      'secret of mine',
    );
    expect((await give('notebook USER.md', dmPlace, { speakerId: bobId })).text).not.toContain('secret');
    expect(await read('USER.md')).toBe('a secret of mine');
  });

  it('reaches no file but those of the notebook, whatever it is asked for [M5]', async () => {
    const piece = fc.constantFrom(
      '..',
      '.',
      'USER.md',
      'overview.md',
      'detail',
      'facts',
      'a.md',
      'durable.json',
      'workspace',
      'SOUL.md',
      '~',
      '%2e',
    );
    const path = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('/'));
    await fc.assert(
      fc.asyncProperty(path, async (asked) => {
        const { give, store } = await openNotebook();
        for (const key of [`users/${aliceId}/durable.json`, 'workspace/SOUL.md', 'workspace/USER.md'])
          await store.writeText(key, 'untouched');
        await give(`notebook-write e3b0c442 ${asked} changed`, dmPlace);
        const paths = await Promise.all(['sessions', 'workspace'].map((folder) => store.list(folder)));
        expect(paths.flat()).toHaveLength(2);
        expect(await store.readText('workspace/USER.md')).toBe('untouched');
        expect(await store.readText(`users/${aliceId}/durable.json`)).toBe('untouched');
        expect((await give(`notebook ${asked}`, dmPlace)).text).not.toContain('untouched');
      }),
      { numRuns: runs(60) },
    );
  });
});
