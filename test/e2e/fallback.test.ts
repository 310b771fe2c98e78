import { describe, expect, it } from 'vitest';

import { llamaCpp } from '../model/servers/doubles.ts';
import { serverDouble } from '../model/servers/server-double.ts';
import type { ModelAnswer } from '../support/model-answer.ts';
import { answeringBy, kindOf } from './model-calls.ts';
import { openStage, type Stage, type StageOptions } from './stage.ts';

/** The main model does this whenever it is asked; the other one answers. */
function openWith(main: ModelAnswer, options: StageOptions = {}): Promise<Stage> {
  const { model: other = () => ({ text: 'It is tea.' }) } = options;
  return openStage({
    ...options,
    model: (body, index) => (body.model === 'main-model' ? main : other(body, index)),
    environment: {
      DISCOCLAW_MODEL: 'main-model',
      DISCOCLAW_FALLBACK_MODEL: 'other-model',
      DISCOCLAW_SUMMARY_ENABLED: 'false',
      // Half of it is the main model's.
      DISCOCLAW_MODEL_TIMEOUT_MS: '6000',
      ...options.environment,
    },
  });
}

const askedOf = (stage: Stage): readonly (string | undefined)[] =>
  stage.model.requests.map(({ body }) => body.model);

describe('while the main model cannot answer, the other one does and says so [M10]', () => {
  it.each<readonly [string, ModelAnswer]>([
    ['unknown to its server', { status: 404, body: { error: 'The model `main-model` does not exist.' } }],
    ['out of credit', { status: 402, error: 'Insufficient credits' }],
    ['out of reach', 'silent'],
  ])('where it is %s', async (why, main) => {
    await using stage = await openWith(main);
    const { text } = await stage.ask('alice', '#general', 'What is my drink?');
    expect(text).toBe(`It is tea.\n-# 🔁 Answered by other-model: main-model is ${why}`);
    // Nobody else waits for it within the next minute.
    const before = askedOf(stage).length;
    expect((await stage.ask('bob', '#dev', 'And mine?')).text).toContain('It is tea.');
    expect(askedOf(stage).slice(before)).toEqual(['other-model']);
  });

  it('also where it has no words, asked twice for each message [M15]', async () => {
    await using stage = await openWith('empty');
    for (const words of ['Hello', 'And again'])
      expect((await stage.ask('alice', 'dm', words)).text).toMatch(
        /It is tea\.\n-# .*Answered by other-model/u,
      );
    const twice = ['main-model', 'main-model', 'other-model'];
    expect(askedOf(stage)).toEqual([...twice, ...twice]);
  });

  it('also where its server does not know it at the start, which is a warning then', async () => {
    await using stage = await openWith({ status: 404 }, { probe: () => ({ status: 404 }) });
    expect((await stage.ask('alice', 'dm', 'Hello')).text).toContain('-# 🔁 Answered by other-model');
    await stage.bot().waitFor('knows no model');
  });

  it('also where its context is smaller than the main one’s, with a prompt that fits it [M13]', async () => {
    const other = serverDouble({ ...llamaCpp, contextTokens: 2_048, refusals: {} }, () => ({ text: 'Tea.' }));
    await using stage = await openWith({ status: 402 }, { model: other });
    for (const words of ['What is my drink?', 'And now?'])
      expect((await stage.ask('alice', '#general', words)).text).toMatch(/^Tea\.\n-# .*by other-model/u);
    expect(askedOf(stage)).toEqual(['main-model', 'other-model', 'other-model', 'other-model']);
  });
});

describe('the other model is not asked [M10]', () => {
  it.each<readonly [string, ModelAnswer, string]>([
    ['where the request is wrong', { status: 400, error: 'messages: too long' }, 'refused this'],
    ['where the main one refuses to answer', 'refusal', 'gave no usable answer'],
  ])('%s', async (_, main, told) => {
    await using stage = await openWith(main);
    const { text } = await stage.ask('alice', '#general', 'What is my drink?');
    expect(text).toContain(told);
    expect(text).not.toContain('🔁');
    expect(askedOf(stage)).not.toContain('other-model');
  });

  it('over the day’s limit of cost [L2]', async () => {
    await using stage = await openWith(
      { text: 'It is coffee.' },
      {
        environment: {
          DISCOCLAW_DAILY_COST_USD: '0.000001',
          DISCOCLAW_MODEL_PRICES: 'main-model=1/1,other-model=1/1,haiku=1/1',
        },
      },
    );
    expect((await stage.ask('alice', '#general', 'What is my drink?')).text).not.toContain('🔁');
    expect(askedOf(stage)).toEqual([]);
  });
});

it('an empty account does not end the start; people, the owner, once a day, and `status` are told, until it is paid [M16] [O1]', async () => {
  let answer: ModelAnswer = { status: 400, error: 'Your credit balance is too low' };
  await using stage = await openStage({
    model: () => answer,
    probe: () => answer,
    environment: { ANTHROPIC_API_KEY: 'sk-of-the-test' },
  });
  const owner = stage.info.owner.name;
  const told = async () =>
    (await stage.sandbox.messages({ in: `@${owner}`, from: 'bot' })).map(({ text }) => text);
  const once = [expect.stringMatching(/^⚠️ sonnet is out of credit: /u)];
  await stage.bot().waitFor('sonnet is out of credit');
  const line = /^⚠️ I cannot answer right now: the person who runs me has to look into my account /u;
  expect((await stage.ask('alice', '#general', 'Hello?')).text).toMatch(line);
  await expect.poll(told).toEqual(once);
  await stage.stopBot();
  answer = { status: 401 };
  // A key that is wrong at the start would end it.
  await expect(stage.startBot()).rejects.toThrow('refused the key');
  answer = { text: 'Hi' };
  await stage.startBot();
  answer = { status: 403, body: { error: { type: 'permission_error', message: 'This key was revoked' } } };
  expect((await stage.ask('bob', '#dev', 'Hello?')).text).toMatch(line);

  expect(await told()).toEqual(once);
  const status = (await stage.ask(owner, 'dm', '!status')).text;
  expect(status).toMatch(/^Model: sonnet \(fast: haiku\), without a valid key for \d+ s$/mu);
  expect(status).toContain('- errors: 1 model out-of-credit · 1 model unauthorized');

  answer = { text: 'Hello!' };
  expect((await stage.ask('bob', '#dev', 'And now?')).text).toBe('Hello!');
  expect((await stage.ask(owner, 'dm', '!status')).text).toContain('reachable');
});

const unknown = (): ModelAnswer => ({ status: 404, error: 'model: haiku' });

it('in eight turns a fast model that its server does not know is asked once, and `status` tells it [M16]', async () => {
  await using stage = await openStage({
    model: answeringBy({ summary: unknown, extraction: unknown }),
    environment: { DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true' },
  });
  const status = async () => (await stage.ask('alice', 'dm', '!status')).text;
  for (let turn = 1; turn <= 8; turn += 1) {
    await stage.ask('alice', '#general', `This is turn ${turn}.`);
    await expect.poll(status, { timeout: 10_000 }).toMatch(/Turns: 0 running.* after turns: 0/u);
  }
  expect(stage.model.requests.filter(({ body }) => kindOf(body) !== 'chat')).toHaveLength(1);
  expect(await status()).toMatch(/extraction for \d+ s \(haiku is unknown to its server\)/u);
});
