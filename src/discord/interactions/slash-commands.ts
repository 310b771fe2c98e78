import { ApplicationCommandOptionType, type ChatInputCommandInteraction } from 'discord.js';

import type { SlashCommand } from '../../core/application-command.ts';
import type { BotHandlers } from '../../core/chat.ts';
import type { AnswerCommand } from './answering.ts';

export interface SlashCommandsOptions {
  readonly slashCommands: readonly SlashCommand[];
  readonly answer: AnswerCommand;
  readonly handlers: Pick<BotHandlers, 'command'>;
}

/** Discord may still show what was switched off, for a while. */
export const unknownCommand = 'I do not have this command any more.';

/** Answers slash commands. The returned function never rejects. */
export function createSlashCommands({
  slashCommands,
  answer,
  handlers,
}: SlashCommandsOptions): (interaction: ChatInputCommandInteraction) => Promise<void> {
  return (interaction) =>
    answer(interaction, async (asker) => {
      const command = slashCommands.find(({ name }) => name === interaction.commandName);
      if (command === undefined) return unknownCommand;
      return handlers.command({
        ...asker,
        id: interaction.id,
        name: command.name,
        words: wordsOf(interaction, command),
        ephemeral: true,
        at: interaction.createdAt.toISOString(),
      });
    });
}

function wordsOf({ options }: ChatInputCommandInteraction, command: SlashCommand): string {
  const [first] = options.data;
  const isSubcommand = first?.type === ApplicationCommandOptionType.Subcommand;
  const given = isSubcommand ? (first.options ?? []) : options.data;
  const values = given.map(({ name, value }): [string, string] => [name, String(value ?? '')]);
  return command.words(isSubcommand ? first.name : '', Object.fromEntries(values));
}
