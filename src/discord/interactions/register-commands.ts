import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
  PermissionFlagsBits,
} from 'discord.js';
import { z } from 'zod';

import type { CommandDefinition, OptionDefinition, SubcommandDefinition } from '../../core/commands.ts';
import type { Logger } from '../../core/logger.ts';
import type { DocumentKind, Store } from '../../core/store.ts';
import type { DiscordApi } from '../discord-api.ts';

/** An application command in Discord's JSON. */
export interface ApplicationCommand {
  readonly name: string;
  readonly [key: string]: unknown;
}

const inServers = { integration_types: [ApplicationIntegrationType.GuildInstall] };
const everywhere = { ...inServers, contexts: [InteractionContextType.Guild, InteractionContextType.BotDM] };

/** A command's slash form. */
export function slashCommand(definition: CommandDefinition): ApplicationCommand {
  const { name, description, ownerOnly, managersOnly, serverOnly, subcommands = {}, help } = definition;
  const own = Object.entries(definition.options ?? {}).map((entry) => slashOption(...entry));
  const all: CommandDefinition['subcommands'] = { ...subcommands, ...(help !== undefined && { help }) };
  return {
    type: ApplicationCommandType.ChatInput,
    name,
    description,
    ...(serverOnly === undefined ? everywhere : { ...inServers, contexts: [InteractionContextType.Guild] }),
    ...(managersOnly === undefined
      ? {}
      : { default_member_permissions: String(PermissionFlagsBits.ManageGuild) }),
    // Nobody but administrators is shown it in servers; in a DM it is there.
    ...(ownerOnly === undefined ? {} : { default_member_permissions: '0' }),
    options: [...grouped(all, definition.groups), ...own],
  };
}

/** The subcommands that people are offered, with each group where its first one would stand. */
function grouped(
  subcommands: NonNullable<CommandDefinition['subcommands']>,
  groups: NonNullable<CommandDefinition['groups']> = {},
): readonly object[] {
  const offered = Object.entries(subcommands).filter(([, { isHidden }]) => isHidden !== true);
  const names = new Set(offered.map(([name, { group }]) => group ?? name));
  return [...names].flatMap<object>((name) => {
    const description = Object.hasOwn(groups, name) ? groups[name] : undefined;
    const options = offered.flatMap(([subcommand, its]) =>
      its.group === name || (its.group === undefined && subcommand === name)
        ? [slashSubcommand(subcommand, its)]
        : [],
    );
    return description === undefined
      ? options
      : [{ type: ApplicationCommandOptionType.SubcommandGroup, name, description, options }];
  });
}

function slashSubcommand(name: string, { description, options = {} }: SubcommandDefinition) {
  return {
    type: ApplicationCommandOptionType.Subcommand,
    name,
    description,
    options: Object.entries(options).map((entry) => slashOption(...entry)),
  };
}

function slashOption(name: string, definition: OptionDefinition) {
  const { description } = definition;
  if (definition.kind === 'role')
    return { type: ApplicationCommandOptionType.Role, name, description, required: true };
  if (definition.kind === 'attachment')
    return { type: ApplicationCommandOptionType.Attachment, name, description, required: true };
  const common = { type: ApplicationCommandOptionType.String, name, description };
  const required = definition.isOptional !== true;
  if (definition.kind !== 'choice')
    return { ...common, required, autocomplete: definition.autocomplete === true };
  const choices = definition.choices.map((choice) => ({ name: choice.name, value: choice.value }));
  return { ...common, required, choices };
}

/** An entry in the menu of every message. */
export function messageMenuCommand(name: string): ApplicationCommand {
  return { type: ApplicationCommandType.Message, name, ...everywhere };
}

/** All that Discord is to have: commands, and entries in the menu of every message. */
export function wantedCommands(
  definitions: readonly CommandDefinition[],
  menuNames: readonly string[],
): readonly ApplicationCommand[] {
  return [...definitions.map(slashCommand), ...menuNames.map(messageMenuCommand)];
}

export interface RegistrationOptions {
  readonly api: Pick<DiscordApi, 'registeredCommands' | 'registerCommands'>;
  readonly applicationId: string;
  /** All commands and menu entries that there should be; whatever else is registered is removed. */
  readonly commands: readonly ApplicationCommand[];
  /** Where not empty, commands are registered for these guilds only, at once and without DMs: for development. */
  readonly guildIds: readonly string[];
  /** The guilds that the bot is in; asked for only where they matter. May reject. */
  readonly botGuildIds: () => Promise<readonly string[]>;
  /** Where it is remembered in which guilds commands were registered. */
  readonly store: Pick<Store, 'read' | 'update'>;
  /** Ends the tidying up. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

const guildsKey = 'command-guilds.json';
const guildsSchema = z.object({ version: z.literal(1), guildIds: z.array(z.string()).readonly() });
export const guildsKind: DocumentKind<z.infer<typeof guildsSchema>> = { version: 1, schema: guildsSchema };

/** Between two guilds, while all are asked; milliseconds. */
const pauseMs = 100;

/**
 * Sees to it that Discord has the commands in one scope, global or the guilds for development, and writes only what differs. What was
 * registered in the other scope goes first, so that nobody sees a command twice: in the guilds where it is remembered. Where nothing is
 * remembered yet, all guilds are asked, once and slowly, after the commands can be used. Never rejects: without commands `!memory` still
 * works, and those that Discord knows already work before.
 */
export async function registerCommands(options: RegistrationOptions): Promise<void> {
  const { api, applicationId, commands, store, signal, logger } = options;
  const known = await remembered();
  const found = await guildsOfTheBot();
  if (found === undefined) {
    // For those of everywhere no guild is needed; what may be left in one waits for the next start.
    if (options.guildIds.length === 0) await write(commands, undefined, await registered());
    return;
  }
  const botGuildIds = found;
  const guildIds = options.guildIds.filter((guildId) => botGuildIds.includes(guildId));
  // Discord counts asking for them as an invalid request.
  for (const guildId of options.guildIds.filter((each) => !botGuildIds.includes(each)))
    logger.warn('commands are not registered for a guild that the bot is not in', { guildId });
  // A wrong id takes the commands from nobody.
  if (guildIds.length === 0 && options.guildIds.length > 0) return;

  const isElsewhere = (guildId: string): boolean => !guildIds.includes(guildId);
  const leftovers = (known ?? []).filter(isElsewhere);
  if (known !== undefined) await remember([...leftovers, ...guildIds]);
  const uncertain = await removeFrom(leftovers);
  if (guildIds.length > 0) await write([], undefined, await registered());
  for (const guildId of guildIds) await write(commands.map(withoutScope), guildId, await registered(guildId));
  if (guildIds.length === 0) await write(commands, undefined, await registered());
  if (known === undefined) uncertain.push(...(await removeFrom(botGuildIds.filter(isElsewhere), pauseMs)));
  if (!signal.aborted) await remember([...uncertain, ...guildIds]);

  /** Resolves with the guilds that may still have commands. */
  async function removeFrom(guilds: readonly string[], pause = 0): Promise<string[]> {
    const failed: string[] = [];
    for (const [index, guildId] of guilds.entries()) {
      if (index > 0 && pause > 0) await delay(pause, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) break;
      const isThere = botGuildIds.includes(guildId);
      if (!isThere || !(await write([], guildId, await registered(guildId)))) failed.push(guildId);
    }
    return failed;
  }

  /** None where no guild is spoken of; `undefined` where they are not known. */
  async function guildsOfTheBot(): Promise<readonly string[] | undefined> {
    if (options.guildIds.length === 0 && known?.length === 0) return [];
    try {
      return await options.botGuildIds();
    } catch (error) {
      logger.warn('the commands could not be registered', { scope: 'guilds', error });
      return undefined;
    }
  }

  async function remembered(): Promise<readonly string[] | undefined> {
    try {
      return (await store.read(guildsKey, guildsKind))?.guildIds;
    } catch (error) {
      logger.warn('in which guilds commands were registered is not known', { error });
      return undefined;
    }
  }

  async function remember(ids: readonly string[]): Promise<void> {
    try {
      await store.update(guildsKey, guildsKind, (current) =>
        isDeepStrictEqual(current?.guildIds, ids) ? current : { version: 1 as const, guildIds: [...ids] },
      );
    } catch (error) {
      logger.warn('in which guilds commands were registered could not be kept', { error });
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

  /** Whether it is registered as wanted now. */
  async function write(
    wanted: readonly ApplicationCommand[],
    guildId: string | undefined,
    current: readonly object[] | undefined,
  ): Promise<boolean> {
    if (current === undefined) return false;
    if (areSameCommands(current, wanted)) return true;
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

/** Where a guild's own command can be used goes without saying; Discord knows these fields of global commands only. */
export function withoutScope(global: ApplicationCommand): ApplicationCommand {
  const { contexts: _, integration_types: __, ...rest } = global;
  return rest;
}

type Json = Readonly<Record<string, unknown>>;

/** What a command has that is not given, as Discord answers with it. */
const commandDefaults: Json = {
  type: 1,
  name: '',
  description: '',
  options: [],
  contexts: null,
  integration_types: [0],
  default_member_permissions: null,
  nsfw: false,
};

const optionDefaults: Json = {
  type: null,
  name: '',
  description: '',
  required: false,
  autocomplete: false,
  choices: [],
  options: [],
  channel_types: [],
  min_value: null,
  max_value: null,
  min_length: null,
  max_length: null,
};

const choiceDefaults: Json = { name: '', value: null };

/**
 * Whether what is registered is what should be. Neither the order of commands or keys, nor defaults, nor what Discord adds of its own, is a
 * difference.
 */
export function areSameCommands(
  registered: readonly object[],
  wanted: readonly ApplicationCommand[],
): boolean {
  return comparable(registered) === comparable(wanted);
}

function comparable(commands: readonly object[]): string {
  return JSON.stringify(commands.map((each) => JSON.stringify(comparableCommand(each))).toSorted());
}

function comparableCommand(definition: object): Json {
  const { contexts, integration_types: types, options, ...rest } = withDefaults(definition, commandDefaults);
  return {
    ...rest,
    contexts: sorted(contexts),
    types: sorted(types),
    options: listOf(options, comparableOption),
  };
}

/** Options keep their order: people see it. */
function comparableOption(given: object): Json {
  const { choices, options, channel_types: types, ...rest } = withDefaults(given, optionDefaults);
  return {
    ...rest,
    types: sorted(types),
    choices: listOf(choices, (choice) => withDefaults(choice, choiceDefaults)),
    options: listOf(options, comparableOption),
  };
}

/** The known keys, in their order. */
function withDefaults(given: object, defaults: Json): Json {
  const values = new Map<string, unknown>(Object.entries(given));
  return Object.fromEntries(Object.entries(defaults).map(([key, value]) => [key, values.get(key) ?? value]));
}

function listOf(value: unknown, read: (element: object) => Json): readonly Json[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((element: unknown) =>
    typeof element === 'object' && element !== null ? [read(element)] : [],
  );
}

function sorted(value: unknown): unknown {
  return Array.isArray(value) ? value.map(String).toSorted() : value;
}
