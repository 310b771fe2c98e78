import { z } from 'zod';

/**
 * Who can read along [V0]: `dm` nobody but the speaker; `public` everybody of the guild who is let in at all; `private` a guild channel that
 * not all of them can read, an age-restricted one, a private thread, or one of which nobody knows.
 */
export type Audience = 'dm' | 'private' | 'public';

/** Where something is said: a DM, a guild channel or a thread, with its audience at that moment. */
export interface Place {
  readonly audience: Audience;
  /**
   * Which roles and single people could read along in a guild, as `discord/place.ts` writes them: in order, {@link everyone} for all, and as
   * {@link adultsAmong} says in an age-restricted channel. Absent where that cannot be known: what is said there is kept for the DM, and nothing private is used in the answer.
   */
  readonly readers?: readonly string[];
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
  /** The category that the channel, or the thread's parent, stands in; absent where there is none, or it is not known. */
  readonly categoryId?: string;
  /** The channel's or thread's own name, without `#`; absent in DMs. */
  readonly channelName?: string;
  /** The parent channel's name; absent where the channel is no thread. */
  readonly parentName?: string;
}

/** Whether it cannot be known who reads along: nothing made of what was said before may be written down there or given up [V0]. */
export function hasUnknownReaders({ audience, readers }: Place): boolean {
  return audience === 'private' && readers === undefined;
}

/** Stands for all readers that there can be. */
export const everyone = '@everyone';

/** Begins a reader of an age-restricted channel; alone it stands for one that nobody else reads. */
const adult = '18:';

/** The readers of an age-restricted channel that these can see: Discord lets in those of them who may see such channels [V0]. */
export function adultsAmong(readers: readonly string[]): readonly string[] {
  return readers.length === 0
    ? [adult]
    : readers.map((reader) => (reader.startsWith(adult) ? reader : adult + reader));
}

function areAdults(readers: readonly string[]): boolean {
  return readers.some((reader) => reader.startsWith(adult));
}

/**
 * Whether all who read `now` could read `then` too; never where one of the two is not known [V2a], and what was said where only adults read is for no other
 * channel, be nobody else in it [V0].
 */
export function couldRead(then: readonly string[] | undefined, now: readonly string[] | undefined): boolean {
  if (then === undefined || now === undefined || (areAdults(then) && !areAdults(now))) return false;
  return now.every((reader) => isAmong(reader, then));
}

function isAmong(reader: string, readers: readonly string[]): boolean {
  if (readers.includes(everyone) || readers.includes(reader) || reader === adult) return true;
  if (!reader.startsWith(adult)) return false;
  return readers.includes(reader.slice(adult.length)) || readers.includes(adult + everyone);
}

/** Those who could read in both cases; `undefined` where one is not known. */
export function readersOfBoth(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): readonly string[] | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (areAdults(a) !== areAdults(b)) return readersOfBoth(adultsAmong(a), adultsAmong(b));
  const both = [...a.filter((reader) => isAmong(reader, b)), ...b.filter((reader) => isAmong(reader, a))];
  const readers = [...new Set(both)].toSorted();
  return areAdults(a) ? adultsAmong(readers) : readers;
}

/**
 * Whether an answer made for the readers `before` may be read `now` by others [V2a]. One that was made for all, or for nobody knew whom, holds
 * nothing that somebody might not read. What counts as public has others in any case.
 */
export function hasMoreReaders(before: Place, now: Place): boolean {
  switch (before.audience) {
    case 'public':
      return false;
    case 'dm':
      return now.audience !== 'dm';
    case 'private':
      return (
        before.readers !== undefined &&
        (now.audience !== 'private' || !couldRead(before.readers, now.readers))
      );
  }
}

/** A place as documents and logs keep it. */
export const placeSchema: z.ZodType<Place> = z.object({
  audience: z.enum(['dm', 'private', 'public']),
  readers: z.array(z.string()).readonly().optional(),
  channelId: z.string(),
  homeId: z.string(),
  guildId: z.string().optional(),
  parentId: z.string().optional(),
  categoryId: z.string().optional(),
  channelName: z.string().optional(),
  parentName: z.string().optional(),
});

/** Which guild a channel belongs to, as far as that is remembered: a direct message belongs to none. */
export type ChannelGuild =
  | { readonly kind: 'guild'; readonly guildId: string }
  | { readonly kind: 'dm' }
  | { readonly kind: 'unknown' };

/** The guild of a place. */
export function guildOfPlace({ guildId }: Pick<Place, 'guildId'>): ChannelGuild {
  return guildId === undefined ? { kind: 'dm' } : { kind: 'guild', guildId };
}

/** One speaker in one channel, thread or DM; written `<channelId>:<userId>`. */
export interface SessionKey {
  readonly channelId: string;
  readonly userId: string;
}

/** The session's written form, for queues and logs. */
export function sessionName(session: SessionKey): string {
  return `${session.channelId}:${session.userId}`;
}
