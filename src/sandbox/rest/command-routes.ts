import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
  type APIApplicationCommandOption,
} from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { commandPayload } from '../payloads/interaction-payload.ts';
import type { Command } from '../world/entities.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { guildWithBot, type RestContext } from './rest-context.ts';

/** How many commands of a type there may be, globally and in each guild. */
const mostCommands = { [ApplicationCommandType.ChatInput]: 100, [ApplicationCommandType.Message]: 15 };

interface OnCommands {
  readonly Params: { readonly application: string; readonly guild?: string };
}
/** Commands of the application: global ones, and those of each guild. */
export function commandRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  for (const path of [
    '/applications/:application/commands',
    '/applications/:application/guilds/:guild/commands',
  ]) {
    app.get<OnCommands>(path, ({ params }) => registered(scopeOf(params)).map(payload));

    app.put<OnCommands>(path, ({ params, body }) => {
      const guildId = scopeOf(params);
      const forms = parseCommandForms(body);
      requireRoom(forms);
      const former = registered(guildId);
      for (const { id } of former) world.commands.delete(id);
      for (const form of forms) {
        // A command keeps its id as long as its name stays.
        const same = former.find(({ name, type }) => name === form.name && type === form.type);
        const id = same?.id ?? world.nextId();
        world.commands.set(id, { ...form, id, guildId, version: world.nextId() });
      }
      return registered(guildId).map(payload);
    });
  }

  /** The guild's id, or `undefined` for global commands. */
  function scopeOf({ application, guild }: OnCommands['Params']): string | undefined {
    if (application !== world.application.id) throw apiErrors.unknownApplication();
    return guild === undefined ? undefined : guildWithBot(context, guild).id;
  }

  function registered(guildId: string | undefined): readonly Command[] {
    return [...world.commands.values()].filter((command) => command.guildId === guildId);
  }

  function payload(command: Command): object {
    return commandPayload(world, command);
  }
}

function requireRoom(forms: readonly CommandForm[]): void {
  for (const type of new Set(forms.map((form) => form.type))) {
    const most = mostCommands[type];
    if (forms.filter((form) => form.type === type).length > most) throw apiErrors.tooManyCommands(most);
  }
}

const slashName = z
  .string()
  .regex(/^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u)
  .refine((name) => name === name.toLowerCase(), 'Command name is invalid');
const named = { name: slashName, description: z.string().min(1).max(100) };
const valued = { ...named, required: z.boolean().optional() };
const choice = z.object({ name: z.string().min(1).max(100), value: z.string().max(100) });

const valueOption = z
  .discriminatedUnion('type', [
    z.object({
      ...valued,
      type: z.literal(ApplicationCommandOptionType.String),
      autocomplete: z.boolean().optional(),
      choices: z.array(choice).max(25).optional(),
      min_length: z.int().min(0).max(6_000).optional(),
      max_length: z.int().min(1).max(6_000).optional(),
    }),
    z.object({
      ...valued,
      type: z.literal([
        ApplicationCommandOptionType.Role,
        ApplicationCommandOptionType.Mentionable,
        ApplicationCommandOptionType.Attachment,
      ]),
    }),
  ])
  .refine(
    (option) => !('choices' in option && option.choices !== undefined && option.autocomplete === true),
    { error: 'Autocomplete cannot be set where choices are', path: ['autocomplete'] },
  );

const valueOptions = optionList(valueOption).refine(
  (options) =>
    options.every(({ required }, index) => {
      const before = options[index - 1];
      return required !== true || before === undefined || before.required === true;
    }),
  'Required options must be placed before non-required options',
);

const subcommand = z.object({
  ...named,
  type: z.literal(ApplicationCommandOptionType.Subcommand),
  options: valueOptions.optional(),
});

const subcommands = optionList(
  z.discriminatedUnion('type', [
    subcommand,
    z.object({
      ...named,
      type: z.literal(ApplicationCommandOptionType.SubcommandGroup),
      options: optionList(subcommand).optional(),
    }),
  ]),
);

const common = {
  default_member_permissions: z
    .string()
    .regex(/^\d{1,20}$/)
    .nullish(),
  dm_permission: z.boolean().nullish(),
  contexts: z.array(z.enum(InteractionContextType)).min(1).nullish(),
  integration_types: z.array(z.enum(ApplicationIntegrationType)).nullish(),
  nsfw: z.boolean().optional(),
};

/** Either subcommands, alone or in groups, or options of its own. */
const commandSchema = z.discriminatedUnion('type', [
  z.object({
    ...common,
    ...named,
    type: z.literal(ApplicationCommandType.ChatInput),
    options: z.union([subcommands, valueOptions]).optional(),
  }),
  z.object({
    ...common,
    type: z.literal(ApplicationCommandType.Message),
    name: z.string().trim().min(1).max(32),
    description: z.literal('', 'Context menu commands cannot have description').optional(),
    options: z.array(z.never()).optional(),
  }),
]);

const commandsSchema = z
  .array(z.preprocess(withType, commandSchema))
  .refine(
    (commands) => new Set(commands.map(({ type, name }) => `${type} ${name}`)).size === commands.length,
    'Application command names must be unique',
  );

/** What the bot decides of a command; the rest is Discord's. */
type CommandForm = Omit<Command, 'id' | 'guildId' | 'version'>;

/** Reads commands as Discord would take them; a command without a type is a slash command. @throws {ApiError} 50035 */
export function parseCommandForms(body: unknown): readonly CommandForm[] {
  return parseForm(commandsSchema, body).map(commandForm);
}

function commandForm(form: z.infer<typeof commandSchema>): CommandForm {
  const permissions = form.default_member_permissions;
  const contexts =
    form.contexts ?? (form.dm_permission === false ? [InteractionContextType.Guild] : undefined);
  return {
    type: form.type,
    name: form.name,
    description: form.description ?? '',
    options: withoutAbsent(form.options ?? []),
    memberPermissions: typeof permissions === 'string' ? BigInt(permissions) : undefined,
    contexts,
    nsfw: form.nsfw ?? false,
  };
}

function optionList<Option extends z.ZodType<{ readonly name: string }>>(option: Option) {
  return z
    .array(option)
    .max(25)
    .refine(
      (options) => new Set(options.map(({ name }) => name)).size === options.length,
      'Option names must be unique',
    );
}

function withType(value: unknown): unknown {
  return typeof value === 'object' && value !== null
    ? { ...value, type: ('type' in value ? value.type : undefined) ?? ApplicationCommandType.ChatInput }
    : value;
}

/** The options without keys that say nothing, so that equal commands look equal. */
function withoutAbsent(options: readonly object[]): readonly APIApplicationCommandOption[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has read it; only absent keys go
  return JSON.parse(JSON.stringify(options)) as APIApplicationCommandOption[];
}
