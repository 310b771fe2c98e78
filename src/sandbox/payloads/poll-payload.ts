import { PollLayoutType } from 'discord-api-types/v10';
import type { APIPoll } from 'discord-api-types/v10';

import { isOver } from '../world/poll.ts';
import type { Poll } from '../world/poll.ts';

/** A poll as `viewerId` gets to see it. */
export function pollPayload(poll: Poll, viewerId: string, now: Date): APIPoll {
  return {
    question: { text: poll.question },
    answers: poll.answers.map(({ id, text, emoji }) => ({
      answer_id: id,
      poll_media: { text, ...(emoji === undefined ? {} : { emoji: { id: null, name: emoji } }) },
    })),
    expiry: poll.expiresAt,
    allow_multiselect: poll.allowsSeveral,
    layout_type: PollLayoutType.Default,
    results: {
      is_finalized: isOver(poll, now),
      answer_counts: Array.from(poll.votes, ([id, voters]) => ({
        id,
        count: voters.size,
        me_voted: voters.has(viewerId),
      })),
    },
  };
}
