import parse from 'parse-prometheus-text-format';
import { describe, expect, it } from 'vitest';

import { freePort, takePort } from '../support/free-port.ts';
import { startProxyServer } from '../support/proxy-server.ts';
import { startChild } from './child.ts';
import { callsOf } from './model-calls.ts';
import { openStage } from './stage.ts';

it('the running bot tells how it is, whether it hears Discord, and what Prometheus reads; of people nothing [O3]', async () => {
  const port = String(await freePort());
  await using stage = await openStage({
    isBuilt: true,
    // As in the container: at all addresses of the machine.
    environment: { DISCOCLAW_HTTP_PORT: port, DISCOCLAW_HTTP_HOST: '0.0.0.0' },
    model: () => ({ text: 'The axolotl sleeps.' }),
  });
  const ask = (path: string) => fetch(`http://127.0.0.2:${port}${path}`);
  await stage.ask('alice', 'dm', 'How is my axolotl?');
  await stage.ask('bob', '#general', '!memory remember I keep a cockatoo');
  for (const path of ['/healthz', '/readyz']) expect((await ask(path)).status).toBe(200);
  const text = await (await ask('/metrics')).text();
  const found = new Map(parse(text).map(({ name, metrics }) => [name, metrics]));
  expect(found.get('discoclaw_turns_total')).toEqual([{ value: '1', labels: { outcome: 'answered' } }]);
  const calls = callsOf(stage, 'chat').length;
  expect(found.get('discoclaw_model_calls_total')).toMatchObject([{ value: String(calls) }]);
  for (const queue of ['turns_running', 'model_calls_running', 'background_work', 'writes'])
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
  await expect(fetch(`http://127.0.0.2:${port}/readyz`)).rejects.toThrow('fetch failed');
  const states = ['/healthz', '/readyz'].map((path) => fetch(`http://127.0.0.1:${port}${path}`));
  expect((await Promise.all(states)).map(({ status }) => status)).toEqual([200, 503]);
  await bot.end('SIGKILL');
});

it.each([
  [
    'a port that somebody else has',
    { DISCOCLAW_HTTP_PORT: 'TAKEN' },
    'DISCOCLAW_HTTP_PORT: expected a free port',
  ],
  [
    'a port that somebody else has for the page',
    { DISCOCLAW_PAGE_PORT: 'TAKEN', DISCOCLAW_PAGE_URL: 'https://bot.example' },
    'DISCOCLAW_PAGE_PORT: expected a free port',
  ],
  [
    'an address that this machine does not have',
    { DISCOCLAW_HTTP_PORT: 'FREE', DISCOCLAW_HTTP_HOST: '203.0.113.7' },
    'DISCOCLAW_HTTP_HOST: expected an address of this machine',
  ],
])('%s is a wrong configuration [O2]', async (_, variables, told) => {
  await using taken = await takePort();
  await using stage = await openStage();
  const ports = { TAKEN: String(taken.port), FREE: String(await freePort()) };
  const environment = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, Object(ports)[value] ?? value]),
  );
  await expect(stage.startBuilt(environment)).rejects.toThrow(/ended with 78/u);
  expect(stage.bot().output()).toContain(told);
});

describe('behind a proxy [M10]', () => {
  it('model and Discord are reached through it, by names that only it knows; what NO_PROXY names and this machine are not', async () => {
    const proxy = await startProxyServer();
    await using stage = await openStage({ model: () => ({ text: 'It is tea.' }) });
    const { DISCORD_API_URL: discord = '', ANTHROPIC_BASE_URL: model = '' } = stage.environment;
    const named = {
      DISCORD_API_URL: discord.replace('127.0.0.1', 'discord.test'),
      ANTHROPIC_BASE_URL: model.replace('127.0.0.1', 'model.test'),
      http_proxy: proxy.url,
    };
    await stage.startBuilt(named);
    expect((await stage.ask('alice', 'dm', 'What is my drink?')).text).toContain('It is tea.');
    expect(new Set(proxy.hosts)).toEqual(new Set(['discord.test', 'model.test']));

    const before = proxy.hosts.length;
    const doctor = startChild({
      arguments: ['doctor'],
      folder: stage.folder,
      environment: {
        ...stage.environment,
        // Another address of this machine.
        ANTHROPIC_BASE_URL: model.replace('127.0.0.1', '0.0.0.0'),
        HTTP_PROXY: proxy.url,
        NO_PROXY: 'example.com, 0.0.0.0',
      },
    });
    await doctor.exited;
    expect(doctor.output()).toContain('Discord knows the bot as Discoclaw');
    expect(doctor.output()).toContain('sonnet answers');
    expect(proxy.hosts.slice(before).filter((host) => host !== 'discord.test')).toEqual([]);
    await stage.stopBot();
    await proxy.close();
  });
});
