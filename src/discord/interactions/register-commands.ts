import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
  PermissionFlagsBits,
} from 'discord.js';
import { z } from 'zod';

import type { CommandDefinition, OptionDefinition } from '../../core/commands.ts';
import type { Logger } from '../../core/logger.ts';
import type { DocumentKind, Store } from '../../core/store.ts';
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
  return {
    type: ApplicationCommandType.ChatInput,
    name,
    description,
    ...(serverOnly === undefined ? everywhere : { ...inServers, contexts: [InteractionContextType.Guild] }),
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
  const { String, Role, Attachment } = ApplicationCommandOptionType;
  const required = !('isOptional' in definition && definition.isOptional === true);
  const common = { name, description, required };
  if (kind === 'role') return { type: Role, ...common };
  if (kind === 'attachment') return { type: Attachment, ...common };
  if (kind !== 'choice') return { type: String, ...common, autocomplete: definition.autocomplete === true };
  const choices = definition.choices.map((choice) => ({ name: choice.name, value: choice.value }));
  return { type: String, ...common, choices };
}

export function messageMenuCommand(name: string): ApplicationCommand {
  return { type: ApplicationCommandType.Message, name, ...everywhere };
}

export function wantedCommands(
  definitions: readonly CommandDefinition[],
  menuNames: readonly string[],
): readonly ApplicationCommand[] {
  return [...definitions.map(slashCommand), ...menuNames.map(messageMenuCommand)];
}

export interface RegistrationOptions {
  readonly api: Pick<DiscordApi, 'registerCommands'>;
  readonly applicationId: string;
  /** Others are removed. */
  readonly commands: readonly ApplicationCommand[];
  /** For development: registered only there, at once and without DMs. */
  readonly guildIds: readonly string[];
  /** Asked only where it matters. May reject. */
  readonly botGuildIds: () => Promise<readonly string[]>;
  readonly store: Pick<Store, 'read' | 'update'>;
  readonly logger: Logger;
}

const guildsKey = 'command-guilds.json';
const guildsSchema = z.object({ version: z.literal(1), guildIds: z.array(z.string()).readonly() });
export const guildsKind: DocumentKind<z.infer<typeof guildsSchema>> = { version: 1, schema: guildsSchema };

/** Commands registered the other way are removed first. Never rejects. */
export async function registerCommands(options: RegistrationOptions): Promise<void> {
  await registerInScope(options).catch((error: unknown) =>
    options.logger.warn('the commands could not be registered', { error }),
  );
}

async function registerInScope(options: RegistrationOptions): Promise<void> {
  const { api, applicationId, commands, guildIds, store, logger } = options;
  const known = (await store.read(guildsKey, guildsKind))?.guildIds ?? [];
  const areGuildsAsked = guildIds.length > 0 || known.length > 0;
  const botGuildIds = new Set(areGuildsAsked ? await options.botGuildIds() : []);
  const present = guildIds.filter((guildId) => botGuildIds.has(guildId));
  // Discord would count asking for them as an invalid request.
  for (const guildId of guildIds.filter((each) => !botGuildIds.has(each)))
    logger.warn('commands are not registered for a guild that the bot is not in', { guildId });
  if (present.length === 0 && guildIds.length > 0) return;

  const leftovers = known.filter((guildId) => !present.includes(guildId));
  if (areGuildsAsked) await remember([...leftovers, ...present]);
  const remaining: string[] = [];
  for (const guildId of leftovers)
    if (!botGuildIds.has(guildId) || !(await write([], guildId))) remaining.push(guildId);
  await write(present.length > 0 ? [] : commands);
  for (const guildId of present) await write(commands.map(withoutScope), guildId);
  if (leftovers.length > 0) await remember([...remaining, ...present]);

  async function remember(ids: readonly string[]): Promise<void> {
    await store.update(guildsKey, guildsKind, () => ({ version: 1 as const, guildIds: [...ids] }));
  }

  async function write(wanted: readonly ApplicationCommand[], guildId?: string): Promise<boolean> {
    const scope = guildId ?? 'global';
    try {
      await api.registerCommands(applicationId, wanted, guildId);
      logger.info('commands were registered', { scope, count: wanted.length });
      return true;
    } catch (error) {
      logger.warn('the commands could not be registered', { scope, error });
      return false;
    }
  }
}

/** Discord knows these fields only in global commands. */
function withoutScope(global: ApplicationCommand): ApplicationCommand {
  const { contexts: _, integration_types: __, ...rest } = global;
  return rest;
}
