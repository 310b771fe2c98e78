import { setTimeout as delay } from 'node:timers/promises';

import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ComponentType,
  MessageFlags,
  type APIActionRowComponent,
  type APIButtonComponent,
  type ChatInputCommandInteraction,
  type Interaction,
  type Message,
} from 'discord.js';

import { runBot, type RunningBot } from './bot-client.ts';

export interface EchoBot extends RunningBot {
  /** Resolves when every message was answered. */
  readonly settled: () => Promise<void>;
}

/**
 * Repeats what it reads: "twice …" in two messages, "slowly …" in a growing message with 👀 meanwhile, "pages" with
 * pages to turn; "quiet …" is not answered. `/echo say` answers privately with a follow-up; the menu entry "Echo this"
 * repeats a message.
 */
export async function runEchoBot(): Promise<EchoBot> {
  const bot = await runBot();
  const running: Promise<unknown>[] = [];
  bot.client.on('messageCreate', (message) => {
    if (!message.author.bot && !message.system) running.push(answer(message));
  });
  bot.client.on('interactionCreate', (interaction) => {
    running.push(answerInteraction(interaction));
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
    { name: 'Echo this', type: ApplicationCommandType.Message },
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
  if (content.startsWith('pages')) {
    await message.reply({ content: 'page 1', components: pager(1) });
    return;
  }
  if (content.startsWith('slowly')) {
    const sign = await message.react('👀');
    const reply = await message.reply('so');
    await delay(20);
    await reply.edit(`so it is:`);
    await delay(20);
    await reply.edit(`so it is: ${content}`);
    await sign.users.remove();
    return;
  }
  const files = message.attachments.map(({ name, size }) => ` ${name} of ${size} bytes`).join('');
  const replied = message.reference === null ? '' : ` to ${(await message.fetchReference()).content}`;
  await message.reply(`echo${replied}: ${content}${files}`);
  if (content.startsWith('twice')) await message.reply(`again,\nfor ${message.author.toString()}`);
}

async function answerInteraction(interaction: Interaction): Promise<void> {
  if (interaction.isChatInputCommand()) await answerCommand(interaction);
  else if (interaction.isMessageContextMenuCommand()) {
    await interaction.reply({ content: interaction.targetMessage.content, flags: MessageFlags.Ephemeral });
  } else if (interaction.isButton()) {
    await interaction.update({ content: 'page 2', components: pager(2) });
  }
}

async function answerCommand(interaction: ChatInputCommandInteraction): Promise<void> {
  await interaction.deferReply({ flags: MessageFlags.Ephemeral });
  await interaction.editReply(`psst: ${interaction.options.getString('text') ?? 'stopped'}`);
  await interaction.followUp({ content: 'and that is all', flags: MessageFlags.Ephemeral });
}

function pager(page: number): APIActionRowComponent<APIButtonComponent>[] {
  const button = (label: string, at: number): APIButtonComponent => ({
    type: ComponentType.Button,
    style: 2,
    label,
    custom_id: label,
    disabled: page === at,
  });
  return [{ type: ComponentType.ActionRow, components: [button('◀', 1), button('▶', 2)] }];
}
