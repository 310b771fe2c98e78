import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
  PermissionFlagsBits,
} from 'discord.js';

import type { CommandDefinition, OptionDefinition } from '../../core/commands.ts';
import type { Logger } from '../../core/logger.ts';
import type { DiscordApi } from '../discord-api.ts';

export interface ApplicationCommand {
  readonly name: string;
  readonly [key: string]: unknown;
}

const inServers = { integration_types: [ApplicationIntegrationType.GuildInstall] };
const everywhere = { ...inServers, contexts: [InteractionContextType.Guild, InteractionContextType.BotDM] };

export function slashCommand(definition: CommandDefinition): ApplicationCommand {
  const { name, description, serverOnly, subcommands = {}, help } = definition;
  const own = Object.entries(definition.options ?? {}).map((entry) => slashOption(...entry));
  const all: CommandDefinition['subcommands'] = { ...subcommands, ...(help !== undefined && { help }) };
  const isEverywhere =
    serverOnly === undefined || Object.values(subcommands).some(({ isAnywhere }) => isAnywhere);
  return {
    type: ApplicationCommandType.ChatInput,
    name,
    description,
    ...(isEverywhere ? everywhere : { ...inServers, contexts: [InteractionContextType.Guild] }),
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
  const required = !('isOptional' in definition && definition.isOptional === true);
  const common = { name, description, required };
  if (kind === 'role') return { type: Role, ...common };
  if (kind === 'who') return { type: Mentionable, ...common };
  if (kind === 'attachment') return { type: Attachment, ...common };
  if (kind !== 'choice') return { type: String, ...common, autocomplete: definition.autocomplete === true };
  const choices = definition.choices.map((choice) => ({ name: choice.name, value: choice.value }));
  return { type: String, ...common, choices };
}

export function wantedCommands(
  definitions: readonly CommandDefinition[],
  menuNames: readonly string[],
): readonly ApplicationCommand[] {
  return [
    ...definitions.map(slashCommand),
    ...menuNames.map((name) => ({ type: ApplicationCommandType.Message, name, ...everywhere })),
  ];
}

/** Replaces all that were registered before. Never rejects. */
export async function registerCommands(options: {
  readonly api: Pick<DiscordApi, 'registerCommands'>;
  readonly applicationId: string;
  readonly commands: readonly ApplicationCommand[];
  readonly logger: Logger;
}): Promise<void> {
  const { api, applicationId, commands, logger } = options;
  try {
    await api.registerCommands(applicationId, commands);
    logger.info('commands were registered', { count: commands.length });
  } catch (error) {
    logger.warn('the commands could not be registered', { error });
  }
}
