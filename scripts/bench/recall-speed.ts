import { snowflakeAt } from '../../src/core/snowflake.ts';
import { createMessageSource } from '../../src/memory/recall/messages.ts';
import { createRecall } from '../../src/memory/recall/recall.ts';
import { logKey } from '../../src/memory/log/session-state.ts';
import { dmOf, heapMegabytes, median, print, search, timeZone, userIdOf, withLog } from './recall-bench.ts';

/** Words as often as in real language: the n-th most frequent one n times more seldom than the first. */
function syntheticText(random: () => number): string {
  const length = 5 + Math.floor(random() * 25);
  return Array.from({ length }, () => syntheticWord(random)).join(' ');
}

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

/** Times the index and queries over made-up messages of one person. */
export async function benchSpeed(count: number): Promise<void> {
  await withLog(async (log, store) => {
    const random = sameRandom();
    const userId = userIdOf(0);
    const place = dmOf(userId);
    const session = { channelId: place.channelId, userId };
    const start = Date.UTC(2025, 0, 1);
    const sizeOfBatch = 1000;
    for (let first = 0; first < count; first += sizeOfBatch) {
      const size = Math.min(sizeOfBatch, count - first);
      // Straight into the log's file: writing them one by one as turns takes minutes and is not what is measured.
      await Promise.all(
        Array.from({ length: size }, (_, offset) => {
          const time = new Date(start + (first + offset) * 5 * 60_000);
          const id = snowflakeAt(time);
          const isBot = (first + offset) % 2 === 1;
          return store.append(logKey(session), {
            type: 'message',
            id,
            at: time.toISOString(),
            text: syntheticText(random),
            attachments: [],
            visibility: 'dm',
            homeId: place.homeId,
            ...(isBot
              ? { role: 'assistant', author: 'Discoclaw', ids: [id], replyTo: [] }
              : { role: 'user', author: 'Alice', authorId: userId }),
          });
        }),
      );
    }
    const before = await heapMegabytes();
    const recall = createRecall({ sources: [createMessageSource(log)], timeZone });
    const built = performance.now();
    await search(recall, userId, 'x');
    print(`indexing ${count} messages: ${(performance.now() - built).toFixed(0)} ms`);
    print(`the index takes ${(await heapMegabytes()) - before} MB`);
    const times: number[] = [];
    for (let query = 0; query < 200; query += 1) {
      const words = Array.from({ length: 6 }, () => syntheticWord(random)).join(' ');
      const asked = performance.now();
      await search(recall, userId, words);
      times.push(performance.now() - asked);
    }
    const slowest = Math.max(...times).toFixed(2);
    print(`a query of six words: ${median(times).toFixed(2)} ms (median), ${slowest} ms (slowest)`);
  });
}
