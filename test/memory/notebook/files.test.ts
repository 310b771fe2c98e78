import { describe, expect, it } from 'vitest';

import type { TurnContext } from '../../../src/core/turn-context.ts';
import { createOneProcess } from '../../../src/core/processes.ts';
import { createWrites } from '../../../src/core/writes.ts';
import { createNotebookFiles } from '../../../src/memory/notebook/files.ts';
import { aliceId } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { aliceRoot, asOwner, dmContext, dmSession, inGuild, openNotebook } from './notebook-fixtures.ts';

describe('a folder of the tree [L3]', () => {
  it('holds 200 files at most, of which any can still be written; days are not counted', async () => {
    const files = Array.from({ length: 200 }, (_, index) => [`${aliceRoot}/topics/t${index}.md`, 'old']);
    const { run } = await openNotebook(Object.fromEntries(files));
    const refused = await run('write', { path: 'topics/one-more.md', content: 'new' });
    expect(refused).toMatchObject({ ok: false, text: expect.stringContaining('topics/ is full') });
    await run('read', { path: 'topics/t1.md' });
    expect(await run('write', { path: 'topics/t1.md', content: 'new' })).toMatchObject({ ok: true });
    expect(await run('write', { path: 'daily/2026-01-15.md', content: 'new' })).toMatchObject({ ok: true });
  });

  it('holds 2 MB at most', async () => {
    const files = Array.from({ length: 33 }, (_, index) => [
      `${aliceRoot}/topics/t${index}.md`,
      'x'.repeat(63 * 1024),
    ]);
    const { run } = await openNotebook(Object.fromEntries(files));
    const refused = await run('write', { path: 'topics/one-more.md', content: 'x'.repeat(60_000) });
    expect(refused).toMatchObject({ ok: false, text: expect.stringContaining('topics/ is full') });
  });
});

it('a change of the notebook is told to its person’s open page, an owner’s too [Y3]', async () => {
  const told: string[] = [];
  const writes = createWrites({
    locks: createOneProcess().locks,
    erasedAt: () => Promise.resolve(undefined),
    written: (userId) => void told.push(userId),
    clock: () => new Date(0),
  });
  const files = createNotebookFiles(new MemoryStore(), writes);
  for (const speaker of [{}, asOwner]) await files.change('USER.md', dmContext(speaker), () => 'likes tea');
  expect(told).toEqual([aliceId, aliceId]);
});

it('no note is made of a message that was edited or deleted meanwhile [A4]', async () => {
  const { run, recent, log, read } = await openNotebook({}, { looksInLog: true });
  await log.recordUser(dmContext());
  const { channelId } = dmContext().place;
  const note = (path: string) => run('append', { path, entry: '- says hello' });
  recent.note({ kind: 'edited', channelId, messageId: '400000000000000001', text: 'hello' });
  expect(await note('MEMORY.md')).toMatchObject({ ok: true });
  recent.note({ kind: 'edited', channelId, messageId: '400000000000000001', text: 'goodbye' });
  expect(await note('USER.md')).toMatchObject({
    ok: false,
    text: expect.stringContaining('edited, deleted or forgotten'),
  });
  recent.note({ kind: 'deleted', channelId, messageIds: ['400000000000000001'] });
  expect(await note('USER.md')).toMatchObject({ ok: false });
  expect(await read(`${aliceRoot}/USER.md`)).toBeUndefined();
});

it('no note is made of a message that was forgotten meanwhile, or that the disk kept out of the log, since nothing could be followed of it later [A4][G5]', async () => {
  const { log, ledger, read, run } = await openNotebook({}, { looksInLog: true });
  const note = { path: 'MEMORY.md', entry: '- says hello' };
  expect(await run('append', note)).toMatchObject({ ok: false });
  await log.recordUser(dmContext());
  await ledger.purge({ userId: aliceId, words: 'hello', commandId: '400000000000000002' });
  expect(await run('append', note)).toMatchObject({ ok: false });
  expect(await read(`${aliceRoot}/MEMORY.md`)).toBeUndefined();
});

it('no note is made in a turn since which something of the person’s was taken back: its prompt may hold it [A4]', async () => {
  const { log, ledger, read, run } = await openNotebook({}, { looksInLog: true });
  const earlier = { id: '400000000000000000', text: 'I breed axolotls', at: '', attachments: [] };
  await log.recordUser(dmContext({ messages: [earlier] }));
  await log.recordUser(dmContext());
  const { channelId } = dmContext().place;
  await ledger.record({ kind: 'deleted', channelId, messageIds: [earlier.id] });
  const note = (context: TurnContext) => run('append', { path: 'MEMORY.md', entry: '- axolotls' }, context);
  expect(await note(dmContext({ now: new Date(0) }))).toMatchObject({
    ok: false,
    text: expect.stringContaining('edited, deleted or forgotten'),
  });
  expect(await read(`${aliceRoot}/MEMORY.md`)).toBeUndefined();
  expect(await note(dmContext())).toMatchObject({ ok: true });
});

describe('memory_write', () => {
  it('replaces what was read, and says so', async () => {
    const { run, read } = await openNotebook({ [`${aliceRoot}/topics/rust.md`]: 'old' });
    await run('read', { path: 'topics/rust.md' });
    const outcome = await run('write', { path: 'topics/rust.md', content: 'new' });
    expect(outcome).toMatchObject({
      ok: true,
      text: 'Replaced the whole of topics/rust.md; it has 4 bytes now.',
      notice: { line: '📝 Changed `topics/rust.md`' },
    });
    expect(await read(`${aliceRoot}/topics/rust.md`)).toBe('new\n');
  });

  it.each(['USER.md', 'MEMORY.md', 'overview.md'])(
    'takes %s for read when the prompt holds all of it',
    async (path) => {
      const { run, sections } = await openNotebook({
        [`${aliceRoot}/USER.md`]: 'old',
        [`${aliceRoot}/MEMORY.md`]: 'old',
        [`${dmSession}/overview.md`]: 'old',
      });
      expect((await run('write', { path, content: 'new' })).ok).toBe(false);
      await sections();
      expect((await run('write', { path, content: 'new' })).ok).toBe(true);
    },
  );

  it('does not count a file as read of which only a part was given', async () => {
    const { run, sections } = await openNotebook({ [`${aliceRoot}/MEMORY.md`]: 'a line\n'.repeat(2000) });
    await sections();
    await run('read', { path: 'MEMORY.md' });
    expect((await run('write', { path: 'MEMORY.md', content: 'new' })).text).toContain('only be patched');
  });

  it('knows what it wrote, patched and appended itself', async () => {
    const { run, read } = await openNotebook();
    await run('write', { path: 'topics/rust.md', content: 'one' });
    await run('append', { path: 'topics/rust.md', entry: 'two' });
    await run('patch', { path: 'topics/rust.md', patches: [{ oldText: 'two', newText: 'three' }] });
    expect((await run('write', { path: 'topics/rust.md', content: 'four' })).ok).toBe(true);
    expect(await read(`${aliceRoot}/topics/rust.md`)).toBe('four\n');
  });

  it('still has to read what it only appended to', async () => {
    const { run } = await openNotebook({ [`${aliceRoot}/topics/rust.md`]: 'by a person' });
    await run('append', { path: 'topics/rust.md', entry: 'two' });
    expect((await run('write', { path: 'topics/rust.md', content: 'three' })).ok).toBe(false);
  });

  it('gives a facts file its title and summary lines [N4]', async () => {
    const { run, read } = await openNotebook();
    const content = '- Name: Alice\n- Language: German\n- works at night';
    await run('write', { path: 'facts/user.md', content });
    const header = '# User\n> Summary: Name, Language, works at night\n\n';
    expect(await read(`${aliceRoot}/facts/user.md`)).toBe(`${header}${content}\n`);
    const written = '# Alice\n> Summary: only the name\n\n- Name: Alice\n';
    await run('write', { path: 'facts/user.md', content: written });
    expect(await read(`${aliceRoot}/facts/user.md`)).toBe(written);
  });

  it('refuses an empty content, and drops control and invisible characters', async () => {
    const { run, read } = await openNotebook();
    expect((await run('write', { path: 'USER.md', content: ' \u200B\n' })).ok).toBe(false);
    expect(await read(`${aliceRoot}/USER.md`)).toBeUndefined();
    await run('write', { path: 'USER.md', content: 'a\r\nb\0\u202Ec\uD800' });
    expect(await read(`${aliceRoot}/USER.md`)).toBe('a\nbc\uFFFD\n');
  });
});

describe('every tool that writes', () => {
  const inputs = [
    ['write', { path: 'facts/new.md', content: 'x' }],
    ['append', { path: 'facts/user.md', entry: 'x' }],
    ['patch', { path: 'facts/user.md', patches: [{ oldText: 'Alice', newText: 'Mallory' }] }],
  ] as const;

  it.each(inputs)('memory_%s writes nothing where it may not', async (tool, input) => {
    const { run, read } = await openNotebook({ [`${aliceRoot}/facts/user.md`]: 'Alice' });
    for (const [context, reason] of [
      // [M5a]
      [dmContext({ hasThirdPartyText: true }), "other people's text"],
      // [V3]
      [inGuild(), 'outside a direct message'],
      [inGuild('private'), 'outside a direct message'],
      [{ ...inGuild(), ...asOwner }, 'outside a direct message'],
    ] as const) {
      const outcome = await run(tool, input, context);
      expect(outcome).toMatchObject({ ok: false, text: expect.stringContaining(reason) });
    }
    expect(await read(`${aliceRoot}/facts/user.md`)).toBe('Alice');
    expect(await read(`${aliceRoot}/facts/new.md`)).toBeUndefined();
  });

  it('only adds where a proxy posted the message [G2a]', async () => {
    const { run, read } = await openNotebook({ [`${aliceRoot}/facts/user.md`]: 'Alice' });
    const { messages } = dmContext();
    const context = dmContext({ messages: messages.map((message) => ({ ...message, isProxied: true })) });
    const done: boolean[] = [];
    for (const [tool, input] of inputs) done.push((await run(tool, input, context)).ok);
    expect(done).toEqual([false, true, false]);
    expect(await read(`${aliceRoot}/facts/user.md`)).toContain('\nAlice\n');
  });

  it('writes nothing where the channel became public after the message was said [V1]', async () => {
    const { run } = await openNotebook({});
    const context = { ...inGuild('public'), originalPlace: inGuild('private').place };
    const outcome = await run('append', { path: 'overview.md', entry: 'x' }, context);
    expect(outcome).toMatchObject({ ok: false });
    expect(outcome.text).toContain('became visible to more people');
  });

  it('keeps the facts together under 15,360 bytes, counted in bytes [N6]', async () => {
    const other = 'ü'.repeat(5000);
    const { run, read } = await openNotebook({
      [`${aliceRoot}/facts/other.md`]: other,
      [`${aliceRoot}/facts/user.md`]: '# User\n> Summary: x\n\nhere\n',
    });
    await run('read', { path: 'facts/user.md' });
    const tooMuch = 'ü'.repeat(2700);
    const before = await read(`${aliceRoot}/facts/user.md`);
    const outcomes = [
      await run('write', { path: 'facts/new.md', content: tooMuch }),
      await run('write', { path: 'facts/user.md', content: tooMuch }),
      await run('append', { path: 'facts/user.md', entry: tooMuch }),
      await run('append', { path: 'facts/new.md', entry: tooMuch }),
      await run('patch', { path: 'facts/user.md', patches: [{ oldText: 'here', newText: tooMuch }] }),
    ];
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ ok: false, text: expect.stringContaining('15360') });
    expect(await read(`${aliceRoot}/facts/user.md`)).toBe(before);
    expect(await read(`${aliceRoot}/facts/new.md`)).toBeUndefined();
    expect((await run('write', { path: 'facts/user.md', content: 'ü'.repeat(2500) })).ok).toBe(true);
  });

  it('keeps the facts under their limit when several are written at once [S3]', async () => {
    const { run, store } = await openNotebook();
    const writes = Array.from({ length: 8 }, (_, index) =>
      run('write', { path: `facts/f${index}.md`, content: 'x'.repeat(4000) }),
    );
    await Promise.all(writes);
    expect(await store.list(`${aliceRoot}/facts`)).toHaveLength(3);
  });

  it('keeps any other file under 64 KiB [N6]', async () => {
    const { run } = await openNotebook({ [`${aliceRoot}/USER.md`]: 'here' });
    const tooMuch = '語'.repeat(22_000);
    for (const outcome of [
      await run('write', { path: 'topics/x.md', content: tooMuch }),
      await run('append', { path: 'USER.md', entry: tooMuch }),
      await run('patch', { path: 'USER.md', patches: [{ oldText: 'here', newText: tooMuch }] }),
    ]) {
      expect(outcome).toMatchObject({ ok: false, text: expect.stringContaining('65536') });
    }
  });
});
