import { expect, it } from 'vitest';

import type { ModelAnswer } from '../support/model-answer.ts';
import { openStage } from './stage.ts';

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
  expect(stage.bot().output()).toContain('sonnet is out of credit');
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
