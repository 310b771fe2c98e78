import {
  ButtonStyle,
  ComponentType,
  type APIActionRowComponent,
  type APIButtonComponent,
  type APIModalInteractionResponseCallbackData,
  type Message,
  type ModalSubmitInteraction,
  TextInputStyle,
} from 'discord.js';

import type { ButtonsOfPerson, CommandButton } from '../core/chat.ts';
import type { CommandForm } from '../core/commands.ts';

/** What a button of a command's answer, or a form that it opens, says of itself: all that is needed to carry it out, also after a restart. */
interface PressedButton {
  readonly personId: string;
  /** Empty where nothing is to be done. */
  readonly line: string;
  /** What goes when it was pressed. */
  readonly takes: Takes;
  readonly opensForm: boolean;
}

type Takes = 'all' | 'itself' | 'nothing';

const form = /^(?<does>do|ask):(?<personId>\d{1,20}):(?<keeps>[-+=]):(?<line>[\s\S]*)$/u;
const formField = 'text';
const signOf = { all: '-', itself: '+', nothing: '=' } as const satisfies Record<Takes, string>;
const mostInRow = 5;
const labelMaxChars = 80;

/** `undefined` where the button is none of a command's answer. */
export function readCommandButton(customId: string): PressedButton | undefined {
  const { does, personId, keeps, line = '' } = form.exec(customId)?.groups ?? {};
  if (personId === undefined) return undefined;
  const takes = keeps === '+' ? 'itself' : keeps === '=' ? 'nothing' : 'all';
  return { personId, line, takes, opensForm: does === 'ask' };
}

/** A form as Discord shows it, opened by a button. */
export function formModal(
  { title, label, value, maxChars, line }: CommandForm,
  { personId, takes }: PressedButton,
): APIModalInteractionResponseCallbackData {
  const field = {
    type: ComponentType.TextInput,
    custom_id: formField,
    style: TextInputStyle.Paragraph,
    max_length: maxChars,
    value: value.slice(0, maxChars),
  } as const;
  return {
    custom_id: customIdOf('do', personId, takes, line),
    title,
    components: [{ type: ComponentType.Label, label, component: field }],
  };
}

/** What was written into a form. */
export function writtenInto({ fields }: ModalSubmitInteraction): string {
  return fields.fields.has(formField) ? fields.getTextInputValue(formField) : '';
}

function customIdOf(does: 'do' | 'ask', personId: string, takes: Takes, line: string): string {
  return `${does}:${personId}:${signOf[takes]}:${line}`;
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
  { label, line = '', isDanger, keepsOthers, stays, opensForm }: CommandButton,
  personId: string,
): APIButtonComponent {
  const takes = stays === true ? 'nothing' : keepsOthers === true ? 'itself' : 'all';
  return {
    type: ComponentType.Button,
    style: isDanger === true ? ButtonStyle.Danger : ButtonStyle.Secondary,
    label: label.length <= labelMaxChars ? label : `${label.slice(0, labelMaxChars - 1)}…`,
    custom_id: customIdOf(opensForm === true ? 'ask' : 'do', personId, takes, line),
  };
}
