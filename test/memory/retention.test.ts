import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { expect, it } from 'vitest';

import { createOneProcess } from '../../src/core/processes.ts';
import type { ChatMessage } from '../../src/core/message.ts';
import type { Place } from '../../src/core/place.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { localDateTime } from '../../src/core/time.ts';
import type { ChangeLedger } from '../../src/memory/changes.ts';
import { createDurableMemory, type DurableMemory } from '../../src/memory/durable/durable-memory.ts';
import { sessionFolder } from '../../src/memory/log/session-state.ts';
import { createNotebook } from '../../src/memory/notebook/notebook.ts';
import { createMessageSource } from '../../src/memory/recall/sources.ts';
import { createRecall } from '../../src/memory/recall/recall.ts';
import { createRetention, tooOld } from '../../src/memory/retention.ts';
import { createSweeper } from '../../src/memory/sweeper.ts';
import { createRollingSummary } from '../../src/memory/rolling/rolling-summary.ts';
import { createShortTerm } from '../../src/memory/short-term/short-term.ts';
import type { FileSystem } from '../../src/storage/files/file-system.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import { createObservedFileSystem, diskError } from '../storage/files/observed-file-system.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import {
  durableSettings,
  notebookSettings,
  rollingSettings,
  shortTermSettings,
} from '../support/layer-settings.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { inputOf, ScriptedModel } from '../support/scripted-model.ts';
import { channel, dmPlace, openSessions, silent, startTime, inZone } from '../support/sessions.ts';
import { filesBelow } from './changes-scene.ts';
import { runs } from '../support/runs.ts';
import { unconditional } from '../../src/core/writes.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
const places: readonly Place[] = [publicPlace, channel('other', '200000000000000077'), dmPlace];
const { signal } = new AbortController();

interface Said {
  /** How long ago, in hours. */
  readonly hours: number;
  readonly place: Place;
  readonly word: string;
}

/** Memory over the files of a folder, with what keeps it young. */
async function openMemory(folder: string, days: number, fileSystem?: FileSystem) {
  const store = await createFileStore({
    dataDir: join(folder, 'data'),
    workspaceDir: join(folder, 'workspace'),
    clock: () => new Date(startTime),
    logger: silent,
    ...(fileSystem === undefined ? {} : { fileSystem }),
  });
  await store.removeLeftovers();
  const sessions = openSessions(store);
  const { writes, clock, log, states } = sessions;
  const common = {
    store,
    writes,
    clock,
    log,
    states,
    timeZone: 'UTC',
    timeZoneOf: inZone('UTC'),
    logger: silent,
  };
  const shortTerm = createShortTerm({ ...common, settings: { ...shortTermSettings, maxAgeHours: 100_000 } });
  const model = new ScriptedModel((request) => {
    const words = new Set(inputOf(request).match(/\bz[a-z]+k\b/gu));
    return `Said: ${[...words].join(' ')}.`;
  });
  const rolling = createRollingSummary({
    ...common,
    settings: { ...rollingSettings, enabled: true, everyTurns: 1 },
    withPauses: (_, work) => work(),
    model,
  });
  const durable: DurableMemory = createDurableMemory({
    ...common,
    settings: durableSettings,
    forgetting: sessions.forgettingOver([]),
  });
  const notebook = createNotebook({ ...common, settings: notebookSettings });
  const recall = createRecall({ sources: [createMessageSource(log)], timeZone: 'UTC' });
  const ledger: ChangeLedger = sessions.ledgerOver([shortTerm, rolling, durable, notebook, recall]);
  const timer = new ManualTimer();
  const retention = createRetention(days, clock);
  const row = tooOld({
    retention,
    store,
    writes,
    log,
    changes: ledger,
    durable,
    layers: [shortTerm, rolling, notebook, recall, log],
    dropAnswers: () => Promise.resolve(),
    timeZone: 'UTC',
    logger: silent,
  });
  const sweeper = createSweeper({
    store,
    log,
    locks: createOneProcess().locks,
    timer: timer.set,
    logger: silent,
  });

  async function say({ hours, place, word }: Said, index: number): Promise<void> {
    const at = new Date(startTime - hours * 60 * 60_000);
    const id = (BigInt(snowflakeAt(at)) + BigInt(2 * index)).toString();
    const answerId = (BigInt(id) + 1n).toString();
    sessions.time.now = at.getTime();
    const context = {
      speaker: { id: aliceId, name: 'Alice', isOwner: false },
      place,
      messages: [{ id, text: `I saw a ${word} today`, at: at.toISOString(), attachments: [] }],
      now: at,
      hasThirdPartyText: false,
      work: { userId: aliceId },
    };
    await log.recordUser(context);
    await log.recordReply(context, { ids: [answerId], text: `A ${word}, well.`, at: at.toISOString() });
    const { channelId } = place;
    for (const layer of [shortTerm, rolling])
      await layer.fold?.(aliceId, [{ channelId, userId: aliceId }], signal);
    await durable.remember(unconditional(aliceId), {
      text: `Saw a ${word} once`,
      place,
      messageId: id,
      type: 'summary',
    });
    const notes = `${sessionFolder({ channelId, userId: aliceId })}/overview.md`;
    await store.writeText(notes, `${(await store.readText(notes)) ?? ''}- Alice saw a ${word}\n`);
    if (place === dmPlace) {
      const daily = `users/${aliceId}/notebook/daily/${localDateTime(at, 'UTC').slice(0, 10)}.md`;
      await store.writeText(daily, `${(await store.readText(daily)) ?? ''}- ${word}\n`);
    }
    sessions.time.now = startTime;
  }

  async function search(word: string): Promise<string> {
    const speaker = { id: aliceId, name: 'Alice', isOwner: false };
    const asked = {
      queries: [word],
      scope: 'messages',
      limit: 5,
      speaker,
      place: dmPlace,
      excluded: [],
    } as const;
    const found = await recall.search({ ...asked, now: clock() });
    return found.map(({ unit }) => unit.text).join('\n');
  }

  async function pass(): Promise<void> {
    await ledger.finish();
    sweeper.start(days > 0 ? { row } : {});
    await sweeper.idle();
  }

  return { store, durable, retention, sweeper, timer, time: sessions.time, say, search, pass };
}

/** What a process does that may die of its disk. */
async function passAndClose(folder: string, days: number, fileSystem: FileSystem): Promise<void> {
  const memory = await openMemory(folder, days, fileSystem);
  await memory.pass();
  await memory.store.close();
}

function openFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'discoclaw-retention-'));
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

function filesWith(folder: string, word: string): readonly string[] {
  return [...filesBelow(folder)].flatMap(([path, text]) => (text.includes(word) ? [path] : []));
}

const letters = 'abcdefghij';
const wordOf = (index: number): string =>
  `z${String(index + 100).replaceAll(/\d/gu, (digit) => letters[Number(digit)] ?? '')}xk`;

const anyHistory = fc.array(fc.record({ hours: fc.integer({ min: 1, max: 24 * 60 }), at: fc.nat(2) }), {
  minLength: 1,
  maxLength: 8,
});

/** What stands on disk and what search finds, of what is too old and of the rest. */
it('leaves no word on disk that is older than so many days and everything that is younger, through kills [K15]', async () => {
  let kills = 0;
  await fc.assert(
    fc.asyncProperty(
      anyHistory,
      fc.integer({ min: 1, max: 60 }),
      fc.nat(400),
      async (drawn, days, diesAfter) => {
        using scene = openFolder();
        const { folder } = scene;
        const history = drawn
          .toSorted((a, b) => b.hours - a.hours)
          .map(({ hours, at }, index) => ({ hours, place: places[at] ?? dmPlace, word: wordOf(index) }));
        const before = await openMemory(folder, 0);
        for (const [index, said] of history.entries()) await before.say(said, index);
        await before.pass();
        await before.store.close();
        for (const { word } of history) expect(filesWith(folder, word)).not.toEqual([]);

        let left = diesAfter;
        const dying = createObservedFileSystem(() => ((left -= 1) > 0 ? 'works' : diskError('EIO')));
        await passAndClose(folder, days, dying).catch(() => undefined);
        if (left <= 0) kills += 1;
        for (const name of readdirSync(join(folder, 'data')))
          if (name.startsWith('.owner-')) rmSync(join(folder, 'data', name), { force: true });

        const after = await openMemory(folder, days);
        await after.pass();
        const isOld = ({ hours }: Said): boolean => hours > days * 24;
        for (const { word } of history.filter((said) => !isOld(said)))
          expect(await after.search(word)).toContain(word);
        for (const { word } of history.filter(isOld)) expect(await after.search(word)).not.toContain(word);
        const leaks = history.filter(isOld).flatMap(({ word }) => filesWith(folder, word));
        const items = (await after.durable.list(aliceId)).map(({ text }) => text);
        await after.store.close();
        expect(leaks).toEqual([]);
        expect(items.toSorted()).toEqual(
          history.flatMap((said) => (isOld(said) ? [] : [`Saw a ${said.word} once`])).toSorted(),
        );
      },
    ),
    { numRuns: runs(25) },
  );
  expect(kills).toBeGreaterThan(runs(25) / 5);
});

it('keeps items that a person asked to remember, pinned, edited or confirmed, whatever their age [K15]', async () => {
  using scene = openFolder();
  const memory = await openMemory(scene.folder, 30);
  const messageId = snowflakeAt(new Date(startTime - 40 * dayMs));
  let said = 0;
  const remember = (text: string, type: 'manual' | 'summary') => {
    const saidIn = { messageId: String(BigInt(messageId) + BigInt((said += 1))), place: dmPlace };
    return memory.durable.remember(unconditional(aliceId), { text, type, ...saidIn });
  };
  await remember('Plays the harp', 'manual');
  await remember('Lives in Oslo', 'summary');
  await remember('Keeps bees', 'summary');
  await remember('Likes tea', 'summary');
  await remember('Owns a boat', 'summary');
  const idOf = async (text: string) =>
    (await memory.durable.list(aliceId)).find((item) => item.text === text)?.id ?? '';
  await memory.durable.confirm(unconditional(aliceId), [await idOf('Owns a boat')], dmPlace);
  await memory.durable.setPinned(unconditional(aliceId), await idOf('Keeps bees'), true, dmPlace);
  await memory.durable.edit(
    unconditional(aliceId),
    await idOf('Likes tea'),
    'Likes green tea',
    dmPlace,
    messageId,
  );
  await memory.pass();
  const texts = (await memory.durable.list(aliceId)).map(({ text }) => text);
  await memory.store.close();
  expect(texts.toSorted()).toEqual(['Keeps bees', 'Likes green tea', 'Owns a boat', 'Plays the harp']);
});

it('looks again every hour [K15]', async () => {
  using scene = openFolder();
  const memory = await openMemory(scene.folder, 30);
  const word = wordOf(1);
  await memory.say({ hours: 30 * 24 - 0.5, place: publicPlace, word }, 1);
  await memory.pass();
  expect(await memory.search(word)).toContain(word);
  memory.time.now += hourMs;
  memory.timer.pass(hourMs);
  await memory.sweeper.idle();
  expect(await memory.search(word)).toBe('');
  await memory.store.close();
  expect(filesWith(scene.folder, word)).toEqual([]);
});

function messageOf(daysAgo: number): ChatMessage {
  return {
    id: snowflakeAt(new Date(startTime - daysAgo * dayMs)),
    channelId: publicPlace.channelId,
    author: { id: aliceId, name: 'Alice', kind: 'human' },
    text: `${daysAgo} days ago`,
    at: new Date(startTime - daysAgo * dayMs).toISOString(),
    attachments: [],
  };
}

it('uses nothing of history that is too old, though it stands on Discord [K15]', async () => {
  using scene = openFolder();
  const memory = await openMemory(scene.folder, 30);
  const standing = [messageOf(31), messageOf(29)];
  const young = memory.retention.young({ recent: () => Promise.resolve(standing) });
  expect((await young.recent(publicPlace.channelId, 10)).map(({ text }) => text)).toEqual(['29 days ago']);
  const [old] = standing;
  const replied = memory.retention.youngReplied(() => Promise.resolve('hidden'));
  expect(await replied({ id: old?.id ?? '', channelId: publicPlace.channelId })).toBe('gone');
  await memory.store.close();
});
