import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { snowflakeAt } from '../../src/core/snowflake.ts';
import { logKey } from '../../src/memory/log/session-state.ts';
import { createDetailSource, createMessageSource } from '../../src/memory/recall/sources.ts';
import { createRecall } from '../../src/memory/recall/recall.ts';
import { watchEventLoop } from '../../test/support/event-loop.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { tell, timeOf } from './measured.ts';
import { dmOf, openLog, timeZone, userIdOf } from './memory.ts';

/** Of one person, among so many others with twenty each. */
const messages = 100_000;
const others = 60;
const starts = 5;
const searches = 300;

/** A person's first search after a start, and those that follow. */
export async function benchRecall(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'recall-'));
  const random = seededRandom(42);
  for (let index = 0; index <= others; index += 1)
    await writeLog(join(folder, 'data'), userIdOf(index), index === 0 ? messages : 20, random);
  const query = () => Array.from({ length: 6 }, () => syntheticWord(random)).join(' ');
  const [first, held, later] = [[], [], []] as [number[], number[], number[]];
  for (let start = 0; start < starts; start += 1) {
    const { log, store } = await openLog(folder);
    const source = createMessageSource(log);
    const recall = createRecall({ sources: [source, createDetailSource(store, log)], timeZone });
    const asker = { speaker: { id: userIdOf(0), isOwner: false }, place: dmOf(userIdOf(0)), now: new Date() };
    const wish = { ...asker, scope: 'messages', limit: 15, excluded: [] } as const;
    const find = () => recall.search({ ...wish, queries: [query()] });
    const stop = watchEventLoop();
    first.push(await timeOf(find));
    held.push((await stop()).longest);
    for (let count = 0; count < searches; count += 1) later.push(await timeOf(find));
    await store.close();
  }
  tell([`first search of ${messages} messages`, 'ms', 'at most 2,500 ms'], first);
  tell(['loop held meanwhile', 'ms', 'at most 200 ms'], held);
  tell(['a search of six words later', 'ms', 'at most 12 ms'], later);
}

/** Words as often as in real language: the n-th most frequent one n times more seldom than the first. */
function syntheticWord(random: () => number): string {
  const rank = Math.floor(30_000 ** random());
  return `w${rank.toString(36)}x`;
}

/** Made-up messages of a person's DM, straight into the log's file: as turns they would take minutes. */
async function writeLog(dataDir: string, userId: string, count: number, random: () => number): Promise<void> {
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
}
