import { MessageReferenceType, MessageType, type Attachment, type Message } from 'discord.js';

import type { AttachedFile, ForwardedMessage, IncomingMessage } from '../core/chat.ts';
import { isSentFor } from './actions/relayed-text.ts';
import { namesIn } from './names-in.ts';
import { readableText } from './readable-text.ts';

/** How a message that was passed on is named beside files. */
const forwardName = 'forwarded message';

/** What a message brings along besides its words; what there is none of is absent. */
export function enclosuresOf(message: Message): Pick<IncomingMessage, 'files' | 'repliesTo' | 'forwards'> {
  const files = filesOf(message);
  const forwards = forwardsOf(message);
  const repliesTo = replyReferenceOf(message);
  return {
    ...(files.length === 0 ? {} : { files }),
    ...(forwards.length === 0 ? {} : { forwards }),
    ...(repliesTo === undefined ? {} : { repliesTo }),
  };
}

/** What history and log tell of it: names only. */
export function enclosureNames({ attachments, messageSnapshots }: Message): readonly string[] {
  return [...attachments.values()].map(({ name }) => name).concat(messageSnapshots.map(() => forwardName));
}

/** Whether it brings along what its author did not write there; a reply to this bot does not. Of the bot's own, what it sent for somebody does. */
export function hasThirdPartyText(
  { type, author, content, mentions, attachments, messageSnapshots }: Message,
  botId: string,
): boolean {
  if (author.id === botId) return isSentFor(content);
  const repliedId = mentions.repliedUser?.id;
  const isToOther = type === MessageType.Reply && repliedId !== author.id && repliedId !== botId;
  return isToOther || attachments.size > 0 || messageSnapshots.size > 0;
}

/** The files that hang on a message, in order. */
export function filesOf({ attachments }: Pick<Message, 'attachments'>): readonly AttachedFile[] {
  return attachments.map(attachedFile);
}

function attachedFile({ name, size, url, width, height }: Attachment): AttachedFile {
  return {
    name,
    size,
    url,
    ...(width === null || height === null ? {} : { pixels: Math.max(width, height) }),
  };
}

/** A reply points into its own channel; other references are no replies. */
function replyReferenceOf({ type, reference, channelId }: Message): IncomingMessage['repliesTo'] {
  const id = reference?.messageId;
  const isReply = type === MessageType.Reply && reference?.channelId === channelId;
  return isReply && id !== undefined ? { id, channelId } : undefined;
}

/** The messages that a message passes on, as they were then. */
export function forwardsOf(message: Message): readonly ForwardedMessage[] {
  if (message.reference?.type !== MessageReferenceType.Forward) return [];
  const { client, channelId, guildId } = message;
  return message.messageSnapshots.map(({ content, attachments, mentions }) => {
    const names = namesIn(client, { channelId, guildId, mentioned: [...mentions.users.values()] });
    return { text: readableText(content, names, ''), files: filesOf({ attachments }) };
  });
}
