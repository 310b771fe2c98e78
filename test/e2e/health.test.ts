import parse from 'parse-prometheus-text-format';
import { expect, it } from 'vitest';

import { freePort, takePort } from '../support/free-port.ts';
import { startChild } from './child.ts';
import { callsForAnswers } from './memory-talk.ts';
import { openStage } from './stage.ts';

it('the running bot tells how it is, whether it hears Discord, and what Prometheus reads; of people nothing [O3]', async () => {
  const port = String(await freePort());
  await using stage = await openStage({
    isBuilt: true,
    environment: { DISCOCLAW_HTTP_PORT: port },
    model: () => ({ text: 'The axolotl sleeps.' }),
  });
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  await stage.ask('alice', 'dm', 'How is my axolotl?');
  await stage.ask('bob', '#general', '!memory remember I keep a cockatoo');
  for (const path of ['/healthz', '/readyz']) expect((await ask(path)).status).toBe(200);
  const text = await (await ask('/metrics')).text();
  const found = new Map(parse(text).map(({ name, metrics }) => [name, metrics]));
  expect(found.get('discoclaw_turns_total')).toEqual([{ value: '1', labels: { outcome: 'answered' } }]);
  const calls = callsForAnswers(stage).length;
  expect(found.get('discoclaw_model_calls_total')).toMatchObject([{ value: String(calls) }]);
  for (const queue of [
    'turns_running',
    'turns_waiting',
    'model_calls_running',
    'model_calls_waiting',
    'background_work',
    'writes',
  ])
    expect(found.has(`discoclaw_${queue}`)).toBe(true);
  for (const stageName of ['prompt', 'answer', 'delivery'])
    expect(text).toContain(`discoclaw_turn_stage_seconds_count{stage="${stageName}"} 1\n`);
  expect(text).not.toMatch(/axolotl|cockatoo|alice|bob|general/iu);
  for (const id of [...Object.values(stage.info.people), ...Object.values(stage.info.channels)])
    expect(text).not.toContain(id);
  await stage.sandbox.close();
  await expect.poll(async () => (await ask('/readyz')).status).toBe(503);
  expect(await (await ask('/readyz')).json()).toMatchObject({
    problem: 'the bot is not connected to Discord',
  });
});

it('while Discord cannot be reached, the process is well and not ready [O3]', async () => {
  const port = String(await freePort());
  await using stage = await openStage();
  await stage.stopBot();
  await stage.sandbox.close();
  const bot = startChild({
    folder: stage.folder,
    environment: {
      DISCORD_TOKEN: stage.info.token,
      DISCORD_API_URL: stage.info.apiUrl,
      DISCOCLAW_HTTP_PORT: port,
    },
  });
  await bot.waitFor('it is tried again');
  const states = ['/healthz', '/readyz'].map((path) => fetch(`http://127.0.0.1:${port}${path}`));
  expect((await Promise.all(states)).map(({ status }) => status)).toEqual([200, 503]);
  await bot.end('SIGKILL');
});

it.each(['HTTP', 'PAGE'])(
  'a port that somebody else has is a wrong configuration: %s [O2]',
  async (server) => {
    await using taken = await takePort();
    await using stage = await openStage();
    const name = `DISCOCLAW_${server}_PORT`;
    const environment = { [name]: String(taken.port), DISCOCLAW_PAGE_URL: 'https://bot.example' };
    await expect(stage.startBuilt(environment)).rejects.toThrow(/ended with 78/u);
    expect(stage.bot().output()).toContain(`${name}: expected a free port, found ${taken.port}`);
  },
);

it('opens the port at all addresses of the machine where it is told to, as the container does [O3]', async () => {
  const port = String(await freePort());
  await using stage = await openStage({
    isBuilt: true,
    environment: { DISCOCLAW_HTTP_PORT: port, DISCOCLAW_HTTP_HOST: '0.0.0.0' },
  });
  // Another one than that of the default.
  expect((await fetch(`http://127.0.0.2:${port}/readyz`)).status).toBe(200);
  await stage.stopBot();
  await stage.startBot({ DISCOCLAW_HTTP_HOST: '' });
  await expect(fetch(`http://127.0.0.2:${port}/readyz`)).rejects.toThrow('fetch failed');
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
});

it('an address that this machine does not have is a wrong configuration [O2]', async () => {
  await using stage = await openStage();
  const port = String(await freePort());
  await expect(
    stage.startBuilt({ DISCOCLAW_HTTP_PORT: port, DISCOCLAW_HTTP_HOST: '203.0.113.7' }),
  ).rejects.toThrow(/ended with 78/u);
  expect(stage.bot().output()).toContain(
    'DISCOCLAW_HTTP_HOST: expected an address of this machine, found 203.0.113.7',
  );
});
