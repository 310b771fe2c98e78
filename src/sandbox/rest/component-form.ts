import { ButtonStyle, ComponentType } from 'discord-api-types/v10';
import { z } from 'zod';

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
  )
  .transform(numbered);

/** The rows as a message keeps them: each component has a number, as with Discord. */
function numbered<Row extends { readonly components: readonly object[] }>(rows: readonly Row[]) {
  let id = 0;
  return rows.map((row) => ({
    ...row,
    id: ++id,
    components: row.components.map((component) => ({ ...component, id: ++id })),
  }));
}

function isUnique(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}
