import { describe, expect, it } from 'vitest';

import { startProxyServer } from '../support/proxy-server.ts';
import { startChild } from './child.ts';
import { openStage } from './stage.ts';

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
