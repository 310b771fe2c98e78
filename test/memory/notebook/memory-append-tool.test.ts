import { describe, expect, it } from 'vitest';

import { aliceRoot, dmContext, openNotebook } from './notebook-fixtures.ts';

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
      entry:
        '## Moved to Berlin\n- Summary: one two three four five six seven eight nine ten eleven\nIt rained.',
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
