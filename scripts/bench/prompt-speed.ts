import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { layersAlone } from '../../src/bot/memory-alone.ts';
import { readConfig } from '../../src/config/config.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import type { Store } from '../../src/core/store.ts';
import { requestBody } from '../../src/model/anthropic/request-body.ts';
import { composerOver } from '../prompt.ts';
import { timeOf, type Bench } from './measured.ts';
import { clock, conversation, logger, openFiles, place, sentence, userId, writePerson } from './person.ts';

const rounds = 1000;

/** What a turn computes before the model is asked, of somebody with 200 items and a notebook of usual size. */
export async function benchPrompts(bench: Bench): Promise<void> {
  const store = await openFiles(await mkdtemp(join(tmpdir(), 'bench-prompts-')));
  await writePerson(store, 200);
  const compose = composing(store);
  let body = await compose(0);
  await bench.compare({
    rows: { time: ['a warm prompt as a request’s body, 200 items', 'ms', 'at most 25 ×'] },
    rounds,
    ours: {
      sample: async (round) => ({ time: await timeOf(async () => (body = await compose(round + rounds))) }),
    },
    floor: {
      name: 'JSON.stringify of the body',
      subject: { sample: async () => ({ time: await timeOf(async () => JSON.stringify(body)) }) },
    },
  });
  await store.close();
}

/** Gives the body of the person's n-th next request, each with another question. */
function composing(store: Store) {
  const { config } = readConfig({ DISCOCLAW_TIMEZONE: 'UTC', DISCOCLAW_DURABLE_MAX_ITEMS: '1000' });
  const memory = layersAlone(config, { store, clock, logger });
  const composer = composerOver(memory, config, {
    recent: (_channelId, limit) => Promise.resolve(conversation.slice(-limit)),
  });
  const tools = memory.tools.map(({ definition }) => definition);
  const { signal } = new AbortController();
  const last = Date.parse(conversation.at(-1)?.at ?? '');
  return async (number: number) => {
    const now = new Date(last + 60_000 + number);
    const message = { id: snowflakeAt(now), at: now.toISOString(), attachments: [] };
    const { prompt } = await composer.compose(
      {
        speaker: { id: userId, name: 'Alice', isOwner: false },
        place,
        messages: [{ ...message, text: `What do you know about ${sentence(number, 12)}?` }],
        now,
        startedAfter: undefined,
        hasThirdPartyText: true,
      },
      { isMemoryOff: false, areActionsOff: false },
      signal,
    );
    const { system, messages } = prompt;
    const request = { userId, model: config.model.main, system, messages, maxTokens: 4096, tools };
    return requestBody({ purpose: 'chat', ...request });
  };
}
