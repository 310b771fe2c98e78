import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { snowflakeAt } from '../../src/core/snowflake.ts';
import { sentencesQuoted, stillSays } from '../../src/memory/durable/evidence.ts';
import { isWorthKeeping } from '../../src/memory/durable/extraction.ts';
import { manyShapes, shaped } from '../../test/support/shapes.ts';
import { tell, timeOf } from './measured.ts';
import { openLog, userIdOf } from './memory.ts';

/** Characters of a message with Nitro. */
const longest = 4000;
const rounds = 5;
const people = 1000;

/** How long one message holds the bot that a model quotes whole, and how long it takes until a deletion has found whom it concerns. */
export async function benchLargest(): Promise<void> {
  let slowest = 0;
  for (const shape of manyShapes)
    slowest = Math.max(slowest, await timeOf(async () => read(shaped(shape, longest))));
  tell(
    [`quoted whole, ${manyShapes.length} shapes of ${longest} characters, the slowest`, 'ms', '200'],
    [slowest],
  );
  for (const count of [1, people]) {
    const [first, later] = await deletions(count);
    tell([`a deletion among ${count} people, the first after a start`, 'ms'], first);
    tell(['the same, a later one', 'ms', '50'], later);
  }
}

function read(text: string): void {
  const taken = sentencesQuoted(text, text) ?? text;
  stillSays(taken, text);
  isWorthKeeping({ text: taken, message: text, question: undefined, day: undefined, today: '2026-01-15' });
}

async function deletions(
  count: number,
): Promise<readonly [first: readonly number[], later: readonly number[]]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-deletions-'));
  const channelId = '600000000000000009';
  const place = { audience: 'public', channelId, homeId: channelId, guildId: '1100000000000000001' } as const;
  const before = await openLog(folder);
  const now = new Date();
  for (let index = 0; index < count; index += 1) {
    const message = {
      id: snowflakeAt(new Date(now.getTime() + index)),
      text: 'Hello.',
      at: now.toISOString(),
      attachments: [],
    };
    const speaker = { id: userIdOf(index), name: 'Alice', isOwner: false };
    await before.log.recordUser({
      speaker,
      place,
      messages: [message],
      now,
      hasThirdPartyText: false,
      startedAfter: undefined,
    });
  }
  await before.store.close();
  const [first, later] = [[], []] as [number[], number[]];
  const change = { kind: 'deleted', channelId, messageIds: [snowflakeAt(now)] } as const;
  for (let round = 0; round < rounds; round += 1) {
    const { log, store } = await openLog(folder);
    for (const times of [first, later]) times.push(await timeOf(() => log.sessionsOf(change)));
    await store.close();
  }
  return [first, later];
}
