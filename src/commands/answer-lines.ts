import type { CommandContext, CommandReply } from '../core/commands.ts';
import { NewerVersionError, referenceTo, StoreError, withReference } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Place } from '../core/place.ts';
import { dataLine } from '../core/section.ts';
import { toSingleLine, quoted, withoutFences } from '../core/text.ts';
import { itemLine, mayUseItem, type DurableItem, wordingOf } from '../memory/durable/document.ts';

export { counted, quoted, withoutFences } from '../core/text.ts';

/**
 * The place as those who can read the answer make it: where only the asker can, all of the asker's memory may be shown, as in
 * the DM [K3]; otherwise what may be used in the place itself [V2].
 */
export function readingPlace({ ephemeral, place }: Pick<CommandContext, 'ephemeral' | 'place'>): Place {
  return ephemeral ? { ...place, audience: 'dm' } : place;
}

/** A day as Discord shows it to each reader, in their own time zone and language. */
export function shownDay(date: Date): string {
  return `<t:${Math.floor(date.getTime() / 1000)}:d>`;
}

/** A moment, in the same way. */
export function shownTime(date: Date): string {
  return `<t:${Math.floor(date.getTime() / 1000)}:f>`;
}

/** An item as its owner sees it: the line of the prompt [D5], its id, and where it may be used. */
export function listedItem(item: DurableItem, place: Place): string {
  const line = withoutFences(itemLine(item, place, shownDay));
  return `${line} · ${idAndVisibility(item)}${item.pinned ? ' · pinned' : ''}`;
}

/** What an item corrected, as far as an answer in `place` may name it, each with the day until which it held [D6]. */
export function formerLines(
  former: readonly DurableItem[],
  ownerId: string,
  place: Place,
): readonly string[] {
  return nameable(former, ownerId, place).named.map(
    (item) => `  before ${shownDay(new Date(item.updatedAt))}: ${withoutFences(dataLine(wordingOf(item)))}`,
  );
}

/** What is for a server, or the readers of a channel, of which there is no record stays in the DM until it is shared or said again [V1] [V2a]. */
export function idAndVisibility({ id, visibility, source }: DurableItem): string {
  const isUnused =
    (visibility === 'here' && source.readers === undefined) ||
    (visibility === 'server' && source.guildId === undefined);
  return `id ${toSingleLine(id)} · ${isUnused ? `${visibility}, but used in our DM only` : visibility}`;
}

/** Under an answer about an item that its owner had remembered in public, or shared: how far that goes, and how it is taken back [V1]. */
export function everywhereLines({ id, visibility }: DurableItem): readonly string[] {
  if (visibility !== 'everywhere') return [];
  return [`-# I may use it in every server that we share; \`!memory hide ${id}\` keeps it to our DM.`];
}

/** The owner's items that an answer in `place` may name, and how many it may only count [V2]. */
export function nameable(
  items: readonly DurableItem[],
  ownerId: string,
  place: Place,
): { readonly named: readonly DurableItem[]; readonly hidden: number } {
  const named = items.filter((item) => mayUseItem(item, ownerId, place));
  return { named, hidden: items.length - named.length };
}

const briefMaxChars = 100;

/** What the asker has just said themselves: only enough of it to be recognised. */
export function brieflyQuoted(text: string): string {
  return quoted(text, briefMaxChars);
}

const newerVersion =
  'Your memory was written by a newer version of me, so I neither read nor change it. The owner of this bot has to update me.';
const unknownFailure = 'Something went wrong on my side. Please try again.';

/** What people are told when memory could not be read. */
export function readFailure(error: unknown): string {
  if (error instanceof NewerVersionError) return newerVersion;
  if (error instanceof StoreError)
    return "I can't read this part of your memory right now. Please try again in a few minutes.";
  return unknownFailure;
}

/** The answer where memory could not be read, or as `explain` says; the log has the reference in it, with what failed. */
export function readFailureReply(
  error: unknown,
  what: string,
  { id, speaker }: Pick<CommandContext, 'id' | 'speaker'>,
  logger: Logger,
  explain = readFailure,
): CommandReply {
  const reference = referenceTo(id);
  logger.error(what, { reference, userId: speaker.id, error });
  return { text: withReference(explain(error), reference) };
}

/** What people are told when memory could not be changed; a store that refused has kept what it had [S2]. */
export function writeFailure(error: unknown): string {
  if (error instanceof NewerVersionError) return newerVersion;
  if (error instanceof StoreError)
    return "I can't save right now, so nothing was changed. Please try again in a few minutes; if it stays like this, the owner of this bot should look at the disk.";
  return unknownFailure;
}
