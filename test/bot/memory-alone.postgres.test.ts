import { afterEach, beforeEach, expect, it } from 'vitest';

import { openMemory } from '../../src/bot/memory-alone.ts';
import { createSpending } from '../../src/observability/spending.ts';
import { createTemporaryDatabase, type TemporaryDatabase } from '../storage/postgres/temporary-database.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { messageId, silent } from '../support/sessions.ts';
import { unconditional } from '../../src/core/writes.ts';

let database: TemporaryDatabase;
beforeEach(async () => {
  database = await createTemporaryDatabase();
});
afterEach(() => database.dispose());

async function pathsOf(
  layers: Awaited<ReturnType<typeof openMemory>>['memory']['layers'],
): Promise<string[]> {
  const paths: string[] = [];
  for (const layer of layers) for await (const { path } of layer.export(aliceId)) paths.push(path);
  return paths;
}

it('what is exported by letter from a database has what waits for a yes and what was spent, and erasing takes it [K11][X1]', async () => {
  const environment = { DISCOCLAW_STORE: database.url };
  const bot = await database.open();
  const spending = createSpending({
    store: bot,
    clock: () => new Date(),
    timeZone: 'UTC',
    limits: { dailyCostPerPerson: 1 },
    tellOwner: () => Promise.resolve(),
    logger: silent,
  });
  await spending.budget?.reserve({ userId: aliceId, purpose: 'chat' }, 0.5);
  await bot.close();

  const first = await openMemory(environment);
  const said = { text: 'I like tea', place: publicPlace, messageId: messageId(1), type: 'discord' } as const;
  await first.memory.proposals.remember(unconditional(aliceId), said, 'ask');
  await first.close();

  const second = await openMemory(environment);
  expect(await pathsOf(second.memory.layers)).toEqual(expect.arrayContaining(['items.json', 'cost.json']));
  expect((await second.memory.changes.erase(aliceId, new Date().toISOString())).size).toBe(0);
  expect(await pathsOf(second.memory.layers)).not.toEqual(expect.arrayContaining(['items.json']));
  await second.close();
});
