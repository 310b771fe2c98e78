import type { ThreadChannel } from './entities.ts';
import type { World } from './world.ts';

/** Adds a member of the guild to a thread; already in it is fine. */
export function joinThread(world: World, thread: ThreadChannel, userId: string): void {
  if (thread.members.has(userId) || !world.guilds.get(thread.guildId)?.members.has(userId)) return;
  thread.members.set(userId, world.now().toISOString());
  world.emit({ type: 'thread-joined', thread, userId });
}

/** Takes a member out of a thread; not in it is fine. */
export function leaveThread(world: World, thread: ThreadChannel, userId: string): void {
  if (thread.members.delete(userId)) world.emit({ type: 'thread-left', thread, userId });
}
