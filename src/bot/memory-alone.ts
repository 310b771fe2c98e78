import { resolve } from 'node:path';

import writeFileAtomic from 'write-file-atomic';

import { archivesOf } from '../commands/memory-data.ts';
import { readConfig, type Environment } from '../config/config.ts';
import { RecentChanges } from '../core/changes.ts';
import { createOneProcess } from '../core/processes.ts';
import { isSnowflake } from '../core/snowflake.ts';
import { countHoldings } from '../memory/holdings.ts';
import { queuedNamesOf } from '../memory/reminders/reminders.ts';
import { createLogger } from '../observability/logger.ts';
import { createSignIn } from '../page/sign-in.ts';
import { createSpending } from '../observability/spending.ts';
import { createOutbox } from '../turn/outbox.ts';
import { RequestError } from './command-line.ts';
import { createEvents } from './bot-ports.ts';
import { createLayers } from './layers.ts';
import { openStore } from './open-store.ts';

const clock = () => new Date();

/** All memory, for this process alone. @throws {StoreError} where the bot runs. */
export async function openMemory(environment: Environment) {
  const { config } = readConfig(environment);
  const logger = createLogger({ level: 'warn' });
  const { store, shared, tellSetAside } = await openStore(config, { as: 'alone', clock, logger });
  const recent = new RecentChanges();
  const outbox = createOutbox({ store, changes: recent });
  const events = createEvents();
  // In a database, work waits while no bot runs.
  events.erased.on(async (userId) => {
    for (const name of queuedNamesOf(userId)) await shared?.work.drop(name);
  });
  const memory = createLayers(config, {
    store,
    model: { isOffline: true, complete: () => Promise.reject(new Error('No model is asked')) },
    withPauses: (_, work) => work(),
    recent,
    events,
    answers: {
      ...outbox,
      async erase(userId, before, channelIds) {
        for (const { place, replyIds } of await outbox.erase(userId, before, channelIds))
          await outbox.hide(place.channelId, replyIds);
      },
    },
    costs: createSpending({
      store,
      clock,
      timeZone: config.timeZone,
      limits: {},
      tellOwner: () => Promise.resolve(),
      logger,
    }).layer,
    channels: { placeOf: () => Promise.resolve(undefined) },
    server: { hasSeveral: () => false },
    processes: shared?.processes ?? createOneProcess(),
    expireAt: () => Promise.resolve(),
    clock,
    timer: () => () => {},
    logger,
  });
  memory.layers.push(createSignIn({ store, writes: memory.writes, clock }).layer);
  return {
    memory,
    close: async (): Promise<void> => {
      // What could not be read: the bot tells people when it runs again [S5].
      tellSetAside(memory.oneTimeNotices.note);
      await memory.oneTimeNotices.idle();
      await store.close();
    },
  };
}

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
      await writeFileAtomic(path, Buffer.from(bytes));
      process.stdout.write(`${path}\n`);
    }
  } finally {
    await close();
  }
}
