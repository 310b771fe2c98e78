import { MessageType, type APIEmbed } from 'discord-api-types/v10';

import type { Message, Poll } from './entities.ts';
import { createMessage } from './messages.ts';
import { channelOf, type World } from './world.ts';

/** So many different emoji a message takes. */
export const maxReactionKinds = 20;

/** A unicode emoji in its coloured form, whether or not it came with the sign that asks for that; `undefined` for anything else. */
export function knownEmoji(text: string): string | undefined {
  const colourSign = '\u{FE0F}';
  const emoji = new RegExp(String.raw`^\p{RGI_Emoji}$`, 'v');
  return [text, `${text}${colourSign}`].find((candidate) => emoji.test(candidate));
}

/** Adds or takes back a reaction; nothing happens where it already is so. */
export function setReaction(
  world: World,
  message: Message,
  reaction: { readonly userId: string; readonly emoji: string; readonly present: boolean },
): void {
  const { userId, emoji, present } = reaction;
  const users = message.reactions.get(emoji) ?? new Set<string>();
  if (users.has(userId) === present) return;
  if (present) users.add(userId);
  else users.delete(userId);
  if (users.size === 0) message.reactions.delete(emoji);
  else message.reactions.set(emoji, users);
  world.emit({ type: present ? 'reaction-added' : 'reaction-removed', message, userId, emoji });
}

/** Takes back everybody's reactions with one emoji, or with all of them. */
export function clearReactions(world: World, message: Message, emoji?: string): void {
  if (emoji === undefined) {
    message.reactions.clear();
    world.emit({ type: 'reactions-cleared', message });
  } else if (message.reactions.delete(emoji)) {
    world.emit({ type: 'reactions-cleared', message, emoji });
  }
}

/** The emoji that a request names, as reactions are kept: a unicode one as itself, one of a guild's that the bot is in as `name:id`. */
export function reactionKey(world: World, text: string): string | undefined {
  const id = /^(?:a:)?\w+:(?<id>\d+)$/u.exec(text)?.groups?.['id'];
  if (id === undefined) return knownEmoji(text);
  const guilds = [...world.guilds.values()].filter(({ members }) => members.has(world.botId));
  const own = guilds.flatMap(({ emojis }) => emojis.get(id) ?? [])[0];
  return own === undefined ? undefined : `${own.name}:${own.id}`;
}

/** A message that has a poll. */
type PollMessage = Message & { readonly poll: Poll };

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

export function isOver(poll: Poll, now: Date): boolean {
  return poll.closed || Date.parse(poll.expiresAt) <= now.getTime();
}
