import { setImmediate } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { createOneProcess } from '../../../src/core/processes.ts';
import { limits } from '../../../src/core/limits.ts';
import { everyone, type Place } from '../../../src/core/place.ts';
import { renderSection } from '../../../src/core/section.ts';
import type { TurnContext } from '../../../src/core/turn-context.ts';
import { mayUseNote } from '../../../src/core/visibility.ts';
import { isSaidIn, notesKind } from '../../../src/memory/channel/document.ts';
import { FakeChannels, notesOver } from '../../support/channel-notes.ts';
import { aliceId, bobId, publicPlace as general } from '../../support/incoming.ts';
import { channel, dmPlace, messageId, openSessions, secretPlace } from '../../support/sessions.ts';

const publicPlace: Place = { ...general, readers: [everyone] };
const { guildId = '', channelId } = publicPlace;
const dev = channel('dev', '200000000000000002', { readers: [everyone] });

function open(people?: Parameters<typeof notesOver>[1]['people']) {
  const sessions = openSessions();
  const channels = new FakeChannels(publicPlace, dev);
  const notes = notesOver(sessions.store, {
    writes: sessions.writes,
    channels,
    recent: sessions.recent,
    ...(people !== undefined && { people }),
  });
  let count = 0;
  return {
    ...sessions,
    channels,
    notes,
    ledger: sessions.ledgerOver([notes]),
    /** Resolves with the message's id. */
    keep: async (text: string, authorId = bobId, place: Place = publicPlace): Promise<string> => {
      count += 1;
      const id = messageId(1000 + count);
      const said = { authorId, author: 'Bob', text, messageId: id, at: '2026-01-15T10:00:00.000Z' };
      const where = { guildId: place.guildId ?? '', channelId: place.channelId };
      await notes.keep(where, said, () => Promise.resolve(true));
      return id;
    },
    shown: async (text: string, place: Place = publicPlace): Promise<string> => {
      const turn: TurnContext = sessions.contextOf([text], place);
      const sections = await notes.sections(turn);
      expect(sections.every(({ hasThirdPartyText }) => hasThirdPartyText)).toBe(true);
      return sections.map(renderSection).join('');
    },
  };
}

describe('a note in a prompt [B2]', () => {
  it('stands there only where it matches the message, with name, day, channel and link, the best match first', async () => {
    const { keep, shown } = open();
    const walrus = await keep('The walrus ships on Friday');
    await keep('The penguin ships on Monday, and so does the seal');
    expect(await shown('hello, how are you?')).toBe('');
    expect(await shown('when does the walrus ship?')).toMatch(
      new RegExp(
        `^<channel_notes>\\n.*\\n- 2026-01-15, Bob in #general: "The walrus ships on Friday" \\(https://discord.com/channels/${guildId}/${channelId}/${walrus}\\)\\n.*penguin`,
        'u',
      ),
    );
  });

  it('is read by nobody who cannot read its channel now', () => {
    const hall = publicPlace;
    const crew: Place = { ...dev, audience: 'private', readers: ['1'] };
    const forMembers: Place = { ...crew, audience: 'public' };
    const thread: Place = { ...crew, channelId: '3', parentId: dev.channelId };
    const backroom: Place = { ...thread, homeId: '3' };
    const { readers: _, ...unknown }: Place = { ...secretPlace, channelId: '4', homeId: '4' };
    expect([
      // From the channel itself and its threads, no matter who reads them.
      mayUseNote(crew, crew, true),
      mayUseNote(crew, thread, true),
      mayUseNote(crew, backroom, true),
      // From a public channel where all who read can read it too.
      mayUseNote(hall, crew, true),
      mayUseNote(forMembers, { ...unknown, readers: ['1'] }, true),
      mayUseNote(crew, dmPlace, true),
    ]).toEqual([true, true, true, true, true, true]);
    expect([
      mayUseNote(crew, hall, true),
      // Not even where its readers are the same.
      mayUseNote(crew, { ...unknown, readers: ['1'] }, true),
      mayUseNote(forMembers, hall, true),
      mayUseNote(forMembers, { ...unknown, readers: ['1', '2'] }, true),
      mayUseNote(hall, unknown, true),
      mayUseNote(backroom, crew, true),
      mayUseNote(hall, { ...hall, guildId: '9' }, true),
      mayUseNote(hall, dmPlace, false),
    ]).toEqual([false, false, false, false, false, false, false, false]);
  });

  it('depends on who can read the channel at this moment, also in the asker’s DM', async () => {
    const { keep, shown, channels } = open();
    await keep('The walrus ships on Friday', bobId, dev);
    for (const place of [dev, publicPlace, dmPlace])
      expect(await shown('walrus?', place)).toContain('walrus');
    channels.set({ ...dev, audience: 'private', readers: ['1'] });
    expect(await shown('walrus?', publicPlace)).toBe('');
    expect(await shown('walrus?', dmPlace)).toContain('walrus');
    channels.answers.set(`read ${dev.channelId} ${aliceId}`, false);
    expect(await shown('walrus?', dmPlace)).toBe('');
    channels.places.delete(dev.channelId);
    expect(await shown('walrus?', dev)).toBe('');
  });

  it('of somebody who has paused is used nowhere, also where a kill left it', async () => {
    let isPaused = false;
    const { keep, shown, notes } = open({
      mayStore: () => Promise.resolve(!isPaused),
      pauseIn: () => Promise.resolve(isPaused ? { scope: 'everywhere', since: '' } : undefined),
    });
    await keep('The walrus ships on Friday');
    await notes.dropPaused('', createOneProcess().locks);
    isPaused = true;
    expect(await shown('walrus?')).toBe('');
    await notes.dropPaused('', createOneProcess().locks);
    isPaused = false;
    expect(await shown('walrus?')).toBe('');
  });
});

describe('what goes [B3]', () => {
  it('is the oldest of too many in a channel', async () => {
    const { keep, notes } = open();
    for (let count = 0; count <= limits.channelNotes; count += 1) await keep(`The walrus ate ${count} fish`);
    const list = await notes.list(publicPlace);
    expect(list).toHaveLength(limits.channelNotes);
    expect(list.at(-1)?.text).toBe('The walrus ate 1 fish');
  });

  it('is a note whose message was deleted or no longer says it; another edit leaves it', async () => {
    const { keep, shown, ledger } = open();
    const [first, second] = [
      await keep('The walrus ships on Friday'),
      await keep('The seal ships on Monday'),
    ];
    const edit = { kind: 'edited', channelId, messageId: first } as const;
    await ledger.record({ ...edit, text: 'Hi! The walrus ships on  friday, I think' });
    expect(await shown('walrus?')).toContain('Friday');
    await ledger.record({ ...edit, text: '> The walrus ships on Friday\nno!' });
    expect(await shown('walrus?')).toBe('');
    await ledger.record({ kind: 'deleted', channelId, messageIds: [second] });
    expect(await shown('seal?')).toBe('');
  });

  it('is hidden while its author can take that back, and gone from the disk when they cannot any more', async () => {
    const { keep, shown, ledger, notes, store } = open();
    const id = await keep('The walrus ships on Friday');
    const messages = await notes.saying(bobId, 'walrus', publicPlace);
    expect(messages).toEqual([{ channelId, messageIds: [id] }]);
    expect(await notes.saying(aliceId, 'walrus', publicPlace)).toEqual([]);
    const forget = () =>
      ledger.forget(
        { name: 'durable', follow: () => Promise.resolve() },
        {
          kind: 'forgotten',
          userId: bobId,
          itemIds: [],
          words: 'walrus',
          commandId: messageId(9000),
          messages,
        },
      );
    await forget();
    expect(await shown('walrus?')).toBe('');
    expect(await notes.list(publicPlace)).toEqual([]);
    await ledger.restore({ userId: bobId, messages });
    expect(await shown('walrus?')).toContain('Friday');
    await forget();
    await ledger.deleteForgotten({ userId: bobId, messages });
    await ledger.restore({ userId: bobId, messages });
    expect(await shown('walrus?')).toBe('');
    const document = await store.read(`guilds/${guildId}/notes/${channelId}.json`, notesKind);
    expect(document?.notes).toEqual([]);
  });

  it('is gone from the disk where a start finishes a forgetting that cannot be undone any more [S7]', async () => {
    const { keep, ledgerOver, notes, store } = open();
    const messages = [{ channelId, messageIds: [await keep('The walrus ships on Friday')] }];
    const forgotten = { kind: 'forgotten', userId: bobId, itemIds: [], words: 'walrus', messages };
    await store.append('changes/0-left.jsonl', { ...forgotten, commandId: messageId(9000) });
    await ledgerOver([notes], undefined, undefined, { isUndoable: async () => false }).finish();
    const document = await store.read(`guilds/${guildId}/notes/${channelId}.json`, notesKind);
    expect(document?.notes).toEqual([]);
  });

  it('is what said purged words by then, and what is older than messages are kept [K11][K15]', async () => {
    const { keep, shown, ledger, notes } = open();
    const commandId = await keep('The walrus ships on Friday');
    await keep('That walrus ships on Sunday');
    await keep('The walrus is here', aliceId);
    const seal = await keep('The seal ships on Monday');
    await ledger.purge({ userId: bobId, words: 'walrus', commandId });
    // A later start may finish it.
    expect(await shown('walrus?')).toContain('Sunday');
    expect(await shown('walrus?')).toContain('is here');
    expect(await shown('walrus?')).not.toContain('Friday');
    expect(await notes.expire((each) => each === seal)).toBe(1);
    expect(await shown('seal?')).toBe('');
  });
});

it('what was edited away or deleted while it was being noted is not kept [A4]', async () => {
  const { keep, shown, recent } = open();
  recent.note({ kind: 'deleted', channelId, messageIds: [messageId(1001)] });
  recent.note({ kind: 'edited', channelId, messageId: messageId(1002), text: 'no' });
  await keep('The walrus ships on Friday');
  await keep('The walrus ships on Monday');
  await keep('The walrus ships on Tuesday');
  expect(await shown('walrus?')).toMatch(/^[^F]*Tuesday[^M]*$/u);
});

it.each(['deleted', 'edited'] as const)(
  'what is %s while it is asked whether a note may be kept is in no note [A4][B3]',
  async (kind) => {
    const { notes, ledger, shown } = open();
    const said = {
      authorId: bobId,
      author: 'Bob',
      text: 'The walrus ships on Friday',
      at: '2026-01-15T10:00:00.000Z',
    };
    const id = messageId(1001);
    const change =
      kind === 'deleted'
        ? ({ kind, channelId, messageIds: [id] } as const)
        : { kind, channelId, messageId: id, authorId: bobId, text: 'no' };
    let following: Promise<unknown> = Promise.resolve();
    await notes.keep({ guildId, channelId }, { ...said, messageId: id }, async () => {
      following = ledger.record(change);
      await setImmediate();
      return true;
    });
    await following;
    expect(await shown('walrus?')).toBe('');
    expect(await notes.list(publicPlace)).toEqual([]);
  },
);

it.each([
  ['The walrus ships', 'so THE walrus  ships then', true],
  ['The walrus ship', 'the walrus ships', false],
  ['The walrus ships', '> the walrus ships', false],
  ['The walrus ships', '`the walrus ships`', false],
  ['', 'anything', false],
])('“%s” is said in “%s”: %s [B1]', (text, message, isSaid) => {
  expect(isSaidIn(text, message)).toBe(isSaid);
});
