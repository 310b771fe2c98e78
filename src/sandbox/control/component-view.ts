import { ButtonStyle, ComponentType } from 'discord-api-types/v10';

import type { Button, ComponentRow } from '../world/entities.ts';

/** What people see below a message, row by row. */
export interface ComponentsView {
  readonly rows: readonly RowView[];
}

export interface RowView {
  readonly buttons: readonly ButtonView[];
  /** A row has either buttons or one select. */
  readonly select?: SelectView;
}

export interface ButtonView {
  /** A link has none. */
  readonly customId?: string;
  /** Empty where there is only an emoji. */
  readonly label: string;
  /** The sign itself, or the name of a guild's own emoji. */
  readonly emoji?: string;
  readonly disabled: boolean;
  readonly style: 'primary' | 'secondary' | 'success' | 'danger' | 'link';
}

export interface SelectView {
  readonly customId: string;
  readonly placeholder: string;
  readonly options: readonly { readonly label: string; readonly value: string }[];
  readonly disabled: boolean;
}

const styles = {
  [ButtonStyle.Primary]: 'primary',
  [ButtonStyle.Secondary]: 'secondary',
  [ButtonStyle.Success]: 'success',
  [ButtonStyle.Danger]: 'danger',
  [ButtonStyle.Link]: 'link',
} as const;

export function componentsView(rows: readonly ComponentRow[]): ComponentsView {
  return { rows: rows.map(rowView) };
}

function rowView({ components }: ComponentRow): RowView {
  const buttons = components.flatMap((component) =>
    component.type === ComponentType.Button ? [buttonView(component)] : [],
  );
  const select = components.find((component) => component.type === ComponentType.StringSelect);
  if (select === undefined) return { buttons };
  return {
    buttons,
    select: {
      customId: select.custom_id,
      placeholder: select.placeholder ?? '',
      options: select.options.map(({ label, value }) => ({ label, value })),
      disabled: select.disabled ?? false,
    },
  };
}

function buttonView(button: Button): ButtonView {
  return {
    ...('custom_id' in button ? { customId: button.custom_id } : {}),
    label: button.label ?? '',
    ...(button.emoji?.name === undefined ? {} : { emoji: button.emoji.name }),
    disabled: button.disabled ?? false,
    style: styles[button.style],
  };
}
