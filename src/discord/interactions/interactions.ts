import { MessageFlags, type ButtonInteraction, type Interaction } from 'discord.js';

import type { RunInBackground } from '../run-in-background.ts';
import { createAdmission, type AdmissionOptions } from './admission.ts';
import { createAnswering, type AnsweringOptions } from './answering.ts';
import { createCompletions, type CompletionsOptions } from './completions.ts';
import { createMessageMenus, type MessageMenusOptions } from './message-menus.ts';
import { readPageButton } from './page-buttons.ts';
import { createPager, type PagerOptions } from './pager.ts';
import { createSlashCommands, type SlashCommandsOptions } from './slash-commands.ts';

export type InteractionsOptions = AdmissionOptions &
  Omit<AnsweringOptions, 'admit' | 'pager'> &
  Omit<SlashCommandsOptions, 'answer'> &
  Omit<MessageMenusOptions, 'answer'> &
  Omit<CompletionsOptions, 'admit'> &
  PagerOptions & { readonly runInBackground: RunInBackground };

export interface Interactions {
  /** Takes an interaction in; whoever made it gets an answer in any case. Never throws. */
  take(interaction: Interaction): void;
  /** From now on people are told to come back after the restart. */
  stop(): void;
}

const restarting = 'I am being restarted. Please try again in a moment.';
const unknown = 'I do not know any more what this was for. Please give the command again.';

/** Everything that people do with the bot by commands, menus and buttons. */
export function createInteractions(options: InteractionsOptions): Interactions {
  const { runInBackground, logger } = options;
  const admit = createAdmission(options);
  const pager = createPager(options);
  const answer = createAnswering({ ...options, admit, pager });
  const slashCommand = createSlashCommands({ ...options, answer });
  const messageMenu = createMessageMenus({ ...options, answer });
  const complete = createCompletions({ ...options, admit });
  let isStopped = false;

  return {
    take(interaction) {
      if (isStopped) runInBackground('an interaction while stopping', () => tell(interaction, restarting));
      else if (interaction.isChatInputCommand())
        runInBackground('a slash command', () => slashCommand(interaction));
      else if (interaction.isMessageContextMenuCommand())
        runInBackground('a menu entry', () => messageMenu(interaction));
      else if (interaction.isAutocomplete()) runInBackground('a completion', () => complete(interaction));
      else if (interaction.isButton()) runInBackground('a click', () => clicked(interaction));
      else runInBackground('an interaction', () => tell(interaction, unknown));
    },
    stop() {
      isStopped = true;
      pager.close();
    },
  };

  async function clicked(interaction: ButtonInteraction): Promise<void> {
    const button = readPageButton(interaction.customId);
    const admission = await admit(interaction);
    try {
      if (admission.kind === 'refused') await tell(interaction, admission.line);
      else if (button === undefined) await tell(interaction, unknown);
      else await pager.turn(interaction, button);
    } catch (error) {
      logger.warn('a click could not be answered', { channelId: interaction.channelId, error });
    }
  }
}

/** A line for the person's own eyes, or no choices where they are typing. */
async function tell(interaction: Interaction, content: string): Promise<void> {
  if (interaction.isAutocomplete()) await interaction.respond([]);
  else await interaction.reply({ content, flags: MessageFlags.Ephemeral });
}
