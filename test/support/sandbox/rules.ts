import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  ButtonStyle,
  ComponentType,
  InteractionContextType,
  InteractionResponseType,
  TextInputStyle,
} from 'discord-api-types/v10';
import { z } from 'zod';

import type { ApiRequest } from '../../../src/sandbox/rest/rest-context.ts';

// What Discord would not take of what a bot hands in.

const customId = z.string().min(1).max(100);
const emoji = z
  .object({
    id: z.string().nullish(),
    name: z.string().min(1).max(32).nullish(),
    animated: z.boolean().nullish(),
  })
  .transform(({ id, name, animated }) => ({
    id: id ?? undefined,
    name: name ?? undefined,
    animated: animated ?? undefined,
  }));
const face = {
  type: z.literal(ComponentType.Button),
  label: z.string().max(80).optional(),
  emoji: emoji.optional(),
  disabled: z.boolean().optional(),
};

const button = z
  .discriminatedUnion('style', [
    z.object({
      ...face,
      style: z.literal([ButtonStyle.Primary, ButtonStyle.Secondary, ButtonStyle.Success, ButtonStyle.Danger]),
      custom_id: customId,
      url: z.undefined().optional(),
    }),
    z.object({
      ...face,
      style: z.literal(ButtonStyle.Link),
      url: z.url({ protocol: /^(?:https?|discord)$/ }).max(512),
      custom_id: z.undefined().optional(),
    }),
  ])
  .refine(({ label, emoji: icon }) => (label ?? '') !== '' || icon !== undefined, {
    error: 'A button needs a label or an emoji',
    path: ['label'],
  });

const select = z
  .object({
    type: z.literal(ComponentType.StringSelect),
    custom_id: customId,
    options: z
      .array(
        z.object({
          label: z.string().min(1).max(100),
          value: z.string().min(1).max(100),
          description: z.string().max(100).optional(),
          emoji: emoji.optional(),
          default: z.boolean().optional(),
        }),
      )
      .min(1)
      .max(25)
      .refine((options) => isUnique(options.map(({ value }) => value)), 'Values must be unique'),
    placeholder: z.string().max(150).optional(),
    min_values: z.int().min(0).max(25).optional(),
    max_values: z.int().min(1).max(25).optional(),
    disabled: z.boolean().optional(),
  })
  .refine(({ max_values: most, options }) => (most ?? 1) <= options.length, {
    error: 'There are fewer options than may be chosen',
    path: ['max_values'],
  })
  .refine(({ min_values: least, max_values: most }) => (least ?? 1) <= (most ?? 1), {
    error: 'More must be chosen than may be',
    path: ['min_values'],
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

const fieldSchema = z
  .object({
    type: z.literal(ComponentType.TextInput),
    custom_id: z.string().min(1).max(100),
    style: z.literal([TextInputStyle.Short, TextInputStyle.Paragraph]),
    min_length: z.int().min(0).max(fieldMaxChars).default(0),
    max_length: z.int().min(1).max(fieldMaxChars).default(fieldMaxChars),
    required: z.boolean().default(true),
    value: z.string().max(fieldMaxChars).default(''),
    placeholder: z.string().max(100).default(''),
    label: z.undefined().optional(),
  })
  .refine(({ min_length: least, max_length: most }) => least <= most, {
    error: 'The minimum length is above the maximum length',
    path: ['min_length'],
  })
  .refine(
    ({ value, min_length: least, max_length: most }) =>
      value === '' || (value.length >= least && value.length <= most),
    { error: 'The value does not have the length that the field takes', path: ['value'] },
  );

/** Discord's rules for a modal, as far as its parts are labelled text fields. */
export const modalSchema = z.object({
  custom_id: z.string().min(1).max(100),
  title: z.string().min(1).max(45),
  components: z
    .array(
      z.object({
        type: z.literal(ComponentType.Label),
        label: z.string().min(1).max(45),
        description: z.string().min(1).max(100).optional(),
        component: fieldSchema,
      }),
    )
    .min(1)
    .max(5)
    .refine(
      (parts) => new Set(parts.map(({ component }) => component.custom_id)).size === parts.length,
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

export const commandsSchema = z
  .array(z.preprocess(withType, commandSchema))
  .refine(
    (commands) => new Set(commands.map(({ type, name }) => `${type} ${name}`)).size === commands.length,
    'Application command names must be unique',
  );

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
  attachments: z
    .array(z.looseObject({ description: z.string().max(1_024).nullish() }))
    .max(10)
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
