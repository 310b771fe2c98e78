import { MessageType, type Message } from 'discord.js';

import type { ChatMessage } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import type { ChannelMessages } from './channel-messages.ts';
import { chatMessageOf } from './normalise.ts';

export interface ThreadStarterOptions {
  readonly messages: Pick<ChannelMessages, 'one'>;
  readonly botId: () => string | undefined;
  readonly isHidden: (message: ChatMessage) => Promise<boolean>;
  readonly logger: Logger;
}

/**
 * The message that a thread was made from, as the first of the thread: `found` are all messages of the thread, among them Discord's pointer
 * to it. `undefined` where there is none, it is gone, or is no part of history [F2]. (A forum's post begins with an ordinary message.)
 */
export async function threadStarter(
  found: readonly Message[],
  { messages, botId, isHidden, logger }: ThreadStarterOptions,
): Promise<ChatMessage | undefined> {
  const pointer = found.find(({ type }) => type === MessageType.ThreadStarterMessage);
  const reference = pointer?.reference;
  if (pointer === undefined || reference?.messageId === undefined) return undefined;
  try {
    const starter = await messages.one(reference.channelId, reference.messageId);
    if (starter === undefined) return undefined;
    const chat = chatMessageOf(starter, botId() ?? '');
    return (await isHidden(chat)) ? undefined : { ...chat, channelId: pointer.channelId };
  } catch (error) {
    logger.info('the message that a thread was made from could not be fetched', {
      channelId: pointer.channelId,
      error,
    });
    return undefined;
  }
}
