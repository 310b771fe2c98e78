import { z } from 'zod';

const audienceSchema = z.enum(['dm', 'private', 'public']);

/** Who can read along [V0]: `private` is anything narrower than all of the guild, age-restricted or unknown. */
export type Audience = z.infer<typeof audienceSchema>;

export const placeSchema = z.object({
  audience: audienceSchema,
  /**
   * The roles and people who could read along, in order, as `discord/place.ts` writes them: {@link everyone}
   * for all, and see {@link adultsAmong}. Absent where unknown: such talk is kept for the DM, and nothing
   * private is used in the answer.
   */
  readers: z.array(z.string()).readonly().optional(),
  channelId: z.string(),
  /** The channel that `here` means [V1]: a thread's parent, but a private thread itself, as it has fewer readers. */
  homeId: z.string(),
  /** Absent in DMs. */
  guildId: z.string().optional(),
  /** Absent unless the channel is a thread. */
  parentId: z.string().optional(),
  /** Of the channel or the thread's parent; absent where there is none, or unknown. */
  categoryId: z.string().optional(),
  /** Without `#`; absent in DMs. */
  channelName: z.string().optional(),
  /** Absent unless the channel is a thread. */
  parentName: z.string().optional(),
});

/** A DM, guild channel or thread, with its audience at that moment. */
export type Place = Readonly<z.infer<typeof placeSchema>>;

export function dmPlace(channelId: string): Place {
  return { audience: 'dm', channelId, homeId: channelId };
}

/** Then nothing made of earlier talk may be written or given up there [V0]. */
export function hasUnknownReaders({ audience, readers }: Place): boolean {
  return audience === 'private' && readers === undefined;
}

export const everyone = '@everyone';

/** Prefix of readers of an age-restricted channel; alone, a channel that nobody else reads. */
const adult = '18:';

/** Which of these readers can see an age-restricted channel [V0]. */
export function adultsAmong(readers: readonly string[]): readonly string[] {
  return readers.length === 0
    ? [adult]
    : readers.map((reader) => (reader.startsWith(adult) ? reader : adult + reader));
}

function areAdults(readers: readonly string[]): boolean {
  return readers.some((reader) => reader.startsWith(adult));
}

/** Whether all who read `now` could read `then` [V2a]; age-restricted talk is for no other channel [V0]. */
export function couldRead(then: readonly string[] | undefined, now: readonly string[] | undefined): boolean {
  if (then === undefined || now === undefined || (areAdults(then) && !areAdults(now))) return false;
  return now.every((reader) => isAmong(reader, then));
}

function isAmong(reader: string, readers: readonly string[]): boolean {
  if (readers.includes(everyone) || readers.includes(reader) || reader === adult) return true;
  if (!reader.startsWith(adult)) return false;
  return readers.includes(reader.slice(adult.length)) || readers.includes(adult + everyone);
}

/** `undefined` where one is unknown. */
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
 * Whether an answer made for the readers `before` may `now` be read by others [V2a]. One made for all, or for
 * unknown readers, holds nothing private. A public place always has others.
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

/** As far as remembered; a direct message belongs to no guild. */
export type ChannelGuild =
  | { readonly kind: 'guild'; readonly guildId: string }
  | { readonly kind: 'dm' }
  | { readonly kind: 'unknown' };

export function guildOfPlace({ guildId }: Pick<Place, 'guildId'>): ChannelGuild {
  return guildId === undefined ? { kind: 'dm' } : { kind: 'guild', guildId };
}

/** One speaker in one channel, thread or DM; written `<channelId>:<userId>`. */
export interface SessionKey {
  readonly channelId: string;
  readonly userId: string;
}

export function sessionName(session: SessionKey): string {
  return `${session.channelId}:${session.userId}`;
}
