import type { Guild, GuildEmoji } from './entities.ts';
import { knownEmoji } from './reactions.ts';
import type { World } from './world.ts';

/** Gives a guild an emoji of its own. */
export function addEmoji(world: World, guild: Guild, name: string): GuildEmoji {
  const emoji = { id: world.nextId(), name };
  guild.emojis.set(emoji.id, emoji);
  return emoji;
}

/** The emoji that a request names, as reactions are kept: a unicode one as itself, one of a guild's that the bot is in as `name:id`. */
export function reactionKey(world: World, text: string): string | undefined {
  const id = /^(?:a:)?\w+:(?<id>\d+)$/u.exec(text)?.groups?.['id'];
  if (id === undefined) return knownEmoji(text);
  const guilds = [...world.guilds.values()].filter(({ members }) => members.has(world.botId));
  const own = guilds.flatMap(({ emojis }) => emojis.get(id) ?? [])[0];
  return own === undefined ? undefined : `${own.name}:${own.id}`;
}
