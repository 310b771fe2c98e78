import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openMemory } from '../../src/bot/memory-alone.ts';
import { unconditional } from '../../src/core/writes.ts';
import { tell, timeOf } from './measured.ts';
import { dmOf, userIdOf } from './memory.ts';

const rounds = 7;
const remembersARound = 20;
const items = 200;
/** Who remember at once. */
const crowd = 1000;

/** How long it takes until what was to be remembered is on disk, by the memory alone. */
export async function benchRemembering(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-remember-'));
  const { memory, close } = await openMemory({
    DISCOCLAW_DATA_DIR: join(folder, 'data'),
    DISCOCLAW_WORKSPACE_DIR: join(folder, 'workspace'),
    DISCOCLAW_DURABLE_MAX_ITEMS: '1000',
  });
  let last = 0;
  const remember = (person: string) => {
    last += 1;
    const messageId = String(400_000_000_000_000_000n + BigInt(last));
    const text = `I own kettle number ${last}, and it whistles in a tune of its own`;
    const input = { text, place: dmOf(person), messageId, type: 'manual' } as const;
    return memory.durable.remember(unconditional(person), input);
  };
  const [first = '', ...others] = Array.from({ length: crowd + 1 }, (_, index) => userIdOf(index));
  for (let count = 0; count < items; count += 1) await remember(first);
  const [one, all] = [[], []] as [number[], number[]];
  for (let round = -1; round < rounds; round += 1) {
    const alone = await timeOf(async () => {
      for (let count = 0; count < remembersARound; count += 1) await remember(first);
    });
    const together = await timeOf(() => Promise.all(others.map(remember)));
    if (round < 0) continue;
    one.push(alone / remembersARound);
    all.push(together / crowd);
  }
  tell([`remember, one person with ${items} items`, 'ms'], one);
  tell([`remember, each of ${crowd} people at once`, 'ms'], all);
  await close();
}
