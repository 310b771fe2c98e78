import { expect, it } from 'vitest';

import type { ModelAnswer } from '../support/model-answer.ts';
import { answeringBy, kindOf, type Answers } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

const statusOf = async (stage: Stage): Promise<string> => (await stage.ask('alice', 'dm', '!status')).text;

const unknown = (): ModelAnswer => ({ status: 404, error: 'model: haiku' });
const tooLong = (): ModelAnswer => ({ text: 'They talk. '.repeat(300) });

it.each<readonly [string, Answers, calls: number, told: string]>([
  [
    'a summary that always comes out too long',
    { summary: tooLong, condense: tooLong },
    2,
    'summary for 0 s (haiku is giving no usable answers)',
  ],
  [
    'a fast model that its server does not know',
    { summary: unknown, extraction: unknown },
    1,
    'extraction for 0 s (haiku is unknown to its server)',
  ],
])('in twelve turns, %s is asked for once, and `status` tells it [M16]', async (_, answers, calls, told) => {
  await using stage = await openStage({
    model: answeringBy(answers),
    environment: { DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true' },
  });
  for (let turn = 1; turn <= 12; turn += 1) {
    await stage.ask('alice', '#general', `This is turn ${turn}.`);
    await expect
      .poll(() => statusOf(stage), { timeout: 10_000 })
      .toMatch(/Turns: 0 running.* after turns: 0/u);
  }
  expect(stage.model.requests.filter(({ body }) => kindOf(body) in answers)).toHaveLength(calls);
  expect((await statusOf(stage)).replaceAll(/for \d+ s/gu, 'for 0 s')).toContain(told);
});
