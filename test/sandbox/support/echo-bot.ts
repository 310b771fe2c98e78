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
 * pages to turn, "choose" with a select, "form" with a form, "vote" as a poll; "quiet …" is not answered. `/echo say` answers privately
 * with a follow-up and completes what is typed, `/echo file` tells the size of a file; the menu entry "Echo this" repeats a message.
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
  const file = ApplicationCommandOptionType.Attachment;
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
          options: [{ type: text, name: 'text', description: 'What', required: true, autocomplete: true }],
        },
        {
          type,
          name: 'file',
          description: 'Its size',
          options: [{ type: file, name: 'file', description: 'Which' }],
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
  if (content.startsWith('choose')) {
    const options = ['Tea', 'Milk'].map((label) => ({ label, value: label.toLowerCase() }));
    const select = { type: ComponentType.StringSelect as const, custom_id: 'drink', options };
    await message.reply({
      content: 'Which?',
      components: [{ type: ComponentType.ActionRow, components: [select] }],
    });
    return;
  }
  if (content.startsWith('form')) {
    await message.reply({
      content: 'a form',
      components: [{ type: ComponentType.ActionRow, components: [formButton] }],
    });
    return;
  }
  if (content.startsWith('vote')) {
    const answers = [{ text: 'Tea' }, { text: 'Milk', emoji: '🥛' }];
    const question = { text: 'Which?' };
    await message.reply({ poll: { question, answers, duration: 1, allowMultiselect: false } });
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
  } else if (interaction.isAutocomplete()) {
    const typed = interaction.options.getFocused();
    const choices = ['tea', 'ten'].filter((word) => word.startsWith(typed));
    await interaction.respond(choices.map((value) => ({ name: value === 'ten' ? '10' : value, value })));
  } else if (interaction.isButton() && interaction.customId === 'form') {
    await interaction.showModal({
      custom_id: 'form',
      title: 'Say it',
      components: [
        {
          type: ComponentType.Label,
          label: 'Words',
          component: { type: ComponentType.TextInput, custom_id: 'words', style: 1, value: 'as before' },
        },
      ],
    });
  } else if (interaction.isModalSubmit()) {
    const words = interaction.fields.getTextInputValue('words');
    await interaction.reply({ content: `sent: ${words}`, flags: MessageFlags.Ephemeral });
  } else if (interaction.isStringSelectMenu()) {
    await interaction.update({ content: `chosen: ${interaction.values.join()}`, components: [] });
  } else if (interaction.isButton()) {
    await interaction.update({ content: 'page 2', components: pager(2) });
  }
}

async function answerCommand(interaction: ChatInputCommandInteraction): Promise<void> {
  await interaction.deferReply({ flags: MessageFlags.Ephemeral });
  const { name, size } = interaction.options.getAttachment('file') ?? {};
  const file = name === undefined ? undefined : `${name} of ${size} bytes`;
  await interaction.editReply(`psst: ${interaction.options.getString('text') ?? file ?? 'stopped'}`);
  await interaction.followUp({ content: 'and that is all', flags: MessageFlags.Ephemeral });
}

const formButton: APIButtonComponent = {
  type: ComponentType.Button,
  style: 2,
  label: 'Fill in',
  custom_id: 'form',
};

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
