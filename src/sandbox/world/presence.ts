import type { Presence } from './entities.ts';
import type { World } from './world.ts';

export const offline: Presence = { status: 'offline', activities: [] };

export function setPresence(world: World, presence: Presence): void {
  world.bot.presence = presence;
  world.emit({ type: 'presence-changed', presence });
}
