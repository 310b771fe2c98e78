/** A poll as it hangs on a message. */
export interface Poll {
  readonly question: string;
  readonly answers: readonly PollAnswer[];
  readonly allowsSeveral: boolean;
  /** ISO 8601, UTC. */
  readonly expiresAt: string;
  /** Closed by its author before its time. */
  closed: boolean;
  /** The id of an answer → who voted for it. */
  readonly votes: Map<number, Set<string>>;
}

export interface PollAnswer {
  /** From 1. */
  readonly id: number;
  readonly text: string;
  readonly emoji?: string | undefined;
}

export function isOver(poll: Poll, now: Date): boolean {
  return poll.closed || Date.parse(poll.expiresAt) <= now.getTime();
}
