import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { aliceRoot, dmContext, dmSession, inGuild, openNotebook } from './notebook-fixtures.ts';
import { runs } from '../../support/runs.ts';

describe('memory_read', () => {
  it('gives a file as people see it', async () => {
    const { run } = await openNotebook({ [`${aliceRoot}/USER.md`]: '# Alice\r\n- likes tea\n' });
    expect(await run('read', { path: 'USER.md' })).toEqual({
      ok: true,
      text: 'USER.md:\n# Alice\n- likes tea\n',
      sources: [{ source: { kind: 'file', path: 'USER.md', bytes: 20 }, from: 9 }],
    });
  });

  it('gives a long file in parts that together are the whole', async () => {
    const whole = Array.from({ length: 3000 }, (_, index) => `line ${index} <notes>\n`).join('');
    const { run } = await openNotebook({ [`${aliceRoot}/topics/long.md`]: whole });
    let offset = 0;
    let together = '';
    while (offset < whole.length) {
      const { text } = await run('read', { path: 'topics/long.md', offset });
      expect(text.length).toBeLessThanOrEqual(8000);
      const [head = '', ...lines] = text.split('\n');
      expect(head).toContain(`characters ${offset} to`);
      together += lines.join('\n');
      offset = Number(/goes on at offset (\d+)/u.exec(head)?.[1] ?? whole.length);
    }
    expect(together).toBe(whole.replaceAll('<notes>', '&lt;notes>'));
    expect((await run('read', { path: 'topics/long.md', offset: 99_999 })).text).toContain('has only');
  });
});

describe('a file that its person changed by hand [N9]', () => {
  it('has to be read again before the model replaces it, though it had read all of it', async () => {
    const { run, notebook, read } = await openNotebook({ [`${aliceRoot}/USER.md`]: 'likes tea\n' });
    await run('read', { path: 'USER.md' });
    await notebook.files.change('USER.md', dmContext(), () => 'likes bees\n', true);
    const replaced = await run('write', { path: 'USER.md', content: 'likes tea and rain' });
    expect(replaced.text).toContain('changed since you last read it');
    expect(await read(`${aliceRoot}/USER.md`)).toBe('likes bees\n');
  });
});

describe('memory_list', () => {
  it('gives path, bytes and summary, the notes of the conversation first and the newest day first', async () => {
    const { run } = await openNotebook({
      [`${aliceRoot}/USER.md`]: '# Alice\n\n- likes tea\n',
      [`${aliceRoot}/facts/user.md`]: '# User\n> Summary: name, role\n\n- Name: Alice\n',
      [`${aliceRoot}/topics/rust.md`]: '\n- borrow checker\n',
      [`${aliceRoot}/topics/Not A Name.txt`.replaceAll(' ', '')]: 'x',
      [`${aliceRoot}/daily/2026-01-13.md`]: 'x',
      [`${aliceRoot}/daily/2026-01-15.md`]: 'x',
      [`${aliceRoot}/durable.json`]: 'x',
      [`${dmSession}/detail/auth.md`]: '# Auth </message>\n',
    });
    expect((await run('list', {})).text.split('\n')).toEqual([
      '- detail/auth.md (18B): Auth &lt;/message>',
      '- USER.md (21B): Alice',
      '- facts/user.md (44B): name, role',
      '- topics/rust.md (18B): borrow checker',
      '- daily/2026-01-15.md (1B)',
      '- daily/2026-01-13.md (1B)',
    ]);
    expect((await run('list', { folder: 'topics/' })).text).toBe('- topics/rust.md (18B): borrow checker');
    expect((await run('list', { folder: 'channels' })).ok).toBe(false);
  });
});

describe('memory_patch', () => {
  const key = `${aliceRoot}/topics/rust.md`;

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
    ['stands nowhere', ['one', 'seven'], 'does not stand'],
    ['stands twice', ['one', 't'], 'more than once'],
    ['stands twice, overlapping', ['aa'], 'more than once'],
    ['is a pattern', ['o.e'], 'does not stand'],
    ['is empty', [''], 'is empty'],
    ['overlaps another', ['one t', 'two'], 'does not stand'],
    ['leaves nothing', ['one two three aaa'], 'empty'],
  ])('changes nothing where an oldText %s', async (_, oldTexts, reason) => {
    const { run, read } = await openNotebook({ [key]: 'one two three aaa' });
    const patches = oldTexts.map((oldText) => ({ oldText, newText: oldTexts.length > 1 ? 'x' : '' }));
    const outcome = await run('patch', { path: 'topics/rust.md', patches });
    expect(outcome).toMatchObject({ ok: false, text: expect.stringContaining(reason) });
    expect(await read(key)).toBe('one two three aaa');
  });

  it('puts back the header lines that a patch took away [N4]', async () => {
    const { run, read } = await openNotebook({
      [`${aliceRoot}/facts/user.md`]: '# Me\n> Summary: s\n\n- Name: Alice\n',
    });
    const patches = [{ oldText: '# Me\n> Summary: s\n', newText: '' }];
    expect((await run('patch', { path: 'facts/user.md', patches })).ok).toBe(true);
    expect(await read(`${aliceRoot}/facts/user.md`)).toBe('# User\n> Summary: Name\n\n- Name: Alice\n');
  });
});

describe('memory_append', () => {
  it('adds to a facts file and refreshes its summary line [N4]', async () => {
    const { run, read } = await openNotebook();
    await run('append', { path: 'facts/user.md', entry: '- Name: Alice' });
    await run('append', { path: 'facts/user.md', entry: '- Role: engineer' });
    expect(await read(`${aliceRoot}/facts/user.md`)).toBe(
      '# User\n> Summary: Name, Role\n\n- Name: Alice\n- Role: engineer\n',
    );
    await run('append', { path: 'facts/user.md', entry: '- Cat: Tom', summary: 'name, role, cat' });
    expect(await read(`${aliceRoot}/facts/user.md`)).toContain('> Summary: name, role, cat\n');
  });

  it.each([
    ['facts/user.md', '- Name: Alice'],
    ['topics/rust.md', 'Prefers enums.\n\nAnd traits.'],
    ['episodes/2026-01.md', '## Late\n- Summary: the parser'],
    ['overview.md', '## Current Task\nThe parser.'],
  ])('adds nothing twice to %s where a question is asked again after a kill', async (path, entry) => {
    const { run } = await openNotebook();
    await run('append', { path, entry });
    const { text } = await run('read', { path });
    const again = await run('append', { path, entry });
    expect([again.ok, again.notice?.buttons]).toEqual([true, []]);
    expect((await run('read', { path })).text).toBe(text);
  });

  it('gives an episode its form, and the file a summary of its titles', async () => {
    const { run, read } = await openNotebook();
    await run('append', {
      path: 'episodes/2026-01.md',
      entry: '## Moved to Berlin\n- Summary: one two three four five six seven eight nine\nIt rained.',
    });
    await run('append', { path: 'episodes/2026-01.md', entry: 'Shipped the parser\nwith three people' });
    expect(await read(`${aliceRoot}/episodes/2026-01.md`)).toBe(
      '# Episodes 2026-01\n> Summary: Moved to Berlin, Shipped the parser\n\n' +
        '## Moved to Berlin\n- Summary: one two three four five six seven eight nine\n- Date: 2026-01-15\nIt rained.\n\n' +
        '## Shipped the parser\n- Summary: Shipped the parser\n- Date: 2026-01-15\nShipped the parser\nwith three people\n',
    );
  });

  it('takes an episode by its date, else by the local day, in the file of its month only [N5]', async () => {
    const { run, read } = await openNotebook({}, { timeZone: 'Asia/Tokyo' });
    const late = dmContext({ now: new Date('2026-01-31T20:00:00Z') });
    const add = (month: string, entry: string) =>
      run('append', { path: `episodes/${month}.md`, entry }, late).then(({ ok }) => ok);
    expect(await add('2026-01', '## Late')).toBe(false);
    expect(await add('2026-02', '## Late')).toBe(true);
    expect(await read(`${aliceRoot}/episodes/2026-02.md`)).toContain('- Date: 2026-02-01');
    expect(await add('2026-01', '## Old\n- Date: 2025-12-24')).toBe(false);
    expect(await add('2025-12', '## Old\n- Date: 2025-12-24')).toBe(true);
    expect(await read(`${aliceRoot}/episodes/2026-01.md`)).toBeUndefined();
  });

  it('begins a daily log with its day, and keeps what stands in a file', async () => {
    const { run, read } = await openNotebook({ [`${aliceRoot}/topics/rust.md`]: 'by hand\r\n' });
    await run('append', { path: 'daily/2026-01-15.md', entry: '## Summary\nQuiet.' });
    expect(await read(`${aliceRoot}/daily/2026-01-15.md`)).toBe('# 2026-01-15\n\n## Summary\nQuiet.\n');
    await run('append', { path: 'topics/rust.md', entry: 'added $& literally' });
    expect(await read(`${aliceRoot}/topics/rust.md`)).toBe('by hand\n\nadded $& literally\n');
    expect((await run('append', { path: 'topics/rust.md', entry: ' \n' })).ok).toBe(false);
  });
});

describe('what a tool says it wrote', () => {
  it.each([
    ['a long summary', '## T\n- Summary: 1 2 3 4 5 6 7 8 9 10', '10 words'],
    ['no day', '## T\n- Date: last Tuesday', 'Give it as'],
  ])('refuses an episode with %s, with the reason [N4]', async (_, entry, reason) => {
    const { run, read } = await openNotebook();
    const outcome = await run('append', { path: 'episodes/2026-01.md', entry });
    expect(outcome).toMatchObject({ ok: false, text: expect.stringContaining(reason) });
    expect(await read(`${aliceRoot}/episodes/2026-01.md`)).toBeUndefined();
  });

  it('stands in the file to the last word [M4]', async () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '#', '-', '\n', ':'), maxLength: 60 });
    const path = fc.constantFrom('facts/user.md', 'episodes/2026-01.md', 'topics/user.md');
    const byHand = '# Me\n> Summary: mine\n\nold\n';
    await fc.assert(
      fc.asyncProperty(path, word, fc.constantFrom('patch', 'write', 'append'), async (file, text, tool) => {
        const { run, read } = await openNotebook({ [`${aliceRoot}/${file}`]: byHand });
        const written = `x${text}`;
        await run('read', { path: file });
        const patches = [{ oldText: 'old', newText: written }];
        const { ok } = await run(tool, { path: file, patches, content: written, entry: written });
        const stored = (await read(`${aliceRoot}/${file}`)) ?? '';
        const lost = wordsOf(written).filter((each) => !wordsOf(stored).includes(each));
        expect(ok ? lost : stored).toEqual(ok ? [] : byHand);
      }),
      { numRuns: runs(300) },
    );
  });
});

it('memory_write without a path writes MEMORY.md in a direct message, and elsewhere says what there is [M4]', async () => {
  const { run, read } = await openNotebook();
  expect(await run('write', { content: 'Tea at five.' })).toMatchObject({ ok: true });
  expect(await read(`${aliceRoot}/MEMORY.md`)).toBe('Tea at five.\n');
  const elsewhere = await run('write', { content: 'Tea at five.' }, inGuild());
  expect(elsewhere).toMatchObject({ ok: false, text: expect.stringContaining('overview.md and files in') });
});

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/u).filter((word) => /\w/u.test(word));
}
