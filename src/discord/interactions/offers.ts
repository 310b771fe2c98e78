import { randomBytes } from 'node:crypto';

import {
  ButtonStyle,
  ComponentType,
  MessageFlags,
  type APIActionRowComponent,
  type APIButtonComponent,
  type ButtonInteraction,
} from 'discord.js';

import type { RecentChanges } from '../../core/changes.ts';
import { lruCache } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import { clipAtWord, toSingleLine } from '../../core/text.ts';
import {
  offerOutcomeMaxChars,
  offerText,
  type Offer,
  type OfferOutcome,
  type OfferPort,
} from '../../core/tool.ts';
import { answerRows } from '../command-buttons.ts';
import { sentOnce, type DiscordApi } from '../discord-api.ts';
import { sendUntilTaken } from '../refusals.ts';

const openForMs = 10 * 60_000;
const mostOpen = 1000;

const notYours = 'Only the person whom I asked can press this.';
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
  readonly api: Pick<DiscordApi, 'postMessage' | 'deleteMessage'>;
  readonly recent: Pick<RecentChanges, 'hasChanged' | 'wasDeleted' | 'subscribe'>;
  readonly logger: Logger;
}) {
  const { api, recent, logger } = ports;
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
      await api.deleteMessage(shown.channelId, messageId);
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
        return mayPost ? api.postMessage(channelId, body) : undefined;
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
      const { id = '', personId, wish } = form.exec(interaction.customId)?.groups ?? {};
      if (personId === undefined) return false;
      const open = opened.get(id);
      if (interaction.user.id !== personId) {
        await interaction.reply({ content: notYours, flags: MessageFlags.Ephemeral });
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

const form = /^offer:(?<id>[0-9a-f]{18}):(?<personId>\d+):(?<wish>do|no)$/u;

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
