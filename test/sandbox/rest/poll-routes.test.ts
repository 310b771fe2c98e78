import { ChannelType, type PollData, type TextChannel } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { runBot, type RunningBot } from '../support/bot-client.ts';

const poll: PollData = {
  question: { text: 'Tea or coffee?' },
  answers: [{ text: 'tea', emoji: '🍵' }, { text: 'coffee' }],
  duration: 2,
  allowMultiselect: false,
};

async function botInGeneral(): Promise<RunningBot & { readonly channel: TextChannel }> {
  const bot = await runBot();
  const channel = await bot.client.channels.fetch('120000000000000001');
  if (channel?.type !== ChannelType.GuildText) throw new Error('No such channel');
  return { ...bot, channel };
}

function answers(count: number, text: string): PollData['answers'] {
  return Array.from({ length: count }, () => ({ text }));
}

describe('a poll', () => {
  it('is shown to people as the bot has made it', async () => {
    const { server, channel } = await botInGeneral();
    const message = await channel.send({ poll });
    expect(message.poll).toMatchObject({ question: { text: 'Tea or coffee?' }, allowMultiselect: false });
    expect((await server.messages({ in: '#general' }))[0]?.poll).toMatchObject({
      question: 'Tea or coffee?',
      answers: [{ text: 'tea', emoji: '🍵' }, { text: 'coffee' }],
      allowsSeveral: false,
    });
  });

  it('cannot be edited, nor be larger than Discord lets it', async () => {
    const { channel } = await botInGeneral();
    const message = await channel.send({ poll });
    await expect(message.edit('other')).rejects.toMatchObject({ code: 520_003 });
    for (const wrong of [
      { question: { text: 'x'.repeat(301) } },
      { answers: answers(11, 'x') },
      { answers: answers(1, 'x'.repeat(56)) },
      { answers: [] },
      { duration: 769 },
    ]) {
      await expect(channel.send({ poll: { ...poll, ...wrong } })).rejects.toMatchObject({ code: 50_035 });
    }
  });

  it('needs its own right', async () => {
    const { server, channel } = await botInGeneral();
    await server.setOverwrite({ channel: '#general', for: 'Discoclaw', deny: ['SendPolls'] });
    await expect(channel.send({ poll })).rejects.toMatchObject({ code: 50_013 });
  });
});
