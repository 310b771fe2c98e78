import { once } from 'node:events';

import {
  ChannelType,
  GatewayIntentBits,
  MessageType,
  type Message,
  type PollData,
  type TextChannel,
} from 'discord.js';
import { describe, expect, it } from 'vitest';

import type { Clock } from '../../../src/sandbox/world/snowflakes.ts';
import { botIntents, runBot, type RunningBot } from '../support/bot-client.ts';

const poll: PollData = {
  question: { text: 'Tea or coffee?' },
  answers: [{ text: 'tea', emoji: '🍵' }, { text: 'coffee' }],
  duration: 2,
  allowMultiselect: false,
};

async function botInGeneral(now?: Clock): Promise<RunningBot & { readonly channel: TextChannel }> {
  const intents = [...botIntents, GatewayIntentBits.GuildMessagePolls];
  const bot = await runBot({ intents, ...(now === undefined ? {} : { now }) });
  const channel = await bot.client.channels.fetch('120000000000000001');
  if (channel?.type !== ChannelType.GuildText) throw new Error('No such channel');
  return { ...bot, channel };
}

async function votes(bot: RunningBot, message: Message): Promise<unknown> {
  const seen = (await bot.server.messages({ in: '#general' })).find(({ id }) => id === message.id);
  return Object.fromEntries((seen?.poll?.answers ?? []).map((answer) => [answer.text, answer.votes]));
}

function answers(count: number, text: string): PollData['answers'] {
  return Array.from({ length: count }, () => ({ text }));
}

describe('a poll', () => {
  it('is voted in, and the bot is told of every vote', async () => {
    const bot = await botInGeneral();
    const message = await bot.channel.send({ poll });
    expect(message.poll).toMatchObject({ question: { text: 'Tea or coffee?' }, allowMultiselect: false });
    const added = once(bot.client, 'messagePollVoteAdd');
    await bot.server.vote({ as: 'bob', message: message.id, answer: 'tea' });
    expect(await added).toMatchObject([{ id: 1, text: 'tea' }, '140000000000000002']);
    const removed = once(bot.client, 'messagePollVoteRemove');
    await bot.server.vote({ as: 'bob', message: message.id, answer: 'coffee' });
    expect(await removed).toMatchObject([{ id: 1 }, '140000000000000002']);
    expect(await votes(bot, message)).toEqual({ tea: [], coffee: ['bob'] });
    const voters = await message.poll?.answers.get(2)?.voters.fetch();
    expect(voters?.map(({ username }) => username)).toEqual(['bob']);
    await bot.server.vote({ as: 'bob', message: message.id, answer: 'coffee', withdraw: true });
    expect(await votes(bot, message)).toEqual({ tea: [], coffee: [] });
  });

  it('takes several votes of a person where it says so', async () => {
    const bot = await botInGeneral();
    const message = await bot.channel.send({ poll: { ...poll, allowMultiselect: true } });
    for (const answer of ['tea', 'coffee']) {
      await bot.server.vote({ as: 'bob', message: message.id, answer });
    }
    expect(await votes(bot, message)).toEqual({ tea: ['bob'], coffee: ['bob'] });
    await expect(bot.server.vote({ as: 'bob', message: message.id, answer: 'milk' })).rejects.toThrow(
      'it has tea, coffee',
    );
  });

  it('ends with its time, or when the bot ends it, with a note of the result', async () => {
    let now = Date.now();
    const bot = await botInGeneral(() => new Date(now));
    const first = await bot.channel.send({ poll });
    const second = await bot.channel.send({ poll });
    await bot.server.vote({ as: 'bob', message: first.id, answer: 'tea' });
    await first.poll?.end();
    await bot.server.delivered();
    expect(bot.seen.at(-1)?.type).toBe(MessageType.PollResult);
    expect(bot.seen.at(-1)?.embeds[0]?.fields).toContainEqual({
      name: 'victor_answer_text',
      value: 'tea',
      inline: false,
    });
    const again = `/channels/${bot.channel.id}/polls/${first.id}/expire` as const;
    await expect(bot.client.rest.post(again)).rejects.toMatchObject({ code: 520_001 });
    now += 3 * 3_600_000;
    const late = bot.server.vote({ as: 'bob', message: second.id, answer: 'tea' });
    await expect(late).rejects.toThrow('The poll is over');
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
