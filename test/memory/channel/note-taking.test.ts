import { describe, expect, it } from 'vitest';

import type { ChatMessage } from '../../../src/core/chat.ts';
import { ModelError } from '../../../src/core/errors.ts';
import type { ModelRequest } from '../../../src/core/model.ts';
import { snowflakeAt } from '../../../src/core/snowflake.ts';
import { createNoteTaking, type NoteTakingOptions } from '../../../src/memory/channel/note-taking.ts';
import { FakeChannels, notesOver } from '../../support/channel-notes.ts';
import { aliceId, bobId, publicPlace } from '../../support/incoming.ts';
import { ManualTimer } from '../../support/manual-timer.ts';
import { inputOf, ScriptedModel } from '../../support/scripted-model.ts';
import { openSessions, silent } from '../../support/sessions.ts';

const { guildId = '', channelId } = publicPlace;
const idleMs = 600_000;

/** Takes each line as a note. */
function everything(request: ModelRequest): string {
  const lines = [...inputOf(request).matchAll(/\[(\d+)\] [^:]*: (.*)/gu)];
  return JSON.stringify({ notes: lines.map(([, messageId, quote]) => ({ quote, messageId })) });
}

function open(
  answer: (request: ModelRequest) => string = everything,
  changes: Partial<NoteTakingOptions> = {},
) {
  const { store, writes, recent } = openSessions();
  const channels = new FakeChannels(publicPlace);
  const notes = notesOver(store, { writes, channels, recent });
  const said: ChatMessage[] = [];
  const model = new ScriptedModel(answer);
  const timer = new ManualTimer();
  const make = () =>
    createNoteTaking({
      notes,
      history: { recent: (_channelId, limit) => Promise.resolve(said.slice(-limit)) },
      channels,
      model,
      modelName: 'haiku',
      timeZone: 'Europe/Berlin',
      people: {
        latest: () => Promise.resolve({ version: 1, greetedAt: '2026-01-01T00:00:00.000Z' }),
        mode: () => Promise.resolve('auto'),
        mayStore: () => Promise.resolve(true),
      },
      hasAccess: async () => true,
      isForgotten: () => Promise.resolve(false),
      idleMs,
      timer: timer.set,
      logger: silent,
      ...changes,
    });
  const taking = make();
  let minutes = 0;
  return {
    notes,
    model,
    timer,
    taking,
    make,
    say: (
      text: string,
      authorId = bobId,
      at = new Date(Date.UTC(2026, 0, 15, 10, (minutes += 1))),
      editedAt?: string,
    ): string => {
      const id = snowflakeAt(at);
      const author = { id: authorId, name: authorId === bobId ? 'Bob' : 'Alice', kind: 'human' } as const;
      said.push({ id, channelId, author, text, at: at.toISOString(), editedAt, attachments: [] });
      taking.onUserMessage({ guildId, channelId, messageId: id, authorId });
      return id;
    },
    quiet: async (ms = idleMs): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      timer.pass(ms);
      await taking.idle();
    },
    texts: async () => (await notes.list(publicPlace)).map(({ text }) => text).toReversed(),
  };
}

describe('a stretch of talk [B1]', () => {
  it('is read once, after quiet minutes, at the cost of its server, with three notes at most', async () => {
    const { say, quiet, texts, model } = open();
    for (const day of ['Monday', 'Tuesday', 'Friday', 'Sunday']) say(`The walrus ships on ${day}`);
    await quiet(idleMs - 1);
    expect(model.requests).toEqual([]);
    await quiet(1);
    expect(model.requests).toMatchObject([{ purpose: 'channel-notes', userId: guildId, model: 'haiku' }]);
    expect(await texts()).toEqual(['Monday', 'Tuesday', 'Friday'].map((day) => `The walrus ships on ${day}`));
    await quiet();
    expect(model.requests).toHaveLength(1);
  });

  it('is read with the date and time of each message [H3]', async () => {
    const { say, quiet, model } = open();
    const id = say('The walrus ships tomorrow', bobId, new Date('2026-01-15T23:30:00Z'));
    await quiet();
    expect(model.requests.map(inputOf).join('')).toContain(
      `- Fri 2026-01-16 00:30 [${id}] Bob: The walrus ships tomorrow\n`,
    );
  });

  it('ends after 30 messages without waiting', async () => {
    const { say, taking, model } = open();
    for (let count = 1; count <= 30; count += 1) say(`Fish number ${count} is eaten`);
    await taking.idle();
    expect(model.requests).toHaveLength(1);
  });

  it('goes on after a restart where an earlier process had read to, and never before it was switched on', async () => {
    const { say, quiet, make, timer, texts, model } = open();
    say('The penguin is old', bobId, new Date(Date.UTC(2025, 11, 31)));
    say('The walrus ships on Monday');
    await quiet();
    say('The seal ships on Friday');
    // One with other servers leaves it alone.
    const other = make();
    await other.start(() => false);
    timer.pass(idleMs);
    await other.idle();
    expect(model.requests).toHaveLength(1);
    const next = make();
    await next.start((id) => id === guildId);
    timer.pass(idleMs);
    await next.idle();
    expect(model.requests.map(inputOf).join('')).not.toContain('penguin');
    expect(await texts()).toEqual(['The walrus ships on Monday', 'The seal ships on Friday']);
  });

  it('is tried again where the model fails, and passed over after three unusable answers', async () => {
    let failures = 0;
    const failing = open(() => {
      failures += 1;
      throw new ModelError('busy', failures < 3 ? 'unavailable' : 'invalid');
    });
    failing.say('The walrus ships on Monday');
    for (let round = 0; round < 8; round += 1) await failing.quiet();
    expect(failures).toBe(5);
    failing.say('The seal ships on Friday');
    await failing.quiet();
    expect(failing.model.requests.map(inputOf).at(-1)).not.toContain('walrus');
  });
});

const mayStore = () => Promise.resolve(true);
const greeted = () => Promise.resolve({ version: 1, greetedAt: '2026-01-01T00:00:00.000Z' } as const);
const people = { latest: greeted, mode: () => Promise.resolve('auto' as const), mayStore };
describe('a note of talk [B1]', () => {
  it.each([
    ['what nobody said', 'The walrus was cancelled'],
    ['what somebody else said', 'The seal ships on Friday'],
    ['a secret', 'my password is hunter2horse'],
    ['hardly a word', 'Yes'],
  ])('is never %s', async (_what, quote) => {
    let messageId = '';
    const { say, quiet, texts } = open(() => JSON.stringify({ notes: [{ quote, messageId }] }));
    messageId = say('Yes. The walrus ships on Monday, my password is hunter2horse');
    say('The seal ships on Friday', aliceId);
    await quiet();
    expect(await texts()).toEqual([]);
  });

  it.each<[string, Partial<NoteTakingOptions>]>([
    ['has no access', { hasAccess: async (id) => id !== bobId }],
    [
      'never had the first words',
      { people: { ...people, latest: async (id) => (id === bobId ? { version: 1 } : greeted()) } },
    ],
    ['has paused', { people: { ...people, mayStore: async ({ userId }) => userId !== bobId } }],
    ['is in mode off', { people: { ...people, mode: async (id) => (id === bobId ? 'off' : 'auto') } }],
    ['wants to be asked', { people: { ...people, mode: async (id) => (id === bobId ? 'ask' : 'auto') } }],
    ['had it forgotten', { isForgotten: async (id) => id === bobId }],
  ])('is of nobody who %s: the model does not even read them [B3]', async (_who, changes) => {
    const { say, quiet, texts, model } = open(everything, changes);
    say('The walrus ships on Monday');
    say('The seal ships on Friday', aliceId);
    await quiet();
    expect(await texts()).toEqual(['The seal ships on Friday']);
    expect(model.requests.map(inputOf).join('')).not.toContain('walrus');
  });

  it('is not of what was edited in a pause that is over [K9]', async () => {
    const editedAt = '2026-01-16T10:00:00.000Z';
    const wasPaused = (at?: Date) => at?.toISOString() === editedAt;
    const { say, quiet, texts } = open(everything, {
      people: { ...people, mayStore: async (_session, at) => !wasPaused(at) },
    });
    say('The walrus ships on Monday', bobId, new Date('2026-01-15T10:00:00Z'), editedAt);
    say('The seal ships on Friday', aliceId);
    await quiet();
    expect(await texts()).toEqual(['The seal ships on Friday']);
  });
});
