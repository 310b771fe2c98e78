import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { snowflakeAt } from '../../src/core/snowflake.ts';
import { logKey } from '../../src/memory/log/session-state.ts';
import { createDetailSource } from '../../src/memory/recall/sources.ts';
import { createMessageSource } from '../../src/memory/recall/messages.ts';
import { createRecall } from '../../src/memory/recall/recall.ts';
import { watchEventLoop } from '../../test/support/event-loop.ts';
import type { Bench } from './measured.ts';
import { dmOf, openLog, search, timeZone, userIdOf } from './recall-bench.ts';

/** Of one person, among so many others. */
const situations = [
  { messages: 10_000, others: 60 },
  { messages: 10_000, others: 2000 },
  { messages: 100_000, others: 60 },
  { messages: 100_000, others: 2000 },
];
const starts = 7;
const searches = 300;

/** Words as often as in real language: the n-th most frequent one n times more seldom than the first. */
function syntheticWord(random: () => number): string {
  const rank = Math.floor(30_000 ** random());
  return `w${rank.toString(36)}x`;
}

/** Always the same numbers, from 0 to 1. */
function sameRandom(): () => number {
  let state = 42;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Made-up messages of a person's DM, straight into the log's file: as turns they would take minutes. */
async function writeLog(
  dataDir: string,
  userId: string,
  count: number,
  random: () => number,
): Promise<string> {
  const { channelId, homeId } = dmOf(userId);
  const path = join(dataDir, logKey({ channelId, userId }));
  const lines = Array.from({ length: count }, (_, index) => {
    const time = new Date(Date.UTC(2025, 0, 1) + index * 5 * 60_000);
    const id = snowflakeAt(time);
    const text = Array.from({ length: 5 + Math.floor(random() * 25) }, () => syntheticWord(random)).join(' ');
    const who =
      index % 2 === 1
        ? { role: 'assistant', author: 'Discoclaw', ids: [id], replyTo: [] }
        : { role: 'user', author: 'Alice', authorId: userId };
    const said = { type: 'message', id, at: time.toISOString(), text, attachments: [], ...who };
    return JSON.stringify({ sequence: index + 1, record: { ...said, visibility: 'dm', homeId } });
  });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
}

/** A person's first search after a start, and those that follow, beside reading the log's file and looking through its text for the words. */
export async function benchRecall(bench: Bench): Promise<void> {
  for (const { messages, others } of situations) {
    const folder = await mkdtemp(join(tmpdir(), 'recall-'));
    const random = sameRandom();
    const userId = userIdOf(0);
    const path = await writeLog(join(folder, 'data'), userId, messages, random);
    for (let index = 1; index <= others; index += 1)
      await writeLog(join(folder, 'data'), userIdOf(index), 20, random);
    const [first, held, later, worded, reading, looking] = [[], [], [], [], [], []] as number[][];
    for (let start = -1; start < starts; start += 1) {
      const { log, store } = await openLog(folder);
      const source = createMessageSource(log);
      const sources = [source, createDetailSource(store, log, source)];
      const recall = createRecall({ sources, timeZone });
      const stop = watchEventLoop();
      const time = await timeOf(() => search(recall, userId, new Date(), [syntheticWord(random)]));
      const { longest } = await stop();
      const text = { of: '' };
      const read = await timeOf(async () => void (text.of = await readFile(path, 'utf8')));
      if (start >= 0) {
        first?.push(time);
        held?.push(longest);
        reading?.push(read);
      }
      const searched = start === starts - 1 ? searches : 0;
      for (let count = 0; count < searched; count += 1) {
        const sixWords = () => Array.from({ length: 6 }, () => syntheticWord(random));
        const words = sixWords();
        later?.push(await timeOf(() => search(recall, userId, new Date(), [words.join(' ')])));
        const wordings = Array.from({ length: 4 }, () => sixWords().join(' '));
        worded?.push(await timeOf(() => search(recall, userId, new Date(), wordings)));
        if (count % 20 === 0)
          looking?.push(await timeOf(async () => words.map((word) => text.of.split(word).length)));
      }
      await store.close();
    }
    const of = `${messages} messages, ${others} other people`;
    const inMemory = { name: 'looking through the text', values: looking ?? [] };
    const tail = (later ?? []).toSorted((a, b) => a - b).slice(Math.floor(searches * 0.99));
    bench.tell({
      name: `first search after a start, ${of}`,
      unit: 'ms',
      ours: first ?? [],
      floor: { name: 'reading the file', values: reading ?? [] },
    });
    bench.tell({ name: `loop held meanwhile, ${of}`, unit: 'ms', ours: held ?? [] });
    bench.tell({ name: `a search of six words, ${of}`, unit: 'ms', ours: later ?? [], floor: inMemory });
    bench.tell({ name: `a search of four such wordings, ${of}`, unit: 'ms', ours: worded ?? [] });
    bench.tell({ name: `its slowest hundredth, ${of}`, unit: 'ms', ours: tail });
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
