import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
  PermissionFlagsBits,
} from 'discord.js';

import type { CommandDefinition, OptionDefinition } from '../../core/commands.ts';
import type { Logger } from '../../core/logger.ts';
import { growingPause, retry } from '../../core/time.ts';
import type { DiscordApi } from '../discord-api.ts';
import { refusalOf } from '../refusals.ts';

interface ApplicationCommand {
  readonly name: string;
  readonly [key: string]: unknown;
}

const { GuildInstall, UserInstall } = ApplicationIntegrationType;
const { Guild, BotDM, PrivateChannel } = InteractionContextType;
/** Where the bot is not, too: there what needs a channel of its own says so [EW1]. */
const everywhere = {
  integration_types: [GuildInstall, UserInstall],
  contexts: [Guild, BotDM, PrivateChannel],
};
const whereTheBotIs = { integration_types: [GuildInstall], contexts: [Guild, BotDM] };

export function slashCommand(definition: CommandDefinition): ApplicationCommand {
  const { name, description, subcommands = {}, help } = definition;
  const own = Object.entries(definition.options ?? {}).map((entry) => slashOption(...entry));
  const all: CommandDefinition['subcommands'] = { ...subcommands, ...(help !== undefined && { help }) };
  return {
    type: ApplicationCommandType.ChatInput,
    name,
    description,
    ...everywhere,
    default_member_permissions: shownTo(definition),
    options: [...grouped(all, definition.groups), ...own],
  };
}

/** Nobody but administrators has none. */
function shownTo({ ownerOnly, managersOnly }: CommandDefinition): string | undefined {
  if (ownerOnly !== undefined) return '0';
  return managersOnly && String(PermissionFlagsBits.ManageGuild);
}

/** Each group stands where its first subcommand would. */
function grouped(
  subcommands: NonNullable<CommandDefinition['subcommands']>,
  groups: NonNullable<CommandDefinition['groups']> = {},
): readonly object[] {
  const offered = Object.entries(subcommands).filter(([, { isHidden }]) => isHidden !== true);
  const names = new Set(offered.map(([name, { group }]) => group ?? name));
  return [...names].flatMap<object>((name) => {
    const options = offered
      .filter(([subcommand, { group }]) => (group ?? subcommand) === name)
      .map(([subcommand, definition]) => ({
        type: ApplicationCommandOptionType.Subcommand,
        name: subcommand,
        description: definition.description,
        options: Object.entries(definition.options ?? {}).map((entry) => slashOption(...entry)),
      }));
    if (!Object.hasOwn(groups, name)) return options;
    const description = groups[name];
    return [{ type: ApplicationCommandOptionType.SubcommandGroup, name, description, options }];
  });
}

function slashOption(name: string, definition: OptionDefinition) {
  const { kind, description } = definition;
  const { String, Role, Mentionable, Attachment } = ApplicationCommandOptionType;
  const required = definition.isOptional !== true;
  const common = { name, description, required };
  if (kind === 'role') return { type: Role, ...common };
  if (kind === 'who') return { type: Mentionable, ...common };
  if (kind === 'attachment') return { type: Attachment, ...common };
  if (kind !== 'choice') return { type: String, ...common, autocomplete: definition.autocomplete === true };
  const choices = definition.choices.map((choice) => ({ name: choice.name, value: choice.value }));
  return { type: String, ...common, choices };
}

export function commandsToRegister(
  definitions: readonly CommandDefinition[],
  menuNames: readonly string[],
): readonly ApplicationCommand[] {
  return [
    ...definitions.map(slashCommand),
    ...menuNames.map((name) => ({ type: ApplicationCommandType.Message, name, ...everywhere })),
  ];
}

const firstPauseMs = 1000;
const longestPauseMs = 10 * 60_000;
/** Each takes a request, so they are asked only where they are few. */
const mostGuildsAsked = 100;

/**
 * Registers commands until it is done [O7]: together, with an app's Entry Point command, or each alone where one is
 * refused. What the app once registered in a server alone goes where it has one of our names, and is named elsewhere.
 * Never rejects.
 */
export async function registerCommands(
  api: DiscordApi,
  applicationId: string,
  commands: readonly ApplicationCommand[],
  guildIds: readonly string[],
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<void> {
  async function register(): Promise<void> {
    await api.registerCommands(applicationId, commands).catch(async (error: unknown) => {
      if (refusalOf(error) !== 'content') throw error;
      const entryPoints = (await api.registeredCommands(applicationId)).filter(isEntryPoint);
      if (entryPoints.length > 0) return api.registerCommands(applicationId, [...commands, ...entryPoints]);
      for (const command of commands) await registerAlone(command);
    });
    logger.info('commands were registered', { count: commands.length });
  }

  async function registerAlone(command: ApplicationCommand): Promise<void> {
    for (const form of [command, { ...withPlainOptions(command), ...whereTheBotIs }])
      try {
        return await api.registerCommand(applicationId, form);
      } catch (error) {
        if (refusalOf(error) !== 'content') throw error;
        logger.warn('a command was refused', { name: command.name, error });
      }
  }

  async function removeOld(guildId: string): Promise<void> {
    const found = await api.registeredCommands(applicationId, guildId);
    const others = found.filter(({ name }) => commands.every((command) => command.name !== name));
    if (others.length < found.length) await api.registerCommands(applicationId, others, guildId);
    const names = others.map(({ name }) => name);
    if (names.length > 0)
      logger.warn('a server has commands of this app that are not ours', { guildId, names });
  }

  function pauseAfter(error: unknown, failures: number): number {
    if (refusalOf(error) !== undefined) throw error;
    const inMs = growingPause(failures, firstPauseMs, longestPauseMs);
    logger.warn('the commands could not be registered; it is tried again', { inMs, error });
    return inMs;
  }

  try {
    await retry(register, pauseAfter, { signal });
  } catch (error) {
    if (!signal.aborted) logger.warn('the commands could not be registered', { error });
  }
  try {
    for (const guildId of guildIds.length > mostGuildsAsked ? [] : guildIds) await removeOld(guildId);
  } catch (error) {
    // It is tried again at the next start; and not every server has commands of a guild's own.
    logger.debug('commands of servers could not be read', { error });
  }
}

export function isEntryPoint({ type }: { readonly type: ApplicationCommandType }): boolean {
  return type === ApplicationCommandType.PrimaryEntryPoint;
}

/** Without options of kinds that came to Discord later, which other servers may not know. */
function withPlainOptions(command: ApplicationCommand): object {
  return JSON.parse(JSON.stringify(command), (_, value: unknown) =>
    Array.isArray(value)
      ? value.filter((part) => !(Object(part).type > ApplicationCommandOptionType.String))
      : value,
  );
}
