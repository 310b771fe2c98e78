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
import type { Logger } from '../../core/logger.ts';
import type { CommandButton } from '../../core/chat.ts';
import { clipAtWord, flatten } from '../../core/text.ts';
import { processTimer, type Timer } from '../../core/time.ts';
import {
  offerOutcomeMaxChars,
  offerText,
  type Offer,
  type OfferOutcome,
  type OfferPort,
} from '../../core/tool.ts';
import { buttonRows } from '../command-buttons.ts';
import type { DiscordApi } from '../discord-api.ts';

/** Milliseconds after which nobody can press the buttons any more. */
const openForMs = 10 * 60_000;
/** Offers that are open at the same time, of one person and of all. */
const mostOfPerson = 10;
const mostOpen = 500;

const notYours = 'Only the person whom I asked can press this.';
const over = 'This is over. If it was not done, please ask me again.';
const declined = 'Not done.';
const unsure = '⚠️ Something went wrong, so it is not known whether it was done.';

type Shown = Parameters<OfferPort['show']>[1];

interface OpenOffer extends Pick<Shown, 'personId' | 'channelId' | 'messages' | 'replyIds'> {
  readonly id: string;
  readonly offer: Offer;
  readonly text: string;
  /** Of the message with the buttons, once it is there. */
  messageId?: string;
  /** Aborted when it is over before it was carried out. */
  readonly ending: AbortController;
  readonly stopTimer: () => void;
  /** A button was pressed; nothing comes of pressing one again. */
  isPressed: boolean;
}

export type Offers = ReturnType<typeof createOffers>;

/** What tools offer, as messages with two buttons [M8]: as {@link OfferPort} says, in memory alone. */
export function createOffers(ports: {
  readonly api: Pick<DiscordApi, 'postMessage' | 'editMessage' | 'deleteMessage'>;
  readonly recent: Pick<RecentChanges, 'hasChanged' | 'wasDeleted' | 'subscribe'>;
  readonly timer?: Timer;
  readonly logger: Logger;
}) {
  const { api, recent, timer = processTimer, logger } = ports;
  /** Oldest first. */
  const opened = new Map<string, OpenOffer>();

  recent.subscribe((change) => {
    const ids = change.kind === 'edited' ? [change.messageId] : change.messageIds;
    for (const open of opened.values()) {
      if (open.messageId !== undefined && change.kind === 'deleted' && ids.includes(open.messageId))
        close(open);
      else if (isWithdrawn(open)) void takeAway(open);
    }
  });

  /** Whether what was asked reads otherwise by now, or the answer was taken away. */
  function isWithdrawn({ messages, replyIds }: Pick<Shown, 'messages' | 'replyIds'>): boolean {
    return (
      replyIds.some((id) => recent.wasDeleted(id)) || messages.some((message) => recent.hasChanged(message))
    );
  }

  /** From now on nothing comes of it. */
  function close(open: OpenOffer): void {
    opened.delete(open.id);
    open.stopTimer();
    open.ending.abort();
  }

  /** Nothing of it stays: its words may be those that were withdrawn. */
  async function takeAway(open: OpenOffer): Promise<void> {
    close(open);
    await tidyUp(open, (messageId) => api.deleteMessage(open.channelId, messageId));
  }

  async function takeButtonsAway(open: OpenOffer): Promise<void> {
    close(open);
    await tidyUp(open, (messageId) => api.editMessage(open.channelId, messageId, { components: [] }));
  }

  async function tidyUp({ messageId, channelId }: OpenOffer, work: (id: string) => Promise<unknown>) {
    try {
      if (messageId !== undefined) await work(messageId);
    } catch (error) {
      logger.debug('an offer that is over could not be taken away', { channelId, messageId, error });
    }
  }

  /** Makes room for one more of this person. */
  function closeOldest(personId: string): void {
    const waiting = [...opened.values()].filter((open) => !open.isPressed);
    const theirs = waiting.filter((open) => open.personId === personId);
    const [oldest] =
      theirs.length >= mostOfPerson ? theirs : waiting.slice(0, waiting.length >= mostOpen ? 1 : 0);
    if (oldest !== undefined) void takeButtonsAway(oldest);
  }

  async function showOne(offer: Offer, text: string, shown: Shown): Promise<void> {
    const { channelId, personId, messages, replyIds, beforeSeen } = shown;
    const id = randomBytes(9).toString('hex');
    const stopTimer = timer(() => void takeButtonsAway(open), openForMs);
    const ending = new AbortController();
    const open: OpenOffer = {
      id,
      offer,
      text,
      personId,
      channelId,
      messages,
      replyIds,
      ending,
      stopTimer,
      isPressed: false,
    };
    closeOldest(personId);
    opened.set(id, open);
    try {
      const { id: messageId } = await api.postMessage(channelId, {
        content: text,
        components: [offerButtons(id, personId)],
        allowed_mentions: { parse: [], replied_user: false },
        nonce: id,
        enforce_nonce: true,
      });
      open.messageId = messageId;
      await beforeSeen(messageId);
      if (ending.signal.aborted && isWithdrawn(open)) await takeAway(open);
    } catch (error) {
      close(open);
      logger.warn('what a tool offers could not be shown', { channelId, personId, error });
    }
  }

  async function press(interaction: ButtonInteraction, open: OpenOffer, isWanted: boolean): Promise<void> {
    const { text } = open;
    open.isPressed = true;
    open.stopTimer();
    try {
      // A click that could not be acknowledged has failed before the person's eyes: nothing may come of it.
      await interaction.update(isWanted ? { components: [] } : pressed(text, declined, open.personId));
      if (isWanted) await interaction.editReply(pressed(text, await outcomeOf(open), open.personId));
    } finally {
      opened.delete(open.id);
    }
  }

  /** Carries it out, unless it was withdrawn meanwhile. */
  async function outcomeOf({
    offer,
    ending,
    channelId,
    personId,
  }: OpenOffer): Promise<string | OfferOutcome> {
    try {
      ending.signal.throwIfAborted();
      return await offer.carryOut(ending.signal);
    } catch (error) {
      logger.warn('what was offered could not be carried out', { channelId, personId, error });
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
    endOf(personId: string): void {
      for (const open of opened.values()) if (open.personId === personId) void takeAway(open);
    },
    /** Answers a click on one of the buttons; `false` where the button is none of an offer's. May reject as Discord's requests do. */
    async click(interaction: ButtonInteraction): Promise<boolean> {
      const { id = '', personId, wish } = form.exec(interaction.customId)?.groups ?? {};
      if (personId === undefined) return false;
      const open = opened.get(id);
      if (interaction.user.id !== (open?.personId ?? personId)) {
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

function offerButtons(id: string, personId: string): APIActionRowComponent<APIButtonComponent> {
  const button = (label: string, wish: string, style: ButtonStyle.Primary | ButtonStyle.Secondary) =>
    ({ type: ComponentType.Button, style, label, custom_id: `offer:${id}:${personId}:${wish}` }) as const;
  return {
    type: ComponentType.ActionRow,
    components: [button('Do it', 'do', ButtonStyle.Primary), button('No', 'no', ButtonStyle.Secondary)],
  };
}

/** The offer with what came of it, and the buttons that this has. */
function pressed(text: string, outcome: string | OfferOutcome, personId: string) {
  const noButtons: readonly CommandButton[] = [];
  const { text: said, buttons } =
    typeof outcome === 'string' ? { text: outcome, buttons: noButtons } : outcome;
  const line = `\n-# ${clipAtWord(flatten(said), offerOutcomeMaxChars - '\n-# '.length)}`;
  return {
    content: text + line,
    components: buttonRows({ personId, buttons }),
    allowedMentions: { parse: [] },
  };
}
