import { access, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { createLayers } from '../src/bot/layers.ts';
import { archivesOf } from '../src/commands/memory-export.ts';
import { loadEnvironment, readConfig, type Environment } from '../src/config/config.ts';
import { RecentChanges } from '../src/core/changes.ts';
import { createKeyedQueue } from '../src/core/keyed-queue.ts';
import { isSnowflake } from '../src/core/snowflake.ts';
import { countHoldings } from '../src/memory/holdings.ts';
import { createLogger } from '../src/observability/logger.ts';
import { createSpending } from '../src/observability/spending.ts';
import { createFileStore } from '../src/storage/files/store.ts';
import { createChannelJournal } from '../src/turn/journal.ts';

const usage = `Serves requests by letter [K11]. Stop the bot first.

npm run person -- export <user id>   writes all that is held about a person to a zip file in this folder
npm run person -- erase <user id>    erases all of it, at once and for good`;

/** What is the caller's to mend. */
const badRequest = 2;

const clock = () => new Date();

/** The person's memory, with the store for this process alone; the bot itself is not there. */
async function openMemory(environment: Environment) {
  const { config } = readConfig(environment);
  const logger = createLogger({ level: 'warn' });
  const dataDir = resolve(config.storage.dataDir);
  await access(dataDir).catch(() => {
    throw new RangeError(`There is no data folder at ${dataDir}.`);
  });
  const store = await createFileStore({ ...config.storage, clock, logger });
  const recent = new RecentChanges();
  const journal = createChannelJournal({ store, changes: recent });
  const memory = createLayers(config, {
    store,
    model: { isOffline: true, complete: () => Promise.reject(new Error('No model is asked')) },
    recent,
    writes: createKeyedQueue(),
    answers: {
      ...journal,
      async erase(userId, before) {
        for (const { place, replyIds } of await journal.erase(userId, before))
          await journal.hide(place.channelId, replyIds);
      },
    },
    server: { count: () => 0 },
    costs: createSpending({
      store,
      clock,
      timer: () => () => {},
      timeZone: config.timeZone,
      limits: {},
      tellOwner: () => Promise.resolve(),
      logger,
    }).layer,
    wakeAt: () => {},
    timer: () => () => {},
    changed: () => {},
    endWork: () => {},
    clock,
    logger,
  });
  return { store, memory };
}

/**
 * What the script prints for these words of its command line.
 * @throws {RangeError} that says what is wrong with them; `StoreError` where the bot runs, or the disk refuses.
 */
async function runPerson(words: readonly string[], environment: Environment): Promise<string> {
  const [wish, userId = '', ...more] = words;
  if ((wish !== 'export' && wish !== 'erase') || more.length > 0) throw new RangeError(usage);
  if (!isSnowflake(userId))
    throw new RangeError(`"${userId}" is no Discord user id, such as 140000000000000001.\n\n${usage}`);
  const { store, memory } = await openMemory(environment);
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
    await store.close();
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
