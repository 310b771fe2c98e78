import { clipAtWord, flatten } from '../../core/text.ts';
import type { SequencedMessage } from '../session-log/fold-log.ts';
import type { LoggedMessage, UserMessage } from '../session-log/log-record.ts';
import type { ShortTermEntry } from './short-term-document.ts';

const partMaxChars = 140;

/** An exchange and the guild it was in. */
export interface GuildExchange {
  readonly guildId: string;
  readonly entry: ShortTermEntry;
}

/**
 * One line for each reply together with what it answers, where all of it was said in a public guild channel [T1]; anything said in a DM or a private
 * channel gives nothing. A reply whose question is not among the messages, since it was deleted or forgotten, gives nothing either.
 */
export function exchangesOf(
  channelId: string,
  messages: readonly SequencedMessage[],
): readonly GuildExchange[] {
  const asked = new Map<string, UserMessage>();
  const exchanges: GuildExchange[] = [];
  for (const { message } of messages) {
    if (message.role === 'user') {
      asked.set(message.id, message);
      continue;
    }
    const questions = message.replyTo.flatMap((id) => asked.get(id) ?? []);
    const { guildId, channelName = 'channel', at, ids, replyTo } = message;
    const isWhole = questions.length > 0 && questions.length === replyTo.length;
    if (!isWhole || guildId === undefined || ![...questions, message].every(isPublic)) continue;
    const text = `${part(questions)} → ${part([message])}`;
    exchanges.push({
      guildId,
      entry: { channelId, channelName, at, text, messageIds: [...replyTo, ...ids] },
    });
  }
  return exchanges;
}

function isPublic(message: LoggedMessage): boolean {
  return message.visibility === 'everywhere' && message.guildId !== undefined;
}

/** What was said, in quotes on one line; a message without words stands by the names of its files. */
function part(messages: readonly LoggedMessage[]): string {
  const words = messages.map(({ text, attachments }) => text.trim() || attachments.join(', '));
  return `"${clipAtWord(flatten(words.join(' ')), partMaxChars)}"`;
}
