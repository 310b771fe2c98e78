import { describe, expect, it } from 'vitest';

import type { Place } from '../../src/core/place.ts';
import { unconditional } from '../../src/core/writes.ts';
import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { createHarness, dmPlace, privatePlace } from './harness.ts';

const thread: Place = {
  ...privatePlace,
  channelId: '200000000000000013',
  channelName: 'plans',
  parentName: 'hideout',
};

/** What a bot holds that Alice has talked with in a channel, a private thread and her DM, each with a summary. */
async function withConversations() {
  const harness = createHarness();
  const { states, rolling, store } = harness;
  for (const [place, visibility] of [
    [publicPlace, 'server'],
    [thread, 'here'],
    [dmPlace, 'dm'],
  ] as const) {
    const session = { channelId: place.channelId, userId: aliceId };
    await states.update({ ...session, ...unconditional(aliceId) }, (state) => ({ ...state, place }));
    rolling.put(session, { text: `Summary of ${visibility}`, visibility, homeId: place.homeId });
  }
  await store.writeText(
    `sessions/${dmPlace.channelId}/${aliceId}/overview.md`,
    '## Current Task\n\nA parser\n',
  );
  return harness;
}

describe('conversations [K3]', () => {
  it('are listed with title, server and summary', async () => {
    const { say } = await withConversations();
    const server = `server ${publicPlace.guildId}`;
    expect((await say('conversations', dmPlace)).split('\n')).toEqual([
      '3 conversations:',
      `- **#${publicPlace.channelName}, ${server}** · id ${publicPlace.channelId}: Summary of server`,
      `- **#plans in #hideout, ${server}** · id ${thread.channelId}: Summary of here`,
      `- **Our direct messages** · id ${dmPlace.channelId}: Summary of dm`,
      expect.stringMatching(/^-# /u),
    ]);
  });

  it('are each shown whole, with the notes on them', async () => {
    const { say } = await withConversations();
    const direct = await say(`conversations ${dmPlace.channelId}`, dmPlace);
    expect(direct).toContain('Summary: Summary of dm');
    expect(direct).toContain('`overview.md`: ## Current Task\n\nA parser');
    const channel = await say(`conversations ${publicPlace.channelId}`, dmPlace);
    expect(channel).toContain('Summary: Summary of server');
    expect(channel).not.toContain('parser');
  });

  it('of others, and unknown ones, are not there', async () => {
    const { say } = await withConversations();
    const answer = await say(
      `conversations ${dmPlace.channelId}`,
      { ...dmPlace, channelId: '200000000000000019' },
      { speakerId: bobId },
    );
    expect(answer).toMatch(/^We have had no conversation with the id/u);
    expect(await say('conversations x', dmPlace)).toMatch(/^We have had no conversation with the id "x"/u);
  });

  it('are told where the asker alone reads, and nowhere else [V2]', async () => {
    const { say } = await withConversations();
    for (const words of ['conversations', `conversations ${dmPlace.channelId}`]) {
      expect(await say(words)).toBe(
        'That is for you alone: use `/memory conversations`, or ask me in our DM.',
      );
      expect(await say(words, publicPlace, { ephemeral: true })).toContain('Summary of dm');
    }
  });

  it("have their summary cleared from elsewhere, if they are one's own [R4]", async () => {
    const { say } = await withConversations();
    const reset = `reset rolling ${publicPlace.channelId}`;
    expect(await say(reset, dmPlace, { speakerId: bobId })).toMatch(/^We have had no conversation/u);
    expect(await say(reset, dmPlace)).toBe('Rolling summary of that conversation cleared.');
    const left = await say('conversations', dmPlace);
    expect(left).not.toContain('Summary of server');
    expect(left).toContain('Summary of dm');
  });
});

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
    const { text } = await show();
    expect(text.split('\n')).toEqual([
      'Your notebook, which I keep for our DM:',
      '- `USER.md` (0 bytes)',
      '- `MEMORY.md` (0 bytes)',
      '- `facts/user.md` (44 bytes): name, role',
      '- `daily/2026-01-15.md` (13 bytes): 2026-01-15',
      expect.stringMatching(/^-# /u),
    ]);
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
});
