import type { MessageContextMenuCommandInteraction } from 'discord.js';

import type { InteractionHandlers, MenuEntry } from '../../core/application-command.ts';
import { chatMessageOf } from '../normalise.ts';
import type { AnswerCommand } from './answering.ts';
import { unknownCommand } from './slash-commands.ts';

export interface MessageMenusOptions {
  readonly menuEntries: readonly MenuEntry[];
  readonly botId: string;
  readonly answer: AnswerCommand;
  readonly handlers: Pick<InteractionHandlers, 'menu'>;
}

/** Answers entries of the menu that every message has. The returned function never rejects. */
export function createMessageMenus({
  menuEntries,
  botId,
  answer,
  handlers,
}: MessageMenusOptions): (interaction: MessageContextMenuCommandInteraction) => Promise<void> {
  return (interaction) =>
    answer(interaction, async (asker) => {
      const entry = menuEntries.find(({ definition }) => definition.name === interaction.commandName);
      if (entry === undefined) return unknownCommand;
      return handlers.menu({
        ...asker,
        id: interaction.id,
        name: entry.name,
        message: chatMessageOf(interaction.targetMessage, botId),
        at: interaction.createdAt.toISOString(),
      });
    });
}
