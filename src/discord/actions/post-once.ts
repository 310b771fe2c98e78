import { MessageFlags, type Message, type MessageCreateOptions, type SendableChannels } from 'discord.js';

import type { Clock } from '../../core/time.ts';
import { snowflakeTime } from '../../core/snowflake.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { botMay } from '../permissions.ts';

/** Discord compares nonces for "a few minutes"; where the wish is older than this, its message is looked for first. Milliseconds. */
const nonceHoldsMs = 2 * 60_000;

/** What is posted: a text, or a poll without one. */
export type Post =
  | Required<Pick<MessageCreateOptions, 'content'>>
  | Required<Pick<MessageCreateOptions, 'poll'>>;

/** The bot's message of this kind that an earlier try at the turn left in the channel, where the nonce no longer tells. */
export async function postedBefore(
  channel: SendableChannels,
  post: Post,
  { messages }: TurnContext,
  clock: Clock,
): Promise<Message | undefined> {
  const asked = messages.at(-1)?.id ?? '0';
  if (clock().getTime() - snowflakeTime(asked).getTime() <= nonceHoldsMs || !botMay('read', channel))
    return undefined;
  const since = await channel.messages.fetch({ after: asked, limit: 100, cache: false });
  return since.find((message) => message.author.id === channel.client.user.id && isSame(message, post));
}

/** Posts pinging nobody, and nothing where the nonce is known: the message that is there is then given. */
export function postQuietly(channel: SendableChannels, post: Post, nonce: string): Promise<Message> {
  return channel.send({
    ...post,
    nonce,
    enforceNonce: true,
    allowedMentions: { parse: [], repliedUser: false },
    ...('poll' in post && { flags: MessageFlags.SuppressNotifications }),
  });
}

/** Whether a message says what was to be posted; under a known nonce Discord gives what was posted first. */
export function isSame(message: Message, post: Post): boolean {
  if ('content' in post) return message.content === post.content?.trim();
  return message.poll !== null && message.poll.question.text === post.poll?.question.text;
}
