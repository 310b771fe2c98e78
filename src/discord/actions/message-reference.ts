import { z } from 'zod';

import type { HistoryPort } from '../../core/chat.ts';
import { compareSnowflakes, messageReferenceIn } from '../../core/snowflake.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { ActionRefusal } from './action.ts';

export const messageInput = z
  .string()
  .describe(
    '`current`: the message you are answering. `replied_to`: the message that it replies to. `my_last`: your own last message before it. Or the id or link of a message of this channel.',
  );

const lookedThrough = 50;

const inOther = 'That message is in another channel.';

/** @throws {ActionRefusal} where it means none. */
export async function messageIn(
  reference: string,
  { messages, place }: Pick<TurnContext, 'messages' | 'place'>,
  history: Pick<HistoryPort, 'recent'>,
): Promise<string> {
  const wanted = reference.trim();
  switch (wanted) {
    case 'current':
      return known(messages.at(-1)?.id, 'There is no message.');
    case 'replied_to': {
      const target = messages.findLast(({ repliesTo }) => repliesTo !== undefined)?.repliesTo;
      if (target !== undefined && target.channelId !== place.channelId) throw new ActionRefusal(inOther);
      return known(target?.id, 'The message you are answering replies to none.');
    }
    case 'my_last': {
      const first = messages[0]?.id ?? '0';
      const recent = await history.recent(place.channelId, lookedThrough);
      const own = recent.findLast(
        ({ id, author }) => author.kind === 'self' && compareSnowflakes(id, first) < 0,
      );
      return known(own?.id, 'You have said nothing here lately.');
    }
    default: {
      const linked = messageReferenceIn(wanted);
      if ((linked?.channelId ?? place.channelId) !== place.channelId) throw new ActionRefusal(inOther);
      return known(linked?.id, 'Name a message by `current`, `replied_to`, `my_last`, its id or its link.');
    }
  }
}

function known(id: string | undefined, otherwise: string): string {
  if (id === undefined) throw new ActionRefusal(otherwise);
  return id;
}
