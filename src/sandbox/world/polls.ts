import { MessageType } from 'discord-api-types/v10';
import type { APIEmbed } from 'discord-api-types/v10';

import type { Message } from './entities.ts';
import { createMessage } from './messages.ts';
import type { Poll } from './poll.ts';
import { channelOf } from './world.ts';
import type { World } from './world.ts';

/** A message that has a poll. */
export type PollMessage = Message & { readonly poll: Poll };

export function hasPoll(message: Message): message is PollMessage {
  return message.poll !== undefined;
}

/** Gives a vote or takes it back; where only one is allowed, the former one is taken back first. */
export function setVote(
  world: World,
  message: PollMessage,
  vote: { readonly userId: string; readonly answerId: number; readonly present: boolean },
): void {
  const { poll } = message;
  if (vote.present && !poll.allowsSeveral) {
    for (const { id } of poll.answers) {
      if (id !== vote.answerId) record(world, message, { ...vote, answerId: id, present: false });
    }
  }
  record(world, message, vote);
}

function record(world: World, message: PollMessage, vote: Parameters<typeof setVote>[2]): void {
  const voters = message.poll.votes.get(vote.answerId) ?? new Set<string>();
  if (voters.has(vote.userId) === vote.present) return;
  if (vote.present) voters.add(vote.userId);
  else voters.delete(vote.userId);
  message.poll.votes.set(vote.answerId, voters);
  const { userId, answerId } = vote;
  world.emit({ type: vote.present ? 'vote-added' : 'vote-removed', message, userId, answerId });
}

/** Closes a poll before its time, and leaves a note of the result. */
export function closePoll(world: World, message: PollMessage): void {
  message.poll.closed = true;
  world.emit({ type: 'message-touched', message });
  createMessage(world, {
    channel: channelOf(world, message.channelId),
    authorId: message.authorId,
    text: '',
    mentions: { userIds: [], everyone: false },
    type: MessageType.PollResult,
    replyTo: { channelId: message.channelId, messageId: message.id },
    embeds: [resultOf(message.poll)],
  });
}

function resultOf({ question, answers, votes }: Poll): APIEmbed {
  const counts = answers.map(({ id, text }) => ({ id, text, count: votes.get(id)?.size ?? 0 }));
  const most = Math.max(...counts.map(({ count }) => count));
  const winners = most === 0 ? [] : counts.filter(({ count }) => count === most);
  const [winner, second] = winners;
  const fields = {
    poll_question_text: question,
    victor_answer_votes: String(most),
    total_votes: String(counts.reduce((total, { count }) => total + count, 0)),
    ...(winner === undefined || second !== undefined
      ? {}
      : { victor_answer_id: String(winner.id), victor_answer_text: winner.text }),
  };
  return { fields: Object.entries(fields).map(([name, value]) => ({ name, value, inline: false })) };
}
