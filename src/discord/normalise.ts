import { MessageFlags, MessageType, type Message } from 'discord.js';

import type { ChatMessage } from '../core/chat.ts';
import { enclosureNames, hasThirdPartyText } from './enclosures.ts';
import type { MessageFacts } from './intake.ts';
import { namesIn, userName } from './names-in.ts';
import { readableText } from './readable-text.ts';

const spokenTypes: ReadonlySet<MessageType> = new Set([MessageType.Default, MessageType.Reply]);

/** Whether somebody said this: no join, pin or other notice, no answer to a slash command, nothing that only one person sees. */
export function isSpoken(message: Message): boolean {
  return spokenTypes.has(message.type) && !message.flags.has(MessageFlags.Ephemeral);
}

/** A message in the words of the core. Its text is as {@link readableText} gives it, in history and in a turn alike. */
export function chatMessageOf(message: Message, botId: string): ChatMessage {
  const { author, channelId, guildId } = message;
  const names = namesIn(message.client, {
    channelId,
    guildId,
    mentioned: [...message.mentions.users.values()],
  });
  return {
    id: message.id,
    channelId,
    author: {
      id: author.id,
      name: message.member?.displayName ?? userName(author),
      kind: kindOf(message, botId),
    },
    text: readableText(message.content, names, botId),
    at: message.createdAt.toISOString(),
    attachments: enclosureNames(message),
    ...(hasThirdPartyText(message, botId) ? { hasThirdPartyText: true } : {}),
    ...answeredBy(message, botId),
  };
}

function answeredBy({ author, type, reference }: Message, botId: string): Pick<ChatMessage, 'answers'> {
  const id = author.id === botId && type === MessageType.Reply ? reference?.messageId : undefined;
  return id === undefined ? {} : { answers: id };
}

function kindOf({ author, webhookId }: Message, botId: string): ChatMessage['author']['kind'] {
  if (author.id === botId) return 'self';
  return author.bot || webhookId !== null ? 'bot' : 'human';
}

/** What intake needs to know [G2]; `chat` is the same message in the core's words, `channel` the complete channel it stands in. */
export function factsOf(
  message: Message,
  chat: ChatMessage,
  channel: Pick<MessageFacts, 'isDm' | 'parentId' | 'isOwnThread'>,
  botId: string,
): MessageFacts {
  return {
    ...channel,
    channelId: message.channelId,
    authorId: message.author.id,
    authorKind: chat.author.kind,
    isSystem: !isSpoken(message) || message.webhookId !== null,
    text: chat.text,
    hasAttachments: chat.attachments.length > 0,
    isEdited: message.editedTimestamp !== null,
    mentionsBot: message.mentions.users.has(botId),
    repliesToBot: message.type === MessageType.Reply && message.mentions.repliedUser?.id === botId,
  };
}
