import { z } from 'zod';

/**
 * Who can read along: `dm` nobody but the speaker; `private` a guild channel that @everyone cannot view, or a
 * private thread; `public` every member of the guild.
 */
export type Audience = 'dm' | 'private' | 'public';

/** Where something is said: a DM, a guild channel or a thread, with its audience at that moment. */
export interface Place {
  readonly audience: Audience;
  readonly channelId: string;
  /**
   * The channel that `here` means for what is said in this place [V1]: the channel itself, the parent of an ordinary
   * thread; a private thread stands for itself, because its parent has readers who cannot see into it.
   */
  readonly homeId: string;
  /** Absent in DMs. */
  readonly guildId?: string;
  /** The thread's parent channel; absent where the channel is no thread. */
  readonly parentId?: string;
  /** The channel's or thread's own name, without `#`; absent in DMs. */
  readonly channelName?: string;
  /** The parent channel's name; absent where the channel is no thread. */
  readonly parentName?: string;
}

/** Whether more people can read along `now` than before. */
export function becamePublic(before: Place, now: Place): boolean {
  return before.audience !== 'public' && now.audience === 'public';
}

/** A place as documents and logs keep it. */
export const placeSchema: z.ZodType<Place> = z.object({
  audience: z.enum(['dm', 'private', 'public']),
  channelId: z.string(),
  homeId: z.string(),
  guildId: z.string().exactOptional(),
  parentId: z.string().exactOptional(),
  channelName: z.string().exactOptional(),
  parentName: z.string().exactOptional(),
});

/** One speaker in one channel, thread or DM; written `<channelId>:<userId>`. */
export interface SessionKey {
  readonly channelId: string;
  readonly userId: string;
}

/** The session's written form, for queues and logs. */
export function sessionName(session: SessionKey): string {
  return `${session.channelId}:${session.userId}`;
}
