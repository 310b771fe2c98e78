import type { Client } from 'discord.js';
import { setTimeout as delay } from 'node:timers/promises';

import type { Logger } from '../core/logger.ts';
import { dmPlace, type Place } from '../core/place.ts';
import type { Shards } from '../core/processes.ts';
import { isSnowflake, snowflakeTime } from '../core/snowflake.ts';
import type { Clock } from '../core/time.ts';
import type { AccessSettings } from './access.ts';
import { createChannelPort, mayRead } from './actions/action.ts';
import { createDiscordActions } from './actions/discord-actions.ts';
import { createAttachments } from './attachments.ts';
import {
  type ChatOf,
  createChannelMessages,
  createReadChannel,
  createReadReplied,
  threadStarter,
  type History,
  type HistoryOptions,
  createHistory,
} from './history.ts';
import { type DiscordApi, createDiscordApi } from './discord-api.ts';
import { createOffers } from './buttons.ts';
import { chatMessageOf, emojiIn, isSpoken, sentMessageOf } from './normalise.ts';
import { type Places, createPlaces, createPresentPlace } from './place.ts';
import { createAsks } from './interactions/asks.ts';
import { createServerPort } from './permissions.ts';
import { isDmClosed } from './refusals.ts';
import { createPluralKit, createProxies } from './proxied.ts';
import { createReminderPost } from './replies/reminder-post.ts';
import type { RepliesOptions } from './replies/growing-reply.ts';
import { createDirectMessages, createReplies } from './replies/replies.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { lruCache } from '../core/limits.ts';

export interface DiscordPortsOptions
  extends Pick<HistoryOptions, 'hiddenIn' | 'isCommand' | 'recent'>, Pick<Places, 'memberRole'> {
  readonly noteGone: (channelId: string) => void;
  /** Another process answers under the same token. Called once; must not throw. */
  readonly onOtherProcess?: () => void;
  readonly client: Client;
  readonly shards: Shards;
  readonly access: Pick<AccessSettings, 'channelIds'>;
  /** Applications that post again what people wrote [G2a], and the address of PluralKit's API. */
  readonly proxied: { readonly appIds: readonly string[]; readonly pluralKitUrl: string };
  readonly cdnUrl?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export type DiscordPorts = ReturnType<typeof createDiscordPorts>;

/** What `replies` sends is in `history` before the gateway tells of it. */
export function createDiscordPorts(options: DiscordPortsOptions) {
  const { client, recent, clock, logger } = options;
  const botId = () => client.user?.id;
  const places = createPlaces(options);
  const messages = createChannelMessages(places.find);
  const { appIds, pluralKitUrl } = options.proxied;
  const proxies = createProxies({
    appIds,
    readRecord: createPluralKit(pluralKitUrl, logger),
    authorOf: (channelId, messageId) => history.messageOf(channelId, messageId)?.author.id,
  });
  const chatOf: ChatOf = (message) =>
    proxies.isCopy(message) && proxies.accountOf(message.id) === undefined
      ? undefined
      : chatMessageOf(message, botId() ?? '', proxies.speakerOf);
  const history: History = createHistory({
    ...options,
    async fetchNewest(channelId, limit) {
      const found = await messages.newest(channelId, limit);
      const chatMessages = found.filter(isSpoken).flatMap((message) => chatOf(message) ?? []);
      const starter = found.length < limit ? await threadStarter(found, readReplied) : undefined;
      return starter === undefined ? chatMessages : [starter, ...chatMessages];
    },
  });
  const readReplied = createReadReplied(history, { messages, chatOf, logger });
  const api = createDiscordApi(client);
  const sending: RepliesOptions & { readonly api: DiscordApi } = {
    api,
    botId,
    clock,
    logger,
    emojiIn: (channelId, name) => emojiIn(client, channelId, name),
    onSent: (message) => history.seen(sentMessageOf(client, message)),
    onEdited(message) {
      const { channelId, id: messageId, text } = sentMessageOf(client, message);
      recent.note({ kind: 'edited', channelId, messageId, text });
    },
    onForeign: createForeignCount(clock(), options.onOtherProcess),
    onRemoved: (channelId, messageId) => recent.note({ kind: 'deleted', channelId, messageIds: [messageId] }),
  };
  const asks = createAsks(sending, createReplies(sending));
  const offers = createOffers({ apiFor: asks.apiFor, recent, logger });
  return {
    places,
    history,
    proxies,
    asks,
    replies: asks.replies,
    directMessages: createDirectMessages(api, botId),
    reminders: createReminderPost(api, (userId, channelId) => mayRead(places, userId, channelId)),
    dmOf: createDmOf(api),
    offers: {
      ...offers,
      endOffersTo(userId: string): void {
        offers.endOffersTo(userId);
        asks.dropRestOf(userId);
      },
    },
    reactions: createWaitingReactions(api, logger),
    presentPlace: createPresentPlace(places),
    channels: createChannelPort(places),
    server: createServerPort(client, options.shards),
    readReplied,
    readChannel: createReadChannel({
      ...options,
      places,
      messages,
      history,
      settings: options.access,
      chatOf,
    }),
    attachments: createAttachments(options),
    actions: createDiscordActions({ ...options, settings: options.access, places, history }),
  };
}

/**
 * A person's direct messages, opened if they are not; where Discord opens none, the place has the person's id. Rejects as the
 * library does.
 */
function createDmOf(api: Pick<DiscordApi, 'openDm'>) {
  const opened = lruCache<string, string>(keptDms);
  return async (userId: string): Promise<Place> => {
    const known = opened.get(userId);
    if (known !== undefined) return dmPlace(known);
    try {
      const channelId = await api.openDm(userId);
      opened.set(userId, channelId);
      return dmPlace(channelId);
    } catch (error) {
      if (isDmClosed(error)) return dmPlace(userId);
      throw error;
    }
  };
}

const keptDms = 10_000;

/** So many answers from elsewhere prove another process; Discord may have changed the words of one. */
const foreignAnswers = 3;

/** Of questions since the start: those before it, an earlier process may have answered. */
function createForeignCount(startedAt: Date, onOtherProcess: () => void = () => undefined) {
  let count = 0;
  return (messageId: string): void => {
    if (!isSnowflake(messageId) || snowflakeTime(messageId) < startedAt) return;
    count += 1;
    if (count === foreignAnswers) onOtherProcess();
  };
}

const eyes = '👀';

/** Discord takes one reaction per channel in a quarter of a second. */
const pauseMs = 300;

/** A `WaitingReactionPort`, in order within a channel. A refusal is only logged. */
export function createWaitingReactions(api: Pick<DiscordApi, 'react' | 'unreact'>, logger: Logger) {
  const requests = createKeyedQueue();
  /** One at a time per channel, so that a flood does not hold up the others. */
  const refusals = createKeyedQueue();
  let isClosing = false;

  function send(channelId: string, messageId: string, request: () => Promise<void>): Promise<void> {
    return requests.run(channelId, async () => {
      await request().catch((error: unknown) =>
        logger.debug('a waiting reaction could not be changed', { channelId, messageId, error }),
      );
      await delay(pauseMs);
    });
  }

  return {
    add: (channelId: string, messageId: string): void =>
      void send(channelId, messageId, () => api.react(channelId, messageId, eyes)),
    remove: (channelId: string, messageId: string): void =>
      void send(channelId, messageId, () => api.unreact(channelId, messageId, eyes)),
    refuse: (channelId: string, messageId: string, sign = '🚫'): void =>
      void refusals.run(channelId, async () => {
        if (!isClosing) await send(channelId, messageId, () => api.react(channelId, messageId, sign));
      }),
    /** Resolves when all requests are done; further refusals are dropped. */
    async close(): Promise<void> {
      isClosing = true;
      await requests.idle();
    },
  };
}
