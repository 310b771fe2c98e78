import type { Message } from './entities.ts';
import type { World } from './world.ts';

/** So many different emoji a message takes. */
export const maxReactionKinds = 20;

/**
 * A unicode emoji in its coloured form, whether or not it came with the sign that asks for that; `undefined` for anything else.
 */
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
  const users = message.reactions.get(reaction.emoji) ?? new Set<string>();
  if (users.has(reaction.userId) === reaction.present) return;
  if (reaction.present) users.add(reaction.userId);
  else users.delete(reaction.userId);
  if (users.size === 0) message.reactions.delete(reaction.emoji);
  else message.reactions.set(reaction.emoji, users);
  world.emit({
    type: reaction.present ? 'reaction-added' : 'reaction-removed',
    message,
    userId: reaction.userId,
    emoji: reaction.emoji,
  });
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
