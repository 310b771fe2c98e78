import { expect, it } from 'vitest';

import { createBot } from '../../src/bot/create-bot.ts';
import { assertPricesKnown } from '../../src/bot/create-model.ts';
import { readConfig } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { noUsage, type ModelClient, type ModelPurpose, type ModelRequest } from '../../src/core/model.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { createSpending } from '../../src/observability/spending.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { closedEdges } from '../support/closed-edges.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { aliceId, incoming } from '../support/incoming.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { inSummarySchema } from '../support/model-answer.ts';
import { recordingLogger } from '../support/recording-logger.ts';

type Reserve = (request: ModelRequest, usd: number) => Promise<void>;

/** A bot that was told something at eight in the evening; a person's calls cost a dollar a day. `call` may fail. */
async function evening(call: (request: ModelRequest, reserve: Reserve) => Promise<void>) {
  const store = new MemoryStore();
  const recent = new RecentChanges();
  const logger = recordingLogger();
  const timer = new ManualTimer();
  const begin = new Date('2026-01-15T20:00:00Z').getTime();
  const clock = () => new Date(begin + timer.now);
  const { config } = readConfig({
    DISCOCLAW_TIMEZONE: 'UTC',
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
    DISCOCLAW_REFLECTION_ENABLED: 'false',
    DISCOCLAW_DAILY_COST_PER_PERSON_USD: '1',
  });
  const spending = createSpending({
    store,
    clock,
    logger,
    timeZone: 'UTC',
    limits: config.limits,
    tellOwner: () => Promise.resolve(),
  });
  const asked: ModelPurpose[] = [];
  const model: ModelClient = {
    isOffline: false,
    async complete(request) {
      await call(request, async (...of) => (await spending.budget?.reserve(...of))?.charge());
      asked.push(request.purpose);
      const text = inSummarySchema('Alice likes tea.', request.outputSchema);
      return { content: [{ type: 'text', text }], stop: 'end', usage: noUsage };
    },
  };
  const bot = createBot(config, {
    keeping: { store, recent, outbox: createOutbox({ store, changes: recent }) },
    discord: { ...closedEdges, replies: fakeReplies() },
    model: { client: model, spending },
    time: { clock, timer: timer.set },
    ownerIds: [],
    logger,
  });

  const message = incoming({ id: snowflakeAt(clock()), text: 'I like tea', at: clock().toISOString() });
  await bot.handlers.message(message);
  await bot.idle();
  return {
    /** The calls that were answered by then. */
    async after(this: void, ms: number) {
      timer.pass(ms);
      await bot.idle();
      return asked;
    },
    state: () => store.readText(`sessions/${message.channelId}/${aliceId}/state.json`),
  };
}

it('background work that the limit kept back is done when the next day begins, though nobody says anything [L2]', async () => {
  const { after, state } = await evening((request, reserve) =>
    reserve(request, request.purpose === 'chat' ? 0.4 : 0.8),
  );
  expect(await after(4 * 3_600_000 - 1)).toEqual(['chat']);
  expect(await after(1)).toEqual(['chat', 'summary']);
  expect(await state()).toContain('Alice likes tea.');
});

const check = (environment: Readonly<Record<string, string>>) => () =>
  assertPricesKnown(readConfig(environment).config);

it('a limit on cost needs the price of voice messages, where they are heard [L2]', () => {
  const url = { DISCOCLAW_TRANSCRIBE_URL: 'http://127.0.0.1:8000/v1' };
  const limit = { DISCOCLAW_DAILY_COST_PER_PERSON_USD: '1' };
  expect(check({ ...url, ...limit })).toThrow('give it in US dollars (0 where it costs nothing)');
  for (const fine of [url, limit, { ...url, ...limit, DISCOCLAW_TRANSCRIBE_PRICE: '0' }])
    expect(check(fine)).not.toThrow();
});
