import { setTimeout as delay } from 'node:timers/promises';

import {
  ApplicationCommandOptionType,
  MessageFlags,
  type AutocompleteInteraction,
  type ButtonInteraction,
  type ChatInputCommandInteraction,
  type Interaction,
} from 'discord.js';

import type { CommandCall } from '../../core/chat.ts';
import type { Choice, CommandHandlers } from '../../core/commands.ts';
import { chatMessageOf } from '../normalise.ts';
import { admit, type AdmissionOptions } from './admission.ts';
import { createAnswering, type AnsweringOptions } from './answering.ts';
import { createPager, type PagerOptions } from './pager.ts';

/** Discord waits 3 seconds for choices; the way there takes its part. */
const choicesWithinMs = 2000;

const restarting = 'I am being restarted. Please try again in a moment.';
const unknown = 'I do not know any more what this was for. Please give the command again.';

export interface InteractionsOptions extends AdmissionOptions, Omit<AnsweringOptions, 'pager'>, PagerOptions {
  readonly botId: string;
  readonly handlers: CommandHandlers;
}

export interface Interactions {
  /** Takes an interaction in; whoever made it gets an answer in any case. Never throws. */
  take(interaction: Interaction): void;
  /** From now on people are told to come back after the restart. */
  stop(): void;
}

/** Everything that people do with the bot by commands, menus and buttons. */
export function createInteractions(options: InteractionsOptions): Interactions {
  const { botId, handlers, runInBackground, logger } = options;
  const pager = createPager(options);
  const answer = createAnswering({ ...options, pager });
  let isStopped = false;

  return {
    take(interaction) {
      if (isStopped) runInBackground('an interaction while stopping', () => tell(interaction, restarting));
      else if (interaction.isChatInputCommand())
        runInBackground('a slash command', () =>
          answer(interaction, (context) => handlers.command({ ...context, command: callOf(interaction) })),
        );
      else if (interaction.isMessageContextMenuCommand())
        runInBackground('a menu entry', () =>
          answer(interaction, (context) => {
            const message = chatMessageOf(interaction.targetMessage, botId);
            return handlers.menu({ ...context, name: interaction.commandName, message });
          }),
        );
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
    const admission = await admit(interaction, options);
    try {
      if (admission.kind === 'refused') await tell(interaction, admission.line);
      else if (!(await pager.click(interaction))) await tell(interaction, unknown);
    } catch (error) {
      logger.warn('a click could not be answered', { channelId: interaction.channelId, error });
    }
  }

  /** Offers what may be typed next; nothing to people without access, or where it cannot be told in time. */
  async function complete(interaction: AutocompleteInteraction): Promise<void> {
    try {
      await interaction.respond(await choicesInTime(interaction));
    } catch (error) {
      logger.debug('choices could not be offered', { channelId: interaction.channelId, error });
    }
  }

  async function choicesInTime(interaction: AutocompleteInteraction): Promise<readonly Choice[]> {
    const tooLate = new AbortController();
    try {
      const nothing = delay(choicesWithinMs, [], { signal: tooLate.signal }).catch(() => []);
      return await Promise.race([choices(interaction), nothing]);
    } catch (error) {
      logger.warn('choices could not be found', { channelId: interaction.channelId, error });
      return [];
    } finally {
      tooLate.abort();
    }
  }

  async function choices(interaction: AutocompleteInteraction): Promise<readonly Choice[]> {
    const admission = await admit(interaction, options);
    if (admission.kind === 'refused') return [];
    const { name: option, value: typed } = interaction.options.getFocused(true);
    return handlers.complete({
      ...admission.asker,
      name: interaction.commandName,
      subcommand: interaction.options.getSubcommand(false) ?? '',
      option,
      typed,
    });
  }
}

/** A slash command as its definition knows it: subcommand and options by name. */
function callOf({ commandName, options }: ChatInputCommandInteraction): CommandCall {
  const [first] = options.data;
  const isSubcommand = first?.type === ApplicationCommandOptionType.Subcommand;
  const given = isSubcommand ? (first.options ?? []) : options.data;
  return {
    name: commandName,
    subcommand: isSubcommand ? first.name : '',
    options: Object.fromEntries(given.map(({ name, value }) => [name, String(value ?? '')])),
  };
}

/** A line for the person's own eyes, or no choices where they are typing. */
async function tell(interaction: Interaction, content: string): Promise<void> {
  if (interaction.isAutocomplete()) await interaction.respond([]);
  else await interaction.reply({ content, flags: MessageFlags.Ephemeral });
}
