import { MessageFlags, type ChatInputCommandInteraction } from 'discord.js';
import { describe, expect, it, onTestFinished } from 'vitest';

import { newsOf } from '../../../src/sandbox/terminal/news.ts';
import type { WorldEvent } from '../../../src/sandbox/world/world.ts';
import { runBot, type RunningBot } from '../support/bot-client.ts';

/** A bot, and what there is to tell of all that happened since the last call. */
async function follow(): Promise<RunningBot & { readonly news: () => readonly string[] }> {
  const bot = await runBot();
  let events: WorldEvent[] = [];
  const untold = new Set<string>();
  onTestFinished(bot.server.subscribe((event) => events.push(event)));
  const names = {
    personOf: (id: string) => (id === bot.client.user.id ? 'bot' : 'bob'),
    isBot: (id: string) => id === bot.client.user.id,
    placeOf: () => '#dev',
  };
  const news = (): readonly string[] => {
    const happened = events;
    events = [];
    return newsOf(happened, untold, { viewerId: '140000000000000002', names }).map((each) =>
      each.kind === 'said' ? [each.line.text, each.line.remark].join(' ').trim() : each.text,
    );
  };
  return { ...bot, news };
}

async function channelOf({ client }: RunningBot) {
  const channel = await client.channels.fetch('120000000000000002');
  if (channel?.isSendable() !== true) throw new Error('No channel to send to');
  return channel;
}

describe('what there is to tell', () => {
  it('is a message that grew once, where it began, and what is changed later as edited', async () => {
    const bot = await follow();
    const channel = await channelOf(bot);
    const grown = await channel.send('so');
    const other = await channel.send('else');
    await grown.edit('so it is');
    expect(bot.news()).toEqual(['so it is', 'else']);
    await grown.edit('so it was');
    await grown.edit('so it will be');
    expect(bot.news()).toEqual(['so it will be edited']);
    await other.delete();
    expect(bot.news()).toEqual(['#dev  “else” was deleted']);
  });

  it('shows a moment as a day, and as counted from now where Discord counts it', async () => {
    const bot = await follow();
    const seconds = Math.floor(Date.now() / 1000);
    const said = `<t:${seconds + 120}:R>, <t:${seconds - 7200}:R>, <t:${seconds}:d>`;
    await (await channelOf(bot)).send(said);
    expect(bot.news()).toEqual([expect.stringMatching(/^in 2 minutes, 2 hours ago, \d{4}-\d\d-\d\d$/u)]);
  });

  it('is nothing of what came and went: a message, its reactions, a reaction', async () => {
    const bot = await follow();
    const channel = await channelOf(bot);
    const gone = await channel.send('gone');
    await bot.server.react({ as: 'bob', message: gone.id, emoji: '👀' });
    await gone.delete();
    expect(bot.news()).toEqual([]);
    const { id: message } = await bot.server.say({ as: 'bob', in: '#dev', text: 'a' });
    const eyes = { message, emoji: '👀' };
    await bot.server.react({ ...eyes, as: 'bob' });
    await bot.server.react({ ...eyes, as: 'bob', present: false });
    expect(bot.news()).toEqual([]);
    await bot.server.react({ ...eyes, as: 'bob' });
    expect(bot.news()).toEqual(['#dev  bob reacted 👀 to “a”']);
    await bot.server.react({ ...eyes, as: 'bob', present: false });
    await bot.server.react({ ...eyes, as: 'alice' });
    expect(bot.news()).toEqual(['#dev  bob took 👀 back from “a”', '#dev  bob reacted 👀 to “a”']);
  });

  it('is an answer when it has words, not when it is announced', async () => {
    const { server, client, news } = await follow();
    await client.application.commands.set([{ name: 'go', description: 'Go' }]);
    const given: ChatInputCommandInteraction[] = [];
    client.on('interactionCreate', (interaction) => {
      if (!interaction.isChatInputCommand()) return;
      void interaction.deferReply({ flags: MessageFlags.Ephemeral }).then(() => given.push(interaction));
    });
    await server.slash({ as: 'bob', in: '#dev', name: 'go', until: 'acknowledged' });
    await expect.poll(() => given).toHaveLength(1);
    expect(news()).toEqual([]);
    await given[0]?.editReply('psst');
    expect(news()).toEqual(['psst only you see this']);
    await given[0]?.editReply('psst!');
    expect(news()).toEqual(['psst! edited; only you see this']);
  });
});
