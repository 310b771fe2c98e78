import { ComponentType, TextInputStyle } from 'discord-api-types/v10';
import { z } from 'zod';

import type { Modal } from '../world/entities.ts';
import { apiErrors } from './api-error.ts';

/** What Discord lets people write into a field at most. */
const fieldMaxChars = 4000;

const field = {
  type: z.literal(ComponentType.TextInput),
  custom_id: z.string().min(1).max(100),
  style: z.literal([TextInputStyle.Short, TextInputStyle.Paragraph]),
  min_length: z.int().min(0).max(fieldMaxChars).default(0),
  max_length: z.int().min(1).max(fieldMaxChars).default(fieldMaxChars),
  required: z.boolean().default(true),
  value: z.string().max(fieldMaxChars).default(''),
  placeholder: z.string().max(100).default(''),
};

type Field = z.infer<z.ZodObject<typeof field>>;

/** Whether what stands in a field, and what may, fit together. */
function fits<Schema extends z.ZodType<Field>>(schema: Schema) {
  return schema
    .refine(({ min_length: least, max_length: most }) => least <= most, {
      error: 'The minimum length is above the maximum length',
      path: ['min_length'],
    })
    .refine(
      ({ value, min_length: least, max_length: most }) =>
        value === '' || (value.length >= least && value.length <= most),
      { error: 'The value does not have the length that the field takes', path: ['value'] },
    );
}

const label = z.string().min(1).max(45);

/** Discord's rules for a modal, as far as its fields are text fields: in labels, or each in a row of its own. */
export const modalSchema = z.object({
  custom_id: z.string().min(1).max(100),
  title: z.string().min(1).max(45),
  components: z
    .array(
      z.discriminatedUnion('type', [
        z.object({
          type: z.literal(ComponentType.Label),
          label,
          description: z.string().min(1).max(100).optional(),
          component: fits(z.object({ ...field, label: z.undefined().optional() })),
        }),
        z.object({
          type: z.literal(ComponentType.ActionRow),
          components: z.array(fits(z.object({ ...field, label }))).length(1),
        }),
      ]),
    )
    .min(1)
    .max(5),
});

/** The modal as a person sees it: each component numbered, as Discord does. @throws {ApiError} 50035 for a custom id that is there twice. */
export function modalOf({ custom_id: customId, title, components }: z.infer<typeof modalSchema>): Modal {
  const fields = components.flatMap((holder, index) => {
    const ids = [2 * index + 1, 2 * index + 2] as const;
    return holder.type === ComponentType.Label
      ? [
          fieldOf(holder.component, {
            label: holder.label,
            description: holder.description,
            holder: 'label',
            ids,
          }),
        ]
      : holder.components.map((each) => fieldOf(each, { label: each.label, holder: 'row', ids }));
  });
  if (new Set(fields.map((each) => each.customId)).size < fields.length)
    throw apiErrors.invalidField(
      ['data', 'components'],
      'COMPONENT_CUSTOM_ID_DUPLICATED',
      'Component custom id cannot be duplicated',
    );
  return { customId, title, fields };
}

type ModalField = Modal['fields'][number];

function fieldOf(
  { custom_id: customId, style, min_length, max_length, required, value, placeholder }: Field,
  held: Pick<ModalField, 'label' | 'description' | 'holder' | 'ids'>,
): ModalField {
  return {
    customId,
    ...held,
    style: style === TextInputStyle.Short ? 'short' : 'paragraph',
    minLength: min_length,
    maxLength: max_length,
    isRequired: required,
    value,
    placeholder,
  };
}
