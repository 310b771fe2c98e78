import type { CommandDefinition } from '../../core/application-command.ts';
import type { Logger } from '../../core/logger.ts';
import type { DiscordApi } from '../discord-api.ts';
import { areSameDefinitions } from './same-definition.ts';

export interface RegistrationOptions {
  readonly api: Pick<DiscordApi, 'registeredCommands' | 'registerCommands'>;
  readonly applicationId: string;
  /** All commands and menu entries that there should be; whatever else is registered is removed. */
  readonly definitions: readonly CommandDefinition[];
  /** Where not empty, commands are registered for these guilds only, at once and without DMs: for development. */
  readonly guildIds: readonly string[];
  /** The guilds that the bot is in. */
  readonly botGuildIds: readonly string[];
  /** Ends the tidying up. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/**
 * Sees to it that Discord has the commands in one scope, global or the guilds for development, and writes only what differs. What was
 * registered in the other scope goes, so that nobody sees a command twice: before anything is registered for the first time. Never
 * rejects: without commands `!memory` still works. Resolves when the commands can be used, with what tidies up the rest, which is a request a
 * guild.
 */
export async function registerCommands(options: RegistrationOptions): Promise<() => Promise<void>> {
  const { api, applicationId, definitions, botGuildIds, signal, logger } = options;
  const guildIds = options.guildIds.filter((guildId) => botGuildIds.includes(guildId));
  // Discord counts asking for them as an invalid request.
  for (const guildId of options.guildIds.filter((each) => !botGuildIds.includes(each)))
    logger.warn('commands are not registered for a guild that the bot is not in', { guildId });
  // A wrong id takes the commands from nobody.
  if (guildIds.length === 0 && options.guildIds.length > 0) return () => Promise.resolve();

  if (guildIds.length > 0) {
    await write([], undefined, await registered());
    const inGuild = definitions.map(withoutScope);
    for (const guildId of guildIds) await write(inGuild, guildId, await registered(guildId));
    return tidyUp;
  }
  const present = await registered();
  if (present?.length === 0) await tidyUp();
  await write(definitions, undefined, present);
  return present?.length === 0 ? () => Promise.resolve() : tidyUp;

  async function tidyUp(): Promise<void> {
    for (const guildId of botGuildIds) {
      if (signal.aborted) return;
      if (!guildIds.includes(guildId)) await write([], guildId, await registered(guildId));
    }
  }

  async function registered(guildId?: string): Promise<readonly object[] | undefined> {
    try {
      return await api.registeredCommands(applicationId, guildId);
    } catch (error) {
      logger.warn('the registered commands could not be read', { scope: guildId ?? 'global', error });
      return undefined;
    }
  }

  async function write(
    wanted: readonly CommandDefinition[],
    guildId: string | undefined,
    current: readonly object[] | undefined,
  ): Promise<void> {
    if (current === undefined || areSameDefinitions(current, wanted)) return;
    const scope = guildId ?? 'global';
    try {
      await api.registerCommands(applicationId, wanted, guildId);
      logger.info('commands were registered', { scope, count: wanted.length });
    } catch (error) {
      logger.warn('the commands could not be registered', { scope, error });
    }
  }
}

/** Where a guild's own command can be used goes without saying; Discord knows these fields of global commands only. */
function withoutScope(definition: CommandDefinition): CommandDefinition {
  const { contexts: _, integration_types: __, ...rest } = definition;
  return rest;
}
