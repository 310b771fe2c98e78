import type { ThreadChannel } from './entities.ts';
import { canView } from './permissions.ts';
import type { World } from './world.ts';

/** The threads of a guild that are not put away and that the bot can view. */
export function activeThreads(world: World, guildId: string): readonly ThreadChannel[] {
  return [...world.channels.values()].flatMap((channel) =>
    channel.kind === 'thread' &&
    channel.guildId === guildId &&
    !channel.archived &&
    canView(world, channel, world.botId)
      ? [channel]
      : [],
  );
}
