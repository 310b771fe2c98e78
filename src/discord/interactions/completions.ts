import { setTimeout as delay } from 'node:timers/promises';

import type { AutocompleteInteraction } from 'discord.js';

import type { Choice, InteractionHandlers, SlashCommand } from '../../core/application-command.ts';
import type { Logger } from '../../core/logger.ts';
import type { Admission, Asking } from './admission.ts';

/** Discord waits 3 seconds for choices; the way there takes its part. */
const choicesWithinMs = 2000;

export interface CompletionsOptions {
  readonly slashCommands: readonly SlashCommand[];
  readonly admit: (interaction: Asking) => Promise<Admission>;
  readonly handlers: Pick<InteractionHandlers, 'complete'>;
  readonly logger: Logger;
}

/** Offers what may be typed next; nothing to people without access, or where it cannot be told in time. The returned function never rejects. */
export function createCompletions(
  options: CompletionsOptions,
): (interaction: AutocompleteInteraction) => Promise<void> {
  const { slashCommands, admit, handlers, logger } = options;

  return async (interaction) => {
    try {
      await interaction.respond(await choicesInTime(interaction));
    } catch (error) {
      logger.debug('choices could not be offered', { channelId: interaction.channelId, error });
    }
  };

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
    const command = slashCommands.find(({ name }) => name === interaction.commandName);
    const admission = await admit(interaction);
    if (command === undefined || admission.kind === 'refused') return [];
    const { name: option, value: typed } = interaction.options.getFocused(true);
    return handlers.complete({
      ...admission.asker,
      name: command.name,
      subcommand: interaction.options.getSubcommand(false) ?? '',
      option,
      typed,
    });
  }
}
