import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { archivesOf } from '../src/commands/memory-export.ts';
import { loadEnvironment, type Environment } from '../src/config/config.ts';
import { openMemory } from '../src/bot/memory-alone.ts';
import { isSnowflake } from '../src/core/snowflake.ts';
import { countHoldings } from '../src/memory/holdings.ts';

const usage = `Serves requests by letter [K11]. Stop the bot first.

npm run person -- export <user id>   writes all that is held about a person to a zip file in this folder
npm run person -- erase <user id>    erases all of it, at once and for good`;

/** What is the caller's to mend. */
const badRequest = 2;

const clock = () => new Date();

/**
 * What the script prints for these words of its command line.
 * @throws {RangeError} that says what is wrong with them; `StoreError` where the bot runs, or the disk refuses.
 */
export async function runPerson(words: readonly string[], environment: Environment): Promise<string> {
  const [wish, userId = '', ...more] = words;
  if ((wish !== 'export' && wish !== 'erase') || more.length > 0) throw new RangeError(usage);
  if (!isSnowflake(userId))
    throw new RangeError(`"${userId}" is not a Discord user id, such as 140000000000000001.\n\n${usage}`);
  const { memory, close } = await openMemory(environment);
  try {
    await memory.changes.finish();
    if (wish === 'erase') {
      const { items, messages, notes } = await countHoldings(userId, memory);
      const failures = await memory.changes.erase(userId, clock().toISOString());
      if (failures.size > 0)
        throw new RangeError('Not all of it could be erased; the next start of the bot goes on with it.');
      return `Erased: ${items} items, ${messages} messages, ${notes} notes, and the settings.\n`;
    }
    const archives = await archivesOf(memory.layers, userId, clock().toISOString());
    for (const { name, bytes } of archives) await writeFile(name, bytes, { mode: 0o600 });
    return archives.map(({ name }) => `${resolve(name)}\n`).join('');
  } finally {
    await close();
  }
}

async function main(): Promise<void> {
  try {
    process.stdout.write(await runPerson(process.argv.slice(2), loadEnvironment()));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = badRequest;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
