import {
  ApplicationCommandOptionType,
  Events,
  MessageFlags,
  type ChatInputCommandInteraction,
} from 'discord.js';
import { describe, expect, it } from 'vitest';

import type { Clock } from '../../../src/sandbox/world/world.ts';
import { runBot, type RunningBot } from '../support/bot-client.ts';

const memoryCommand = {
  name: 'memory',
  description: 'What the bot remembers',
  options: [
    { type: ApplicationCommandOptionType.Subcommand, name: 'show', description: 'Show it' },
    {
      type: ApplicationCommandOptionType.Subcommand,
      name: 'remember',
      description: 'Remember a text',
      options: [
        { type: ApplicationCommandOptionType.String, name: 'text', description: 'The text', required: true },
        {
          type: ApplicationCommandOptionType.String,
          name: 'days',
          description: 'For how long',
          maxLength: 2,
        },
      ],
    },
  ],
} as const;

async function botAnswering(
  answer: (interaction: ChatInputCommandInteraction) => Promise<unknown>,
  options: { readonly now?: Clock } = {},
): Promise<RunningBot & { readonly failures: unknown[] }> {
  const bot = await runBot(options);
  const failures: unknown[] = [];
  await bot.client.application.commands.set([memoryCommand]);
  bot.client.on(Events.InteractionCreate, (interaction) => {
    if (interaction.isChatInputCommand()) answer(interaction).catch((error: unknown) => failures.push(error));
  });
  return { ...bot, failures };
}

describe('a slash command', () => {
  it('is acknowledged only once', async () => {
    const { server, client, failures } = await botAnswering(async (interaction) => {
      await interaction.reply('first');
      await client.rest.post(`/interactions/${interaction.id}/${interaction.token}/callback`, {
        body: { type: 4, data: { content: 'second' } },
        auth: false,
      });
    });
    await server.slash({ as: 'bob', in: '#dev', name: 'memory', subcommand: 'show' });
    await expect.poll(() => failures).toMatchObject([{ code: 40_060 }]);
  });

  it('has answers that can be read and deleted', async () => {
    const { server, failures } = await botAnswering(async (interaction) => {
      await interaction.reply({ content: 'first', flags: MessageFlags.Ephemeral });
      const { id } = await interaction.followUp({ content: 'second', flags: MessageFlags.Ephemeral });
      await interaction.editReply((await interaction.fetchReply(id)).content);
      await interaction.deleteReply(id);
      await interaction.fetchReply(id);
    });
    await server.slash({ as: 'bob', in: '#dev', name: 'memory', subcommand: 'show' });
    await expect.poll(() => failures).toMatchObject([{ code: 10_008 }]);
    const seen = await server.messages({ in: '#dev', as: 'bob', from: 'bot' });
    expect(seen.map(({ text }) => text)).toEqual(['second']);
  });

  it('must be answered within three seconds, and its token is good for a quarter of an hour', async () => {
    let now = Date.parse('2026-03-01T12:00:00Z');
    const late = await botAnswering(
      (interaction) => {
        now += 3_001;
        return interaction.reply('late');
      },
      { now: () => new Date(now) },
    );
    const call = { as: 'bob', in: '#dev', name: 'memory', subcommand: 'show' };
    await expect(late.server.slash(call)).rejects.toThrow(
      'The bot did not respond to /memory within three seconds',
    );
    await expect.poll(() => late.failures).toMatchObject([{ code: 10_062 }]);
    const slow = await botAnswering(
      async (interaction) => {
        await interaction.deferReply();
        now += 15 * 60_000 + 1;
        await interaction.editReply('too late');
      },
      { now: () => new Date(now) },
    );
    await expect(slow.server.slash({ ...call, timeoutMs: 100 })).rejects.toThrow('in vain');
    await expect.poll(() => slow.failures).toMatchObject([{ code: 50_027 }]);
  });
});
