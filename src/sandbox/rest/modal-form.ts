import { ComponentType, TextInputStyle } from 'discord-api-types/v10';
import { z } from 'zod';

import type { Modal } from '../world/entities.ts';

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

/** The modal as a person sees it: each component numbered, as Discord does. */
export function modalOf({ custom_id: customId, title, components }: z.infer<typeof modalSchema>): Modal {
  const fields = components.map(({ label, component }, index) => ({
    label,
    ids: [2 * index + 1, 2 * index + 2] as const,
    customId: component.custom_id,
    style: component.style === TextInputStyle.Short ? ('short' as const) : ('paragraph' as const),
    minLength: component.min_length,
    maxLength: component.max_length,
    isRequired: component.required,
    value: component.value,
  }));
  return { customId, title, fields };
}
