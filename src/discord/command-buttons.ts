import {
  ButtonStyle,
  ComponentType,
  type APIActionRowComponent,
  type APIButtonComponent,
  type APIModalInteractionResponseCallbackData,
  type APIStringSelectComponent,
  type ButtonInteraction,
  type Message,
  type ModalSubmitInteraction,
  type StringSelectMenuInteraction,
  TextInputStyle,
} from 'discord.js';

import type { CommandButton } from '../core/reply.ts';
import {
  choiceMaxChars,
  formTextMaxChars,
  mostChoices,
  type CommandForm,
  type CommandReply,
  type CommandSelect,
} from '../core/commands.ts';
import { clip, chunk, isBlank } from '../core/text.ts';

/** All that is needed to carry it out, even after a restart. */
export interface PressedButton {
  readonly personId: string;
  readonly line: string;
  readonly takes: Takes;
  readonly opensForm: boolean;
}

/** What goes when it was pressed; `answer` is replaced by the next answer. */
type Takes = NonNullable<CommandButton['takes']>;

const form = /^(?<does>do|ask):(?<personId>\d{1,20}):(?<sign>[-+=*]):(?<line>[\s\S]*)$/u;
const formField = 'text';
const takesBy: Readonly<Record<string, Takes>> = { '-': 'all', '+': 'itself', '=': 'nothing', '*': 'answer' };
const signOf = { all: '-', itself: '+', nothing: '=', answer: '*' } as const satisfies Record<Takes, string>;
const mostInRow = 5;
const labelMaxChars = 80;
const customIdMaxChars = 100;
const placeholderMaxChars = 150;
const formLabelMaxChars = 45;
const mostRows = 5;
/** Discord refuses an invisible label. */
const noLabel = '…';

export function readCommandButton(customId: string): PressedButton | undefined {
  const { does, personId, sign = '', line = '' } = form.exec(customId)?.groups ?? {};
  const takes = takesBy[sign];
  if (personId === undefined || takes === undefined) return undefined;
  return { personId, line, takes, opensForm: does === 'ask' };
}

export function formModal(
  { title, label, value, maxChars, line }: CommandForm,
  { personId, takes }: PressedButton,
): APIModalInteractionResponseCallbackData {
  const most = Math.min(Math.max(1, maxChars), formTextMaxChars);
  const field = {
    type: ComponentType.TextInput,
    custom_id: formField,
    style: TextInputStyle.Paragraph,
    max_length: most,
    value: value === '' ? undefined : clip(value, most),
  } as const;
  return {
    custom_id: customIdOf('do', personId, takes, line),
    title: shortened(title, formLabelMaxChars),
    components: [{ type: ComponentType.Label, label: shortened(label, formLabelMaxChars), component: field }],
  };
}

export type PressInteraction = ButtonInteraction | StringSelectMenuInteraction | ModalSubmitInteraction;

export function typedInto(interaction: PressInteraction): string {
  if (interaction.isStringSelectMenu()) return interaction.values.join(' ');
  const isWritten = interaction.isModalSubmit() && interaction.fields.fields.has(formField);
  return isWritten ? interaction.fields.getTextInputValue(formField) : '';
}

function customIdOf(does: 'do' | 'ask', personId: string, takes: Takes, line: string): string {
  return `${does}:${personId}:${signOf[takes]}:${line}`;
}

export type AnswerRow = APIActionRowComponent<APIButtonComponent | APIStringSelectComponent>;

/** Cut to Discord's limits, or the whole answer would be refused. */
export function answerRows(
  personId: string,
  { rows, buttons = [] }: Pick<CommandReply, 'rows' | 'buttons'>,
): AnswerRow[] {
  const isNew = createFilter();
  return (rows ?? chunk(buttons, () => 1, mostInRow))
    .map((row) => ({
      type: ComponentType.ActionRow as const,
      components: ('options' in row
        ? [asSelect(row, personId)].filter(({ options }) => options.length > 0)
        : row.slice(0, mostInRow).map((button) => asComponent(button, personId))
      ).filter(isNew),
    }))
    .filter(({ components }) => components.length > 0)
    .slice(0, mostRows);
}

function createFilter() {
  const seen = new Set<string>();
  return (component: object): boolean => {
    if ('url' in component) return true;
    const id = 'custom_id' in component ? String(component.custom_id) : '';
    if (id === '' || id.length > customIdMaxChars || seen.has(id)) return false;
    seen.add(id);
    return true;
  };
}

/** What stays once a button was pressed: what takes nothing, and all others where it takes only itself. */
export function rowsAfter({ components }: Pick<Message, 'components'>, customId: string, takes: Takes) {
  const stays = (id: string): boolean =>
    readCommandButton(id)?.takes === 'nothing' || (takes === 'itself' && id !== customId);
  return components.flatMap((row) => {
    if (row.type !== ComponentType.ActionRow) return [];
    const rest = row.toJSON().components.filter((each) => 'custom_id' in each && stays(each.custom_id));
    return rest.length === 0 ? [] : [{ type: ComponentType.ActionRow as const, components: rest }];
  });
}

function asSelect({ placeholder, line, options }: CommandSelect, personId: string): APIStringSelectComponent {
  return {
    type: ComponentType.StringSelect,
    custom_id: customIdOf('do', personId, 'answer', line),
    placeholder: shortened(placeholder, placeholderMaxChars),
    options: [...new Map(options.map((each) => [each.value, each])).values()]
      .filter(({ value }) => value !== '' && value.length <= choiceMaxChars)
      .slice(0, mostChoices)
      .map(({ label, value, description, isChosen }) => ({
        label: shortened(label, choiceMaxChars),
        value,
        description: description && shortened(description, choiceMaxChars),
        default: isChosen,
      })),
  };
}

function shortened(text: string, maxChars: number): string {
  if (isBlank(text)) return noLabel;
  return text.length <= maxChars ? text : `${clip(text, maxChars - 1)}…`;
}

function asComponent(
  { label, line = '', url, isDanger, opensForm, takes = 'all' }: CommandButton,
  personId: string,
): APIButtonComponent {
  const common = { type: ComponentType.Button, label: shortened(label, labelMaxChars) } as const;
  if (url !== undefined) return { ...common, style: ButtonStyle.Link, url };
  return {
    ...common,
    style: isDanger === true ? ButtonStyle.Danger : ButtonStyle.Secondary,
    custom_id: customIdOf(opensForm === true ? 'ask' : 'do', personId, takes, line),
  };
}
