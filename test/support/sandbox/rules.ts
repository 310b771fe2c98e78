import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ButtonStyle,
  ComponentType,
  InteractionContextType,
  InteractionResponseType,
  TextInputStyle,
} from 'discord-api-types/v10';
import { z } from 'zod';

import type { ApiRequest } from '../../../src/sandbox/rest/rest-context.ts';

// What Discord would not take of what a bot hands in.

const text = (least: number, most: number) => z.string().min(least).max(most);
const customId = text(1, 100);

const button = z
  .object({
    type: z.literal(ComponentType.Button),
    style: z.enum(ButtonStyle),
    label: text(1, 80).optional(),
    emoji: z.unknown().optional(),
    custom_id: customId.optional(),
    url: z
      .url({ protocol: /^(?:https?|discord)$/ })
      .max(512)
      .optional(),
    disabled: z.boolean().optional(),
  })
  .refine(({ label, emoji }) => Boolean(label ?? emoji), 'A button needs a label or an emoji')
  .refine(
    ({ style, custom_id: id, url }) =>
      (style === ButtonStyle.Link) === (url !== undefined) && (url === undefined) === (id !== undefined),
    'A link has an address, any other button an id',
  );

const select = z.object({
  type: z.literal(ComponentType.StringSelect),
  custom_id: customId,
  options: z
    .array(
      z.object({ label: text(1, 100), value: text(1, 100), description: z.string().max(100).optional() }),
    )
    .min(1)
    .max(25)
    .refine((options) => isUnique(options.map(({ value }) => value)), 'Values must be unique'),
  placeholder: z.string().max(150).optional(),
});

/** Discord's rules for rows of components. */
export const componentRowsSchema = z
  .array(
    z.object({
      type: z.literal(ComponentType.ActionRow),
      components: z
        .array(z.discriminatedUnion('type', [button, select]))
        .min(1)
        .max(5)
        .refine(
          (components) =>
            components.length === 1 || components.every(({ type }) => type === ComponentType.Button),
          'A select needs a row of its own',
        ),
    }),
  )
  .max(5)
  .refine(
    (rows) => isUnique(rows.flatMap(({ components }) => components.flatMap(({ custom_id: id }) => id ?? []))),
    'Component custom id cannot be duplicated',
  );

function isUnique(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}

/** What Discord lets people write into a field at most. */
const fieldMaxChars = 4000;

const field = z.object({
  type: z.literal(ComponentType.TextInput),
  custom_id: customId,
  style: z.enum(TextInputStyle),
  max_length: z.int().min(1).max(fieldMaxChars).default(fieldMaxChars),
  value: z.string().max(fieldMaxChars).default(''),
  placeholder: z.string().max(100).default(''),
  label: z.undefined().optional(),
});

/** Discord's rules for a modal, as far as its parts are labelled text fields. */
export const modalSchema = z.object({
  custom_id: customId,
  title: text(1, 45),
  components: z
    .array(
      z.object({
        type: z.literal(ComponentType.Label),
        label: text(1, 45),
        description: text(1, 100).optional(),
        component: field.refine(
          ({ value, max_length: most }) => value.length <= most,
          'The value is longer than the field takes',
        ),
      }),
    )
    .min(1)
    .max(5)
    .refine(
      (parts) => isUnique(parts.map(({ component }) => component.custom_id)),
      'Component custom id cannot be duplicated',
    ),
});

const slashName = z
  .string()
  .regex(/^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u)
  .refine((name) => name === name.toLowerCase(), 'Command name is invalid');
const named = { name: slashName, description: z.string().min(1).max(100) };
const valued = { ...named, required: z.boolean().optional() };
const choice = z.object({ name: z.string().min(1).max(100), value: z.string().max(100) });

const valueOption = z.discriminatedUnion('type', [
  z.object({
    ...valued,
    type: z.literal(ApplicationCommandOptionType.String),
    autocomplete: z.boolean().optional(),
    choices: z.array(choice).max(25).optional(),
  }),
  z.object({
    ...valued,
    type: z.literal([
      ApplicationCommandOptionType.Role,
      ApplicationCommandOptionType.Mentionable,
      ApplicationCommandOptionType.Attachment,
    ]),
  }),
]);

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

const common = { contexts: z.array(z.enum(InteractionContextType)).min(1).nullish() };

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

export const commandsSchema = z
  .array(z.preprocess(withType, commandSchema))
  .refine(
    (commands) => isUnique(commands.map(({ type, name }) => `${type} ${name}`)),
    'Application command names must be unique',
  );

function optionList<Option extends z.ZodType<{ readonly name: string }>>(option: Option) {
  return z
    .array(option)
    .max(25)
    .refine((options) => isUnique(options.map(({ name }) => name)), 'Option names must be unique');
}

function withType(value: unknown): unknown {
  return typeof value === 'object' && value !== null
    ? { ...value, type: ('type' in value ? value.type : undefined) ?? ApplicationCommandType.ChatInput }
    : value;
}

export const messageSchema = z.looseObject({
  content: z.string().trim().max(2_000).nullish(),
  nonce: z.union([z.string().max(25), z.int()]).nullish(),
  components: componentRowsSchema.nullish(),
  allowed_mentions: z
    .object({
      parse: z.array(z.enum(['users', 'roles', 'everyone'])).optional(),
      users: z.array(z.string()).max(100).optional(),
      roles: z.array(z.string()).max(100).optional(),
      replied_user: z.boolean().optional(),
    })
    .nullish(),
  files: z.array(z.unknown()).max(10).optional(),
  poll: z
    .looseObject({
      question: z.object({ text: z.string().min(1).max(300) }),
      answers: z
        .array(z.object({ poll_media: z.looseObject({ text: z.string().min(1).max(55) }) }))
        .min(1)
        .max(10),
      duration: z.int().min(1).max(768).optional(),
    })
    .nullish(),
});

const choicesSchema = z
  .array(z.object({ name: z.string().min(1).max(100), value: z.string().min(1).max(100) }))
  .max(25);

const callbackSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal([
      InteractionResponseType.ChannelMessageWithSource,
      InteractionResponseType.DeferredChannelMessageWithSource,
      InteractionResponseType.DeferredMessageUpdate,
      InteractionResponseType.UpdateMessage,
    ]),
    data: messageSchema.optional(),
  }),
  z.object({ type: z.literal(InteractionResponseType.Modal), data: modalSchema }),
  z.object({
    type: z.literal(InteractionResponseType.ApplicationCommandAutocompleteResult),
    data: z.object({ choices: choicesSchema.optional() }),
  }),
]);

/** By method and path what a body has to be. */
const rules: readonly (readonly [RegExp, z.ZodType])[] = [
  [/^(?:POST|PATCH) \/channels\/\d+\/messages(?:\/\d+)?$/u, messageSchema],
  [/^(?:POST|PATCH) \/webhooks\/\d+\/[\w-]+(?:\/messages\/[@\w]+)?$/u, messageSchema],
  [/^POST \/interactions\/\d+\/[\w-]+\/callback$/u, callbackSchema],
  [/^PUT \/applications\/\d+\/commands$/u, commandsSchema],
];

/** Discord's answer to a body that it would not take: error 50035, which names what is wrong. */
export function refusalOf({ method, path, body }: ApiRequest) {
  const rule = rules.find(([pattern]) => pattern.test(`${method} ${path}`));
  const parsed = rule?.[1].safeParse(body ?? {});
  if (parsed === undefined || parsed.success) return undefined;
  const message = `Invalid Form Body: ${z.prettifyError(parsed.error)}`;
  return { answer: { status: 400, body: { message, code: 50035 } } };
}
