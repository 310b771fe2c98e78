import { mkdtemp, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { openMemory } from '../../src/bot/memory-alone.ts';
import { ask, openStage, startFloor, startOurs, type StartBot } from './bots.ts';
import { timeOf, type Bench, type Subject } from './measured.ts';
import { openFiles, place, sentence, userId, writeItems } from './person.ts';
import { beginningNow } from '../../src/core/writes.ts';

const rounds = 7;
const remembersARound = 20;
const items = 200;
/** Who remember at once in a store, and by messages: discord.js sends fifty requests a second at most. */
const crowd = 1000;
const talkers = 43;
/** Until discord.js may send as many again; milliseconds. */
const restMs = 1100;

/** How long it takes until what was to be remembered is on disk, by the memory alone, and by messages to the bot. */
export async function benchRemembering(bench: Bench): Promise<void> {
  await bench.compare({
    rows: {
      one: [`remember, one person with ${items} items`, 'ms', 'at most 10 ×'],
      crowd: [`remember, each of ${crowd} people at once`, 'ms', 'at most 3.3 ms'],
    },
    rounds,
    ours: await rememberers(),
    floor: { name: 'a synced line', subject: await syncedLines() },
  });
  await bench.compare({
    rows: { all: [`${talkers} people at once by message, documents on disk`, 'ms', 'at most 700 ms, 8 ×'] },
    rounds,
    ours: await talkersOf(startOurs),
    floor: { name: 'a bot that syncs a line and answers', subject: await talkersOf(startFloor) },
  });
}

async function syncedLines(): Promise<Subject<'one' | 'crowd'>> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-lines-'));
  const file = await open(join(folder, 'bare.jsonl'), 'a');
  return {
    async sample() {
      const time = await timeOf(async () => {
        for (let line = 0; line < remembersARound; line += 1) {
          await file.appendFile(`${JSON.stringify({ text: sentence(line, 12) })}\n`);
          await file.datasync();
        }
      });
      return { one: time / remembersARound, crowd: time / remembersARound };
    },
    close: () => file.close(),
  };
}

/** Has a folder hold items of people, before a bot is there. */
async function fill(folder: string, people: readonly string[]): Promise<void> {
  const store = await openFiles(folder);
  for (const person of people) await writeItems(store, person, items);
  await store.close();
}

async function rememberers(): Promise<Subject<'one' | 'crowd'>> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-remember-'));
  const people = Array.from({ length: crowd }, (_, index) =>
    String(300_000_000_000_000_000n + BigInt(index)),
  );
  await fill(folder, [userId, ...people]);
  const { memory, close } = await openMemory({
    DISCOCLAW_DATA_DIR: join(folder, 'data'),
    DISCOCLAW_WORKSPACE_DIR: join(folder, 'workspace'),
    DISCOCLAW_DURABLE_MAX_ITEMS: '1000',
  });
  let last = 0;
  const remember = (person: string) => {
    last += 1;
    const messageId = String(400_000_000_000_000_000n + BigInt(last));
    const input = { text: sentence(last, 11), place, messageId, type: 'manual' } as const;
    return memory.durable.remember(beginningNow(person), input);
  };
  return {
    async sample() {
      const one = await timeOf(async () => {
        for (let count = 0; count < remembersARound; count += 1) await remember(userId);
      });
      const all = await timeOf(() => Promise.all(people.map(remember)));
      return { one: one / remembersARound, crowd: all / crowd };
    },
    close,
  };
}

/** Others each round, whose documents the bot has not read yet. */
async function talkersOf(start: StartBot): Promise<Subject<'all'>> {
  const { sandbox, folder } = await openStage();
  const waves: string[][] = [];
  const ids: string[] = [];
  for (let wave = 0; wave <= rounds; wave += 1) {
    const names = Array.from({ length: talkers }, (_, index) => `person${wave}_${index}`);
    for (const name of names) ids.push((await sandbox.addPerson({ name })).id);
    waves.push(names);
  }
  await fill(folder, ids);
  const bot = await start({ sandbox, folder });
  return {
    async sample(round) {
      const names = waves[round + 1] ?? [];
      const all = await timeOf(() =>
        Promise.all(names.map((name) => ask(sandbox, name, `!memory remember I own kettle ${name}`))),
      );
      await setTimeout(restMs);
      return { all };
    },
    async close() {
      await bot.stop();
      await sandbox.close();
    },
  };
}
