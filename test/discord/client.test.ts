import { GatewayIntentBits, Partials } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { createDiscordClient } from '../../src/discord/client.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { runGateway } from './support/gateway-harness.ts';

const logger = new RecordingLogger();

describe('the client', () => {
  it('asks for what it needs and pings nobody', () => {
    const { options } = createDiscordClient({ logger });
    expect(options.intents.toArray()).toEqual([
      'Guilds',
      'GuildMessages',
      'GuildMessageReactions',
      'DirectMessages',
      'DirectMessageReactions',
      'MessageContent',
    ]);
    expect(options.intents.has(GatewayIntentBits.GuildMembers)).toBe(false);
    expect(options.partials).toContain(Partials.Channel);
    expect(options.allowedMentions).toEqual({ parse: [], repliedUser: false });
  });

  it('takes another server’s address with or without version and slash', () => {
    for (const apiUrl of [
      'http://127.0.0.1:8080/api',
      'http://127.0.0.1:8080/api/',
      'http://127.0.0.1:8080/api/v10',
    ]) {
      expect(createDiscordClient({ apiUrl, logger }).options.rest?.api).toBe('http://127.0.0.1:8080/api');
    }
    expect(createDiscordClient({ logger }).options.rest?.api).toBe('https://discord.com/api');
  });

  it('does not remember ever more people', async () => {
    const { server, client, settled } = await runGateway();
    const guild = client.guilds.cache.first();
    if (guild === undefined) throw new Error('the sandbox has a guild');
    for (let number = 0; number < 2600; number += 1) {
      const user = {
        id: `${900_000_000_000_000_000 + number}`,
        username: `u${number}`,
        discriminator: '0',
        avatar: null,
      };
      Reflect.apply(Reflect.get(client.users, '_add'), client.users, [{ ...user, global_name: null }]);
    }
    await server.say({ as: 'bob', in: '#general', text: 'hello' });
    await settled();
    expect(client.users.cache.size).toBeLessThanOrEqual(2001);
    expect(client.user !== null && client.users.cache.has(client.user.id)).toBe(true);
  });
});
