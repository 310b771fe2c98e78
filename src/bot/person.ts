import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import { archivesOf } from '../commands/memory-export.ts';
import type { Environment } from '../config/config.ts';
import { isSnowflake } from '../core/snowflake.ts';
import { countHoldings } from '../memory/holdings.ts';
import { RequestError } from './command-line.ts';
import { openMemory } from './memory-alone.ts';

const clock = () => new Date();

/** `npm run person -- export|erase USER`: requests by letter, while the bot does not run [K11]. @throws {RequestError} @throws {StoreError} */
export async function runPerson(wish: string, userId: string, environment: Environment): Promise<void> {
  if (wish !== 'export' && wish !== 'erase') throw new RequestError(`Say export or erase, not "${wish}".`);
  if (!isSnowflake(userId))
    throw new RequestError(`"${userId}" is not a Discord user id, such as 140000000000000001.`);
  const { memory, close } = await openMemory(environment);
  try {
    await memory.changes.finish();
    if (wish === 'erase') {
      const { items, messages, notes } = await countHoldings(userId, memory);
      const failures = await memory.changes.erase(userId, clock().toISOString());
      if (failures.size > 0)
        throw new RequestError('Not all of it could be erased; the next start of the bot goes on with it.');
      process.stdout.write(
        `Erased: ${items} items, ${messages} messages, ${notes} notes, and the settings.\n`,
      );
      return;
    }
    for (const { name, bytes } of await archivesOf(memory.layers, userId, clock().toISOString())) {
      // Another person's of the same day has the same name.
      const path = resolve(`${userId}-${name}`);
      await writeFile(path, bytes, { mode: 0o600 });
      process.stdout.write(`${path}\n`);
    }
  } finally {
    await close();
  }
}
