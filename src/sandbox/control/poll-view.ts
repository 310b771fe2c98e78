import { isOver } from '../world/poll.ts';
import type { Poll } from '../world/poll.ts';
import { userOf } from '../world/world.ts';
import type { World } from '../world/world.ts';

export interface PollView {
  readonly question: string;
  readonly answers: readonly {
    readonly text: string;
    readonly emoji?: string;
    /** The names of those who voted for it. */
    readonly votes: readonly string[];
  }[];
  readonly allowsSeveral: boolean;
  /** ISO 8601, UTC. */
  readonly expiresAt: string;
  readonly isOver: boolean;
}

export function pollView(world: World, poll: Poll): PollView {
  return {
    question: poll.question,
    answers: poll.answers.map(({ id, text, emoji }) => ({
      text,
      ...(emoji === undefined ? {} : { emoji }),
      votes: Array.from(poll.votes.get(id) ?? [], (userId) => userOf(world, userId).username),
    })),
    allowsSeveral: poll.allowsSeveral,
    expiresAt: poll.expiresAt,
    isOver: isOver(poll, world.now()),
  };
}
