import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createBot } from '../../src/bot/create-bot.ts';
import { readConfig } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import type { ModelClient } from '../../src/core/model.ts';
import type { Place } from '../../src/core/place.ts';
import { shareOf } from '../../src/memory/recall/words.ts';
import { createOfflineClient } from '../../src/model/offline/offline-client.ts';
import { createSpending } from '../../src/observability/spending.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { createObservedFileSystem, type Operation } from '../storage/files/observed-file-system.ts';
import { createTemporaryStores, type TemporaryStores } from '../storage/files/temporary-store.ts';
import { closedEdges } from '../support/closed-edges.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { incoming, publicPlace } from '../support/incoming.ts';
import { recordingLogger } from '../support/recording-logger.ts';

let stores: TemporaryStores;
beforeEach(async () => {
  stores = await createTemporaryStores();
});
afterEach(() => stores.dispose());

const dm: Place = { audience: 'dm', channelId: '200000000000000009', homeId: publicPlace.homeId };
const turns = 20;

const clock = () => new Date();

/** The whole bot between its ports, on real files whose calls are counted; calls of its model may cost so many dollars a day. */
async function openBot(dailyCost?: number) {
  const operations: Operation[] = [];
  const store = await stores.open({
    fileSystem: createObservedFileSystem((operation) => {
      operations.push(operation);
      return 'works';
    }),
  });
  const { config } = readConfig({
    DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
    DISCOCLAW_RATE_PER_MINUTE: '0',
    // A summary is work of its own, behind a call of the model.
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: '100',
  });
  const logger = recordingLogger();
  const spending = createSpending({
    store,
    clock,
    timeZone: config.timeZone,
    limits: { dailyCost, dailyCostPerPerson: dailyCost },
    tellOwner: () => Promise.resolve(),
    logger,
  });
  const offline = createOfflineClient({ shareOf });
  const model: ModelClient = {
    ...offline,
    async complete(request, options) {
      const reserved = await spending.budget?.reserve(request, 0.3);
      const response = await offline.complete(request, options);
      reserved?.settle(0.03);
      return response;
    },
  };
  const recent = new RecentChanges();
  let lastId = 900_000_000_000_000_000n;
  const nextId = () => String((lastId += 1n));
  const bot = createBot(config, {
    ...closedEdges,
    recent,
    store,
    model,
    spending,
    outbox: createOutbox({ store, changes: recent }),
    replies: fakeReplies({ nextId }),
    clock,
    logger,
  });
  return {
    bot,
    store,
    /** The calls of one turn and of what comes after it. */
    async callsOfTurn(place: Place): Promise<readonly Operation[]> {
      operations.length = 0;
      const id = nextId();
      await bot.handlers.message(incoming({ id, channelId: place.channelId, place, text: `Teapot ${id}?` }));
      await bot.idle();
      return [...operations];
    },
  };
}

describe('a turn', () => {
  it.each([
    // Four changes of the outbox, the last one with a sync more for what it erases.
    ['a DM', dm, undefined, 14],
    ['a channel of a server', publicPlace, undefined, 16],
    // Each of the two model calls changes two sums twice.
    ['a DM, with a limit on cost [L2],', dm, 50, 30],
  ])('in %s does no more than sync each thing that it stores', async (_name, place, dailyCost, most) => {
    const counted = await openBot(dailyCost);
    // The first makes files and folders.
    await counted.callsOfTurn(place);
    for (let turn = 0; turn < turns; turn += 1) {
      const names = (await counted.callsOfTurn(place)).map(({ name }) => name);
      expect(names.filter((name) => name === 'sync' || name === 'datasync').length).toBeLessThanOrEqual(most);
    }
  });
});
