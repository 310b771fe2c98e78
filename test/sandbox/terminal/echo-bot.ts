import { setTimeout as delay } from 'node:timers/promises';

import { ApplicationCommandOptionType, MessageFlags } from 'discord.js';
import type { ChatInputCommandInteraction, Message } from 'discord.js';

import { runBot } from '../support/bot-client.ts';
import type { RunningBot } from '../support/bot-client.ts';

export interface EchoBot extends RunningBot {
  /** Resolves when every message was answered. */
  readonly settled: () => Promise<void>;
}

/**
 * A bot that repeats what it is told: "twice …" in two messages, "slowly …" in a message that it writes in two steps; "quiet …"
 * is not answered. `/echo say` repeats its text for the asker's eyes only, with a follow-up.
 */
export async function runEchoBot(): Promise<EchoBot> {
  const bot = await runBot();
  const running: Promise<unknown>[] = [];
  bot.client.on('messageCreate', (message) => {
    if (!message.author.bot) running.push(answer(message));
  });
  bot.client.on('interactionCreate', (interaction) => {
    if (interaction.isChatInputCommand()) running.push(answerCommand(interaction));
  });
  const text = ApplicationCommandOptionType.String;
  const type = ApplicationCommandOptionType.Subcommand;
  await bot.client.application.commands.set([
    {
      name: 'echo',
      description: 'Repeat',
      options: [
        {
          type,
          name: 'say',
          description: 'Say it',
          options: [{ type: text, name: 'text', description: 'What', required: true }],
        },
        { type, name: 'stop', description: 'Be quiet' },
      ],
    },
  ]);
  return {
    ...bot,
    async settled() {
      while (running.length > 0) await running.shift();
    },
  };
}

async function answer(message: Message): Promise<void> {
  const { content } = message;
  if (content.startsWith('quiet')) return;
  if (content.startsWith('slowly')) {
    const reply = await message.reply('so');
    await delay(20);
    await reply.edit(`so it is: ${content}`);
    return;
  }
  await message.reply(`echo: ${content}`);
  if (content.startsWith('twice')) await message.reply(`again,\nfor ${message.author.toString()}`);
}

async function answerCommand(interaction: ChatInputCommandInteraction): Promise<void> {
  await interaction.deferReply({ flags: MessageFlags.Ephemeral });
  await interaction.editReply(`psst: ${interaction.options.getString('text') ?? 'stopped'}`);
  await interaction.followUp({ content: 'and that is all', flags: MessageFlags.Ephemeral });
}
