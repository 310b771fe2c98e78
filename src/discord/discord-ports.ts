import type { APIMessage, Client } from 'discord.js';

import type { AttachmentPort, ChatMessage, PresentPlace, ReadReplied, ReplyPort } from '../core/chat.ts';
import type { Clock } from '../core/time.ts';
import type { Logger } from '../core/logger.ts';
import type { ActionTools } from '../core/tool.ts';
import type { AccessSettings } from './access.ts';
import { createDiscordActions } from './actions/discord-actions.ts';
import { createAttachments } from './attachments/attachments.ts';
import { createChannelFinder } from './channel-finder.ts';
import { createChannelMessages } from './channel-messages.ts';
import { createDiscordApi } from './discord-api.ts';
import { createHistory, type History, type HistoryOptions } from './history.ts';
import { namesIn, userName } from './names-in.ts';
import { chatMessageOf, isSpoken } from './normalise.ts';
import { botMay } from './permissions.ts';
import { withPermission } from './permitted-api.ts';
import { createPresentPlace } from './present-place.ts';
import { readableText } from './readable-text.ts';
import { createReadReplied } from './replied-messages.ts';
import { createReplies } from './replies/replies.ts';
import { createWaitingReactions, type WaitingReactions } from './waiting-reactions.ts';
import { threadStarter } from './thread-starter.ts';

export interface DiscordPortsOptions extends Pick<HistoryOptions, 'isHidden' | 'isCommand'> {
  readonly client: Client;
  readonly access: Pick<AccessSettings, 'channelIds'>;
  /** Where another Discord-compatible server keeps attached files. */
  readonly cdnUrl?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The ports that turns need, over one client. What `replies` sends is in `history` at once, before the gateway tells of it. */
export function createDiscordPorts(options: DiscordPortsOptions): {
  readonly history: History;
  readonly replies: ReplyPort;
  readonly reactions: WaitingReactions;
  readonly presentPlace: PresentPlace;
  readonly readReplied: ReadReplied;
  readonly attachments: AttachmentPort;
  readonly actions: ActionTools;
} {
  const { client, clock, logger } = options;
  const botId = () => client.user?.id;
  const findChannel = createChannelFinder(client, logger);
  const messages = createChannelMessages(findChannel);
  const common = { messages, botId, logger };
  const history: History = createHistory({
    ...options,
    async fetchNewest(channelId, limit) {
      const found = await messages.newest(channelId, limit);
      const spoken = found.filter(isSpoken).map((message) => chatMessageOf(message, botId() ?? ''));
      const starter =
        found.length < limit
          ? await threadStarter(found, { ...common, isHidden: (chat) => history.isHidden(chat) })
          : undefined;
      return starter === undefined ? spoken : [starter, ...spoken];
    },
  });
  const api = withPermission(createDiscordApi(client.rest), (capability, channelId) =>
    botMay(capability, client.channels.cache.get(channelId)),
  );
  const replies = createReplies({
    api,
    botId,
    clock,
    logger,
    onSent: (message) => history.seen(ownMessage(client, message)),
    onEdited(message) {
      const { channelId, id, text } = ownMessage(client, message);
      history.edited(channelId, id, text);
    },
    onRemoved: (channelId, messageId) => history.removed(channelId, [messageId]),
  });
  return {
    history,
    replies,
    reactions: createWaitingReactions({ api, logger }),
    presentPlace: createPresentPlace(findChannel),
    readReplied: createReadReplied({ ...common, history }),
    attachments: createAttachments(options),
    actions: createDiscordActions({ ...options, settings: options.access, findChannel, history }),
  };
}

function ownMessage(client: Client, message: APIMessage): ChatMessage {
  const { id, channel_id: channelId, author } = message;
  const channel = client.channels.cache.get(channelId);
  const guildId = channel === undefined || channel.isDMBased() ? null : channel.guildId;
  const answered = message.message_reference?.message_id;
  return {
    id,
    channelId,
    author: { id: author.id, name: userName(author), kind: 'self' },
    text: readableText(
      message.content,
      namesIn(client, { channelId, guildId, mentioned: message.mentions }),
      author.id,
    ),
    at: new Date(message.timestamp).toISOString(),
    attachments: message.attachments.map((attachment) => attachment.filename),
    ...(answered === undefined ? {} : { answers: answered }),
  };
}
