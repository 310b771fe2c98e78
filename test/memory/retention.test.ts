import fc from 'fast-check';
import { expect, it } from 'vitest';

import { readConfig } from '../../src/config/config.ts';
import { StoreError } from '../../src/core/errors.ts';
import type { ChatMessage } from '../../src/core/message.ts';
import { noUsage } from '../../src/core/model.ts';
import type { Place } from '../../src/core/place.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { unconditional } from '../../src/core/writes.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { layersAlone } from '../support/layers-alone.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { runs } from '../support/runs.ts';
import { inputOf } from '../support/scripted-model.ts';
import { channel, dmPlace, silent, startTime } from '../support/sessions.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
const work = unconditional(aliceId);
const places: readonly Place[] = [publicPlace, channel('other', '200000000000000077'), dmPlace];
const { signal } = new AbortController();

interface Said {
  /** How long ago, in hours. */
  readonly hours: number;
  readonly place: Place;
  readonly word: string;
}

/** All memory of a bot that keeps messages for so many days. */
function open(days: number) {
  const store = new MemoryStore();
  const time = { now: startTime };
  const timer = new ManualTimer();
  const { config } = readConfig({
    DISCOCLAW_TIMEZONE: 'UTC',
    DISCOCLAW_RETENTION_DAYS: String(days),
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
    DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
    DISCOCLAW_SHORTTERM_MAX_AGE_HOURS: '10000',
  });
  const memory = layersAlone(config, {
    store,
    clock: () => new Date(time.now),
    timer: timer.set,
    logger: silent,
    model: {
      isOffline: false,
      complete(request) {
        const words = new Set(inputOf(request).match(/\bz[a-z]+k\b/gu));
        const text = JSON.stringify({ summary: `Said: ${[...words].join(' ')}.` });
        return Promise.resolve({ content: [{ type: 'text', text }], stop: 'end', usage: noUsage });
      },
    },
  });

  async function say({ hours, place, word }: Said, index: number): Promise<void> {
    time.now = startTime - hours * hourMs;
    const at = new Date(time.now);
    const id = (BigInt(snowflakeAt(at)) + BigInt(2 * index)).toString();
    const context = {
      speaker: { id: aliceId, name: 'Alice', isOwner: false },
      place,
      messages: [{ id, text: `I saw a ${word} today`, at: at.toISOString(), attachments: [] }],
      now: at,
      hasThirdPartyText: false,
      work,
    };
    await memory.sessionLog.recordUser(context);
    const reply = { ids: [(BigInt(id) + 1n).toString()], text: `A ${word}, well.`, at: at.toISOString() };
    await memory.sessionLog.recordReply(context, reply);
    const { channelId } = place;
    for (const layer of [memory.shortTerm, memory.rolling])
      await layer.fold?.(aliceId, [{ channelId, userId: aliceId }], signal);
    await memory.durable.remember(work, {
      text: `Saw a ${word} once`,
      place,
      messageId: id,
      type: 'summary',
    });
    const notes = `sessions/${channelId}/${aliceId}/overview.md`;
    await store.writeText(notes, `${(await store.readText(notes)) ?? ''}- Alice saw a ${word}\n`);
    const daily = `users/${aliceId}/notebook/daily/${at.toISOString().slice(0, 10)}.md`;
    if (place === dmPlace) await store.writeText(daily, `${(await store.readText(daily)) ?? ''}- ${word}\n`);
    time.now = startTime;
  }

  async function sweep(): Promise<void> {
    memory.sweep({ ids: () => [], areKnown: () => false });
    await memory.sweeper.idle();
  }
  const items = async () => (await memory.durable.list(aliceId)).map(({ text }) => text).toSorted();
  return { store, memory, time, timer, say, sweep, items };
}

const letters = 'abcdefghij';
const wordOf = (index: number): string =>
  `z${String(index + 100).replaceAll(/\d/gu, (digit) => letters[Number(digit)] ?? '')}xk`;

const anyHistory = fc.array(fc.record({ hours: fc.integer({ min: 1, max: 24 * 60 }), at: fc.nat(2) }), {
  minLength: 1,
  maxLength: 8,
});

it('leaves no word on disk that is older than so many days and everything that is younger, though the disk came between [K15]', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, fc.integer({ min: 1, max: 60 }), fc.nat(60), async (drawn, days, left) => {
      const { store, say, sweep, items } = open(days);
      const history = drawn
        .toSorted((a, b) => b.hours - a.hours)
        .map(({ hours, at }, index) => ({ hours, place: places[at] ?? dmPlace, word: wordOf(index) }));
      for (const [index, said] of history.entries()) await say(said, index);
      const whole = await store.everything();
      expect(history.filter(({ word }) => !whole.includes(word))).toEqual([]);

      const rewrite = store.rewrite.bind(store);
      let rewrites = left;
      store.rewrite = (...all) =>
        (rewrites -= 1) < 0 ? Promise.reject(new StoreError('full', 'log')) : rewrite(...all);
      await sweep();
      store.rewrite = rewrite;
      await sweep();

      const everything = await store.everything();
      const isOld = ({ hours }: Said): boolean => hours > days * 24;
      expect(history.filter((said) => everything.includes(said.word) === isOld(said))).toEqual([]);
      const young = history.filter((said) => !isOld(said));
      expect(await items()).toEqual(young.map(({ word }) => `Saw a ${word} once`).toSorted());
    }),
    { numRuns: runs(40) },
  );
});

it('keeps items that a person asked to remember, pinned, edited or confirmed, whatever their age [K15]', async () => {
  const { memory, sweep, items } = open(30);
  const messageId = snowflakeAt(new Date(startTime - 40 * dayMs));
  const ids = new Map<string, string>();
  for (const text of ['Plays the harp', 'Lives in Oslo', 'Keeps bees', 'Likes tea', 'Owns a boat']) {
    const type = text === 'Plays the harp' ? 'manual' : 'summary';
    const id = String(BigInt(messageId) + BigInt(ids.size));
    const stored = await memory.durable.remember(work, { text, type, messageId: id, place: dmPlace });
    if (stored.outcome !== 'refused') ids.set(text, stored.item.id);
  }
  await memory.durable.confirm(work, [ids.get('Owns a boat') ?? ''], dmPlace);
  await memory.durable.setPinned(work, ids.get('Keeps bees') ?? '', true, dmPlace);
  await memory.durable.edit(work, ids.get('Likes tea') ?? '', 'Likes green tea', dmPlace, messageId);
  await sweep();
  expect(await items()).toEqual(['Keeps bees', 'Likes green tea', 'Owns a boat', 'Plays the harp']);
});

it('looks again every hour [K15]', async () => {
  const { store, memory, time, timer, say, sweep } = open(30);
  await say({ hours: 30 * 24 - 0.5, place: publicPlace, word: 'zabxk' }, 1);
  await sweep();
  expect(await store.everything()).toContain('zabxk');
  time.now += hourMs;
  timer.pass(hourMs);
  await memory.sweeper.idle();
  expect(await store.everything()).not.toContain('zabxk');
});

function messageOf(daysAgo: number): ChatMessage {
  const at = new Date(startTime - daysAgo * dayMs);
  const author = { id: aliceId, name: 'Alice', kind: 'human' } as const;
  const said = { author, text: `${daysAgo} days ago`, at: at.toISOString(), attachments: [] };
  return { id: snowflakeAt(at), channelId: publicPlace.channelId, ...said };
}

it('uses nothing of history that is too old, though it stands on Discord [K15]', async () => {
  const { retention } = open(30).memory;
  const [old, young] = [messageOf(31), messageOf(29)];
  const { channelId } = publicPlace;
  const history = retention.young({ recent: () => Promise.resolve([old, young]) });
  expect(await history.recent(channelId, 10)).toEqual([young]);
  const replied = retention.youngReplied(() => Promise.resolve('hidden'));
  expect(await replied({ id: old.id, channelId })).toBe('gone');
});
