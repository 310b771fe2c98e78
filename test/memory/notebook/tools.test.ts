import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Store } from '../../../src/core/store.ts';
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

  it('reads where others have spoken: only writing needs evidence [M5a]', async () => {
    const { run } = await openNotebook({ [`${dmSession}/overview.md`]: 'plan' });
    expect(
      (await run('read', { path: 'overview.md' }, dmContext({ hasThirdPartyText: true }))).text,
    ).toContain('plan');
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

  it('stays within what a tool may answer, and says how many are left', async () => {
    const texts = Array.from({ length: 300 }, (_, index) => [
      `${aliceRoot}/topics/t${index}.md`,
      'x'.repeat(100),
    ]);
    const { run } = await openNotebook(Object.fromEntries(texts));
    const { text } = await run('list', {});
    expect(text.length).toBeLessThan(8000);
    const shown = text.split('\n').length - 1;
    expect(text).toContain(`… and ${300 - shown} more`);
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

  it('puts back the header lines that a patch took away [N4]', async () => {
    const { run, read } = await openNotebook({
      [`${aliceRoot}/facts/user.md`]: '# Me\n> Summary: s\n\n- Name: Alice\n',
    });
    const patches = [{ oldText: '# Me\n> Summary: s\n', newText: '' }];
    expect((await run('patch', { path: 'facts/user.md', patches })).ok).toBe(true);
    expect(await read(`${aliceRoot}/facts/user.md`)).toBe('# User\n> Summary: Name\n\n- Name: Alice\n');
  });
});

/** All that stands in the files of a store. */
async function allIn(store: Store): Promise<readonly unknown[]> {
  const files = await Promise.all(['users', 'sessions'].map((folder) => store.list(folder)));
  return Promise.all(
    ['users', 'sessions'].flatMap((folder, at) =>
      (files[at] ?? []).map(async ({ path }) => [path, await store.readText(`${folder}/${path}`)]),
    ),
  );
}

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

  it('adds nothing twice where a question is asked again after a kill, nor anything that could be undone', async () => {
    for (const [path, entry] of [
      ['facts/user.md', '- Name: Alice'],
      ['topics/rust.md', 'Prefers enums.\n\nAnd traits.'],
      ['episodes/2026-01.md', '## Late\n- Summary: the parser'],
      ['overview.md', '## Current Task\nThe parser.'],
      ['daily/2026-01-15.md', '- went running'],
    ] as const) {
      const { run, store } = await openNotebook();
      const first = await run('append', { path, entry });
      const before = await allIn(store);
      expect(first.ok).toBe(true);
      const again = await run('append', { path, entry });
      expect([again.ok, again.notice?.buttons]).toEqual([true, []]);
      expect(await allIn(store)).toEqual(before);
    }
  });

  it('keeps the summary line of a facts file to one line of 160 characters, the newest in it', async () => {
    const { run, read } = await openNotebook();
    for (let index = 0; index < 40; index += 1) {
      await run('append', { path: 'facts/user.md', entry: `- Topic number ${index}: x` });
    }
    const [title, summary, blank] = (await read(`${aliceRoot}/facts/user.md`))?.split('\n') ?? [];
    expect([title, blank]).toEqual(['# User', '']);
    expect(summary?.length).toBeLessThanOrEqual('> Summary: '.length + 160);
    expect(summary).toContain('Topic number 39');
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

  it('dates an episode by the local day [N5]', async () => {
    const { run, read } = await openNotebook({}, { timeZone: 'Asia/Tokyo' });
    const late = dmContext({ now: new Date('2026-01-31T20:00:00Z') });
    expect((await run('append', { path: 'episodes/2026-01.md', entry: '## Late' }, late)).text).toContain(
      'belongs in episodes/2026-02.md',
    );
    expect((await run('append', { path: 'episodes/2026-02.md', entry: '## Late' }, late)).ok).toBe(true);
    expect(await read(`${aliceRoot}/episodes/2026-02.md`)).toContain('- Date: 2026-02-01');
  });

  it('takes an episode of an earlier day by its date, in the file of its month only', async () => {
    const { run, read } = await openNotebook();
    const entry = '## Old\n- Date: 2025-12-24';
    expect((await run('append', { path: 'episodes/2026-01.md', entry })).ok).toBe(false);
    expect(await read(`${aliceRoot}/episodes/2026-01.md`)).toBeUndefined();
    expect((await run('append', { path: 'episodes/2025-12.md', entry })).ok).toBe(true);
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
  const facts = `${aliceRoot}/facts/user.md`;
  const episodes = `${aliceRoot}/episodes/2026-01.md`;
  const long = 'a very long title of a file '.repeat(5).trim();

  it.each([
    [
      'a patch with a long title',
      'patch',
      { path: 'facts/user.md', patches: [{ oldText: '# Me', newText: `# ${long}` }] },
      'title is longer than 100',
    ],
    [
      'a patch with a long summary line',
      'patch',
      { path: 'facts/user.md', patches: [{ oldText: 'Summary: s', newText: `Summary: ${long} ${long}` }] },
      'summary line is longer than 160',
    ],
    [
      'a whole text with a long title',
      'write',
      { path: 'facts/cat.md', content: `# ${long}\n> Summary: s\n\n- Cat: Tom` },
      'title is longer than 100',
    ],
    [
      'a long summary beside a text',
      'write',
      { path: 'topics/rust.md', content: 'x', summary: `${long} ${long}` },
      'summary line is longer than 160',
    ],
    [
      'a long summary beside an entry',
      'append',
      { path: 'facts/user.md', entry: '- Cat: Tom', summary: `${long} ${long}` },
      'summary line is longer than 160',
    ],
    [
      'an episode with a long title',
      'append',
      { path: 'episodes/2026-01.md', entry: `## ${long}` },
      'title of the entry is longer than 80',
    ],
    [
      'an episode with a long summary',
      'append',
      { path: 'episodes/2026-01.md', entry: '## T\n- Summary: 1 2 3 4 5 6 7 8 9 10' },
      '10 words',
    ],
    [
      'an episode on no day',
      'append',
      { path: 'episodes/2026-01.md', entry: '## T\n- Date: last Tuesday' },
      'is not a date',
    ],
  ])('is written whole, or refused with the reason: %s [N4]', async (_, tool, input, reason) => {
    const { run, read } = await openNotebook({ [facts]: '# Me\n> Summary: s\n\n- Name: Alice\n' });
    const before = await read(facts);
    expect(await run(tool, input)).toMatchObject({ ok: false, text: expect.stringContaining(reason) });
    expect(await read(facts)).toBe(before);
    expect(await read(episodes)).toBeUndefined();
    expect(await read(`${aliceRoot}/facts/cat.md`)).toBeUndefined();
    expect(await read(`${aliceRoot}/topics/rust.md`)).toBeUndefined();
  });

  it('stands in the file to the last word, and so does the long title that a person wrote [M4]', async () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '#', '-', '\n', ':'), maxLength: 60 });
    const header = fc.tuple(word, word).map(([title, summary]) => `# T${title}\n> Summary: s${summary}\n`);
    const path = fc.constantFrom('facts/user.md', 'episodes/2026-01.md', 'topics/user.md');
    const byHand = `# ${long}\n> Summary: ${long} ${long}\n\nold\n`;
    await fc.assert(
      fc.asyncProperty(
        path,
        header,
        word,
        fc.constantFrom('patch', 'write', 'append'),
        async (file, head, text, tool) => {
          const { run, read } = await openNotebook({ [`${aliceRoot}/${file}`]: byHand });
          const written = `x${text}`;
          await run('read', { path: file });
          const { ok } = await run(tool, {
            path: file,
            ...inputOf(tool, file.startsWith('topics') ? written : head, written),
          });
          const stored = (await read(`${aliceRoot}/${file}`)) ?? '';
          const lost = wordsOf(written).filter((each) => !wordsOf(stored).includes(each));
          expect(ok ? lost : stored).toEqual(ok ? [] : byHand);
          expect(tool === 'write' || stored.includes(long)).toBe(true);
        },
      ),
      { numRuns: runs(300) },
    );
  });
});

describe('memory_write without a path', () => {
  it('writes MEMORY.md in a direct message [M4]', async () => {
    const { run, read } = await openNotebook();
    expect(await run('write', { content: 'Tea at five.' })).toMatchObject({
      ok: true,
      text: expect.stringContaining('MEMORY.md'),
    });
    expect(await read(`${aliceRoot}/MEMORY.md`)).toBe('Tea at five.\n');
  });

  it('is refused elsewhere, with what there is to write', async () => {
    const { run } = await openNotebook();
    expect(await run('write', { content: 'Tea at five.' }, inGuild())).toEqual({
      ok: false,
      text: '"MEMORY.md" is not a path here: outside a direct message there are only overview.md and files in detail/.',
    });
  });
});

function inputOf(tool: string, head: string, written: string): object {
  if (tool === 'patch') return { patches: [{ oldText: 'old', newText: written }] };
  return tool === 'write' ? { content: `${head}\n${written}` } : { entry: written };
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/u).filter((word) => /\w/u.test(word));
}
