import { randomBytes } from 'node:crypto';

import {
  ButtonStyle,
  ComponentType,
  MessageFlags,
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

import type { RecentChanges } from '../core/changes.ts';
import { lruCache } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { CommandButton } from '../core/reply.ts';
import {
  choiceMaxChars,
  formTextMaxChars,
  mostChoices,
  type CommandForm,
  type CommandReply,
  type CommandSelect,
} from '../core/commands.ts';
import { chunk, clip, clipAtWord, isBlank, toSingleLine } from '../core/text.ts';
import {
  offerOutcomeMaxChars,
  offerText,
  type Offer,
  type OfferOutcome,
  type OfferPort,
} from '../core/tool.ts';
import { sentOnce, type DiscordApi } from './discord-api.ts';
import { sendUntilTaken } from './refusals.ts';

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

const openForMs = 10 * 60_000;
const mostOpen = 1000;

const offeredToOthers = 'Only the person whom I asked can press this.';
const over = 'This is over. If it was not done, please ask me again.';
const declined = 'Not done.';
const unsure = '⚠️ Something went wrong, so it is not known whether it was done.';

type Shown = Parameters<OfferPort['show']>[1];

interface OpenOffer {
  readonly id: string;
  readonly offer: Offer;
  readonly text: string;
  readonly shown: Shown;
  messageId?: string;
  /** Aborted when it ends without being carried out. */
  readonly ending: AbortController;
  isPressed: boolean;
}

export type Offers = ReturnType<typeof createOffers>;

/** Messages with two buttons, kept in memory only [M8]. */
export function createOffers(ports: {
  /** By the message that an offer is made to. */
  readonly apiFor: (messageId: string) => Pick<DiscordApi, 'postMessage' | 'deleteMessage'>;
  readonly recent: Pick<RecentChanges, 'hasChanged' | 'wasDeleted' | 'subscribe'>;
  readonly logger: Logger;
}) {
  const { recent, logger } = ports;
  const apiFor = ({ messages }: Shown) => ports.apiFor(messages.at(-1)?.id ?? '');
  const opened = lruCache<string, OpenOffer>(mostOpen, { maxAge: openForMs });

  recent.subscribe((change) => {
    const deleted = change.kind === 'edited' ? [] : change.messageIds;
    for (const open of Array.from(opened.values()))
      if (deleted.includes(open.messageId ?? '')) close(open);
      else if (isWithdrawn(open.shown)) void takeAway(open);
  });

  /** Whether the request was edited, or the answer taken away. */
  function isWithdrawn({ messages, replyIds }: Shown): boolean {
    return (
      replyIds.some((id) => recent.wasDeleted(id)) || messages.some((message) => recent.hasChanged(message))
    );
  }

  function close(open: OpenOffer): void {
    opened.delete(open.id);
    open.ending.abort();
  }

  async function takeAway(open: OpenOffer): Promise<void> {
    close(open);
    const { messageId, shown } = open;
    if (messageId === undefined) return;
    try {
      await apiFor(shown).deleteMessage(shown.channelId, messageId);
    } catch (error) {
      logger.debug('a withdrawn offer could not be removed', { messageId, error });
    }
  }

  async function showOne(offer: Offer, text: string, shown: Shown): Promise<void> {
    const { channelId, personId, beforeSeen } = shown;
    const id = randomBytes(9).toString('hex');
    const ending = new AbortController();
    const open: OpenOffer = { id, offer, text, shown, ending, isPressed: false };
    opened.set(id, open);
    try {
      const body = {
        content: text,
        components: [offerButtons(id, personId, offer.label)],
        ...sentOnce(id),
      };
      const message = await sendUntilTaken(async () => {
        const mayPost = (await shown.mayShow()) && !ending.signal.aborted && !isWithdrawn(shown);
        return mayPost ? apiFor(shown).postMessage(channelId, body) : undefined;
      });
      if (message === undefined) return close(open);
      open.messageId = message.id;
      await beforeSeen(message.id);
      if (ending.signal.aborted && isWithdrawn(shown)) await takeAway(open);
    } catch (error) {
      close(open);
      logger.warn('an offer could not be shown', { channelId, personId, error });
    }
  }

  async function press(interaction: ButtonInteraction, open: OpenOffer, isAccepted: boolean): Promise<void> {
    const { text, shown } = open;
    open.isPressed = true;
    try {
      // A click that could not be acknowledged must do nothing.
      await interaction.update(isAccepted ? { components: [] } : pressed(text, declined, shown.personId));
      if (isAccepted) await interaction.editReply(pressed(text, await outcomeOf(open), shown.personId));
    } finally {
      opened.delete(open.id);
    }
  }

  async function outcomeOf({ offer, ending, shown }: OpenOffer): Promise<string | OfferOutcome> {
    try {
      ending.signal.throwIfAborted();
      return await offer.carryOut(ending.signal);
    } catch (error) {
      const { channelId, personId } = shown;
      logger.warn('an accepted offer failed', { channelId, personId, error });
      return unsure;
    }
  }

  return {
    async show(offers: readonly Offer[], shown: Shown): Promise<void> {
      for (const offer of offers) {
        const text = offerText(offer);
        if (text !== undefined && !isWithdrawn(shown)) await showOne(offer, text, shown);
      }
    },
    endOffersTo(personId: string): void {
      for (const open of Array.from(opened.values()))
        if (open.shown.personId === personId) void takeAway(open);
    },
    /** `false` for the button of something else. May reject as Discord does. */
    async click(interaction: ButtonInteraction): Promise<boolean> {
      const { id = '', personId, wish } = offerForm.exec(interaction.customId)?.groups ?? {};
      if (personId === undefined) return false;
      const open = opened.get(id);
      if (interaction.user.id !== personId) {
        await interaction.reply({ content: offeredToOthers, flags: MessageFlags.Ephemeral });
      } else if (open === undefined || open.isPressed) {
        await interaction.update({ components: [] });
        await interaction.followUp({ content: over, flags: MessageFlags.Ephemeral });
      } else {
        await press(interaction, open, wish === 'do');
      }
      return true;
    },
  } satisfies OfferPort & { click: unknown };
}

const offerForm = /^offer:(?<id>[0-9a-f]{18}):(?<personId>\d+):(?<wish>do|no)$/u;

function offerButtons(
  id: string,
  personId: string,
  label = 'Do it',
): APIActionRowComponent<APIButtonComponent> {
  const button = (name: string, wish: string, style: ButtonStyle.Primary | ButtonStyle.Secondary) =>
    ({
      type: ComponentType.Button,
      style,
      label: name,
      custom_id: `offer:${id}:${personId}:${wish}`,
    }) as const;
  return {
    type: ComponentType.ActionRow,
    components: [button(label, 'do', ButtonStyle.Primary), button('No', 'no', ButtonStyle.Secondary)],
  };
}

function pressed(text: string, outcome: string | OfferOutcome, personId: string) {
  const { text: outcomeText, buttons }: OfferOutcome =
    typeof outcome === 'string' ? { text: outcome, buttons: [] } : outcome;
  const line = `\n-# ${clipAtWord(toSingleLine(outcomeText), offerOutcomeMaxChars - '\n-# '.length)}`;
  return { content: text + line, components: answerRows(personId, { buttons }) };
}
