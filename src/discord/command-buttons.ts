import {
  ButtonStyle,
  ComponentType,
  type APIActionRowComponent,
  type APIButtonComponent,
  type Message,
} from 'discord.js';

import type { ButtonsOfPerson, CommandButton } from '../core/chat.ts';

/** What a button of a command's answer says of itself: all that is needed to carry it out, also after a restart. */
interface PressedButton {
  readonly personId: string;
  /** Empty where nothing is to be done. */
  readonly line: string;
  /** What goes when it was pressed. */
  readonly takes: 'all' | 'itself' | 'nothing';
}

const form = /^do:(?<personId>\d{1,20}):(?<keeps>[-+=]):(?<line>[\s\S]*)$/u;
const takenBy = { '-': 'all', '+': 'itself', '=': 'nothing' } as const;
const mostInRow = 5;
const labelMaxChars = 80;

/** `undefined` where the button is none of a command's answer. */
export function readCommandButton(customId: string): PressedButton | undefined {
  const { personId, keeps, line = '' } = form.exec(customId)?.groups ?? {};
  const takes = keeps === '+' || keeps === '=' ? takenBy[keeps] : takenBy['-'];
  return personId === undefined ? undefined : { personId, line, takes };
}

/** Buttons in rows of five, as Discord shows them. */
export function buttonRows({
  personId,
  buttons,
}: ButtonsOfPerson): APIActionRowComponent<APIButtonComponent>[] {
  const all = buttons.map((button) => asComponent(button, personId));
  return Array.from({ length: Math.ceil(all.length / mostInRow) }, (_, row) => ({
    type: ComponentType.ActionRow,
    components: all.slice(row * mostInRow, (row + 1) * mostInRow),
  }));
}

/** A message's rows without one button; those that would be empty go. */
export function rowsWithout({ components }: Pick<Message, 'components'>, customId: string) {
  return components.flatMap((row) => {
    if (row.type !== ComponentType.ActionRow) return [];
    const rest = row
      .toJSON()
      .components.filter((each) => !('custom_id' in each) || each.custom_id !== customId);
    return rest.length === 0 ? [] : [{ type: ComponentType.ActionRow as const, components: rest }];
  });
}

function asComponent(
  { label, line = '', isDanger, keepsOthers, stays }: CommandButton,
  personId: string,
): APIButtonComponent {
  return {
    type: ComponentType.Button,
    style: isDanger === true ? ButtonStyle.Danger : ButtonStyle.Secondary,
    label: label.length <= labelMaxChars ? label : `${label.slice(0, labelMaxChars - 1)}…`,
    custom_id: `do:${personId}:${stays === true ? '=' : keepsOthers === true ? '+' : '-'}:${line}`,
  };
}
