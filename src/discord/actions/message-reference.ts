import { compareSnowflakes, isSnowflake } from '../../core/snowflake.ts';
import type { ChatMessage } from '../../core/chat.ts';
import type { TurnContext } from '../../core/turn-context.ts';

export const messageProperty = {
  type: 'string',
  description:
    '`current`: the message you are answering. `replied_to`: the message that it replies to. `my_last`: your own last message before it. Or the id or link of a message of this channel.',
} as const;

export type FoundMessage =
  | { readonly outcome: 'found'; readonly id: string }
  | { readonly outcome: 'refused'; readonly reason: string };

const inOther = 'That message is in another channel.';
const link =
  /^<?https?:\/\/[^\s/]+\/channels\/(?:@me|[0-9]+)\/(?<channelId>[0-9]+)\/(?<messageId>[0-9]+)>?$/u;

/** The id of the message that a reference means; `recent` are the channel's newest messages, oldest first. */
export function findMessage(
  reference: string,
  { messages, place }: Pick<TurnContext, 'messages' | 'place'>,
  recent: readonly ChatMessage[],
): FoundMessage {
  const wanted = reference.trim();
  switch (wanted) {
    case 'current':
      return found(messages.at(-1)?.id, 'There is no message.');
    case 'replied_to': {
      const target = messages.findLast(({ repliesTo }) => repliesTo !== undefined)?.repliesTo;
      if (target !== undefined && target.channelId !== place.channelId) return refused(inOther);
      return found(target?.id, 'The message you are answering replies to none.');
    }
    case 'my_last': {
      const first = messages[0]?.id ?? '0';
      const own = recent.findLast(
        ({ id, author }) => author.kind === 'self' && compareSnowflakes(id, first) < 0,
      );
      return found(own?.id, 'You have said nothing here lately.');
    }
    default: {
      const { channelId = place.channelId, messageId = wanted } = link.exec(wanted)?.groups ?? {};
      if (channelId !== place.channelId) return refused(inOther);
      return found(
        isSnowflake(messageId) ? messageId : undefined,
        'Name a message by `current`, `replied_to`, `my_last`, its id or its link.',
      );
    }
  }
}

function found(id: string | undefined, otherwise: string): FoundMessage {
  return id === undefined ? refused(otherwise) : { outcome: 'found', id };
}

function refused(reason: string): FoundMessage {
  return { outcome: 'refused', reason };
}
