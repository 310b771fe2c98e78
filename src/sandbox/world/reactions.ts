import type { Message } from './entities.ts';
import type { World } from './world.ts';

/** So many different emoji a message takes. */
export const maxReactionKinds = 20;

/** A unicode emoji in its coloured form, given with or without the sign for that; `undefined` for anything else. */
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

/** The emoji that a request names, as reactions are kept: a unicode one as itself, a guild's as `name:id`. */
export function reactionKey(world: World, text: string): string | undefined {
  const id = /^(?:a:)?\w+:(?<id>\d+)$/u.exec(text)?.groups?.['id'];
  if (id === undefined) return knownEmoji(text);
  const guilds = [...world.guilds.values()].filter(({ members }) => members.has(world.botId));
  const own = guilds.flatMap(({ emojis }) => emojis.get(id) ?? [])[0];
  return own === undefined ? undefined : `${own.name}:${own.id}`;
}
