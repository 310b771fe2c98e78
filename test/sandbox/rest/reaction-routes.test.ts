import { ChannelType, GatewayIntentBits, type Message, type TextChannel } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { botIntents, runBot, type RunningBot } from '../support/bot-client.ts';

/** A message of Bob's in #general, as the bot has it. */
async function botWithMessage(
  intents: readonly GatewayIntentBits[] = [
    ...botIntents,
    GatewayIntentBits.GuildMessageReactions,
    GatewayIntentBits.DirectMessageReactions,
  ],
): Promise<RunningBot & { readonly channel: TextChannel; readonly message: Message }> {
  const bot = await runBot({ intents });
  const { id, channelId } = await bot.server.say({ as: 'bob', in: '#general', text: 'hello' });
  const channel = await bot.client.channels.fetch(channelId);
  if (channel?.type !== ChannelType.GuildText) throw new Error('No such channel');
  return { ...bot, channel, message: await channel.messages.fetch(id) };
}

describe('the bot’s reactions', () => {
  it('need the right to begin one, but not to join in', async () => {
    const { server, message } = await botWithMessage();
    await server.setOverwrite({ channel: '#general', for: 'Discoclaw', deny: ['AddReactions'] });
    await expect(message.react('👀')).rejects.toMatchObject({ code: 50_013 });
    await server.react({ as: 'carol', message: message.id, emoji: '👀' });
    await message.react('👀');
    await server.setOverwrite({ channel: '#general', for: 'Discoclaw', deny: ['ReadMessageHistory'] });
    await expect(message.react('👀')).rejects.toMatchObject({ code: 50_013 });
    expect((await server.messages({ in: '#general' }))[0]?.reactions).toEqual({
      '👀': ['carol', 'Discoclaw'],
    });
  });
});
