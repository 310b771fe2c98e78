import { limits } from '../../core/limits.ts';
import type { Place } from '../../core/place.ts';
import { isYounger } from '../../core/snowflake.ts';
import { bareId, sameItemForm, saysNothing, saysWords, searchForm } from '../../core/text.ts';
import type { MessagesByChannel } from '../undo.ts';
import {
  byAge,
  hexDigits,
  itemKinds,
  laterSnowflake,
  mayUseItem,
  withItems,
  wordingOf,
  type DurableDocument,
  type DurableItem,
  type ItemKind,
  type Replaced,
} from './document.ts';

/** What became of a forgetting. */
export interface ForgetResult {
  readonly forgotten: readonly DurableItem[];
  /** How many more match that may not be touched in this place [K2]. */
  readonly elsewhere: number;
  readonly words: string;
  /** Messages that went with it, answers among them. */
  readonly withdrawn: number;
  /** Absent where nothing changed. */
  readonly undoId?: string | undefined;
}

/** What is to be forgotten, as it was resolved when it was said. */
export interface ToForget {
  readonly userId: string;
  /** The snowflake of who said so. */
  readonly commandId: string;
  readonly words: string;
  readonly forgotten: readonly DurableItem[];
  /** What these had corrected. */
  readonly past: readonly DurableItem[];
  /** The person's other active items: their sentences stay. */
  readonly others: readonly DurableItem[];
  /** What waits for their yes: what says the words, or came from these messages, goes too. */
  readonly proposed: readonly DurableItem[];
  readonly messages: MessagesByChannel;
}

/** What is meant and may be used in `place`, and how many more match elsewhere. */
export function itemsToForget(
  items: readonly DurableItem[],
  ownerId: string,
  target: string | readonly string[],
  place: Place,
): Pick<ForgetResult, 'forgotten' | 'elsewhere'> {
  const matching =
    typeof target === 'string'
      ? findItems(items, target).named
      : items.filter((item) => isSeen(item) && target.includes(item.id));
  const forgotten = matching.filter((item) => mayUseItem(item, ownerId, place));
  return { forgotten, elsewhere: matching.length - forgotten.length };
}

/** Takes the chosen items out for good; nothing said until then is noticed any more [A4]. */
export function forgetChosen(
  document: DurableDocument,
  isChosen: (item: DurableItem) => boolean,
  commandId: string,
  now: Date,
): DurableDocument {
  const replaced = document.items.filter(isChosen).map((item): Replaced => [item, forgottenItem(item, now)]);
  if (replaced.length === 0) return document;
  const forgottenUpTo = laterSnowflake(document.forgottenUpTo, commandId);
  return { ...withItems(document, { replaced }), forgottenUpTo };
}

/**
 * The items, corrected ones included [D6], that a target names by ids, quoted text or words [K4], never a pattern.
 * `inside` holds those with the words inside longer ones. What {@link saysNothing} names an item only as its whole text.
 */
export function findItems(
  items: readonly DurableItem[],
  target: string,
): {
  readonly named: readonly DurableItem[];
  readonly inside: readonly DurableItem[];
  readonly byId?: true;
  /** The words name nothing by themselves. */
  readonly isVague?: true;
} {
  const needle = searchForm(target);
  const seen = items.filter(isSeen);
  const ids = needle
    .split(' ')
    .map(bareId)
    .filter((word) => word !== '' && word !== 'id');
  const withId = seen.filter(({ id }) => ids.includes(id.toLowerCase()));
  if (needle === '' || (withId.length > 0 && withId.length === ids.length))
    return { named: withId, inside: [], byId: true };
  const literal = /^["“„«](?<words>.+)["”“»]$/u.exec(needle)?.groups?.['words']?.trim();
  const having = (words: string) =>
    seen.filter((item) => words !== '' && searchForm(wordingOf(item)).includes(words));
  if (literal !== undefined) return { named: having(literal), inside: [] };
  const named = seen.filter((item) => saysWords(wordingOf(item), needle));
  if (saysNothing(target) && !named.some((item) => searchForm(wordingOf(item)) === needle))
    return { named: [], inside: [], isVague: true };
  return { named, inside: having(needle).filter((item) => !named.includes(item)) };
}

/** Offered where words name none [K4]. */
const newestOffered = 5;

/** Those that came from some messages first. */
export function newestItems(
  items: readonly DurableItem[],
  messageIds: readonly string[] = [],
): readonly DurableItem[] {
  const isFrom = ({ source }: DurableItem): number => Number(messageIds.includes(source.messageId));
  return items.toSorted((a, b) => isFrom(b) - isFrom(a) || byAge(b, a)).slice(0, newestOffered);
}

/** Whether an item says some words and was said until `commandId`. */
export function saysEarlier(words: string, commandId: string): (item: DurableItem) => boolean {
  return (item) => saysWords(wordingOf(item), words) && !isYounger(item.source.messageId, commandId);
}

/** Removes proposals [K9] that are picked. The very same document where there are none. */
export function withoutProposals(
  document: DurableDocument,
  isGone: (item: DurableItem) => boolean,
): DurableDocument {
  const removed = document.items.filter((item) => item.status === 'proposed' && isGone(item));
  return withItems(document, { removed });
}

/** Removes what says some words, in any status, unless it was said after `commandId` [K11]. */
export function purgeSaying(document: DurableDocument, words: string, commandId: string): DurableDocument {
  const removed = document.items.filter(saysEarlier(words, commandId));
  const forgottenUpTo = laterSnowflake(document.forgottenUpTo, commandId);
  return { ...withItems(document, { removed }), forgottenUpTo };
}

/**
 * Removes what was extracted from changed messages [G5] and is no longer supported. What its owner stored or had
 * forgotten stays.
 */
export function removeBySource(
  document: DurableDocument,
  messageIds: readonly string[],
  stillSupported: (item: DurableItem) => boolean,
): DurableDocument {
  const changed = new Set(messageIds);
  const removed = document.items.filter(
    (item) =>
      item.source.type !== 'manual' &&
      item.forgotten === undefined &&
      changed.has(item.source.messageId) &&
      !stillSupported(item),
  );
  return withItems(document, { removed });
}

/** Removes what was noticed in messages that are too old [K15], unless its owner pinned or confirmed it. */
export function removePast(
  document: DurableDocument,
  isPast: (messageId: string) => boolean,
): DurableDocument {
  const removed = document.items.filter(
    (item) =>
      isNoticed(item) && !item.pinned && item.confirmedAt === undefined && isPast(item.source.messageId),
  );
  return withItems(document, { removed });
}

/** Takes off the questions of some items [D1a]. The very same document where there are none. */
export function withoutQuestions(
  document: DurableDocument,
  hasQuestion: (item: DurableItem) => boolean,
): DurableDocument {
  const replaced = document.items
    .filter(hasQuestion)
    .map((item): Replaced => [item, { ...item, question: undefined }]);
  return withItems(document, { replaced });
}

/** What rests on a message alone: its owner neither stored it nor said yes to another assistant [EW3]. */
export function isNoticed({ source: { type } }: DurableItem): boolean {
  return type === 'discord' || type === 'summary';
}

function isSeen(item: DurableItem): boolean {
  return item.status === 'active' || item.supersededBy !== undefined;
}

/** An item taken out of use, which no other one corrected. */
export function deprecatedItem(item: DurableItem, now: Date): DurableItem {
  const updatedAt = now.toISOString();
  return { ...item, supersededBy: undefined, status: 'deprecated', pinned: false, updatedAt };
}

/** What is left of an item that its owner had forgotten. */
export function forgottenItem(item: DurableItem, now: Date): DurableItem {
  return { ...deprecatedItem(item, now), forgotten: true, goesAt: undefined, replaces: undefined };
}

/** The corrected item becomes history that names the new one [D6]. */
export function supersede(old: DurableItem | undefined, newId: string, now: Date): Replaced | undefined {
  if (old === undefined || old.id === newId) return undefined;
  return [old, { ...old, status: 'deprecated', supersededBy: newId, updatedAt: now.toISOString() }];
}

/** By the id of each active item what it corrected, directly or by way of others, newest first [D6]. */
export function itemHistories(items: readonly DurableItem[]): ReadonlyMap<string, readonly DurableItem[]> {
  const byId = new Map(items.map((item) => [item.id, item]));
  const histories = new Map<string, DurableItem[]>();
  for (const item of items.toReversed()) {
    const present = correctionOf(item, byId);
    if (present !== undefined) histories.set(present.id, [...(histories.get(present.id) ?? []), item]);
  }
  for (const past of histories.values()) past.sort((a, b) => byAge(b, a));
  return histories;
}

/** The active item at the end of an item's corrections; a document edited by hand may lead nowhere, or in a circle. */
function correctionOf(item: DurableItem, byId: ReadonlyMap<string, DurableItem>): DurableItem | undefined {
  const seen = new Set<DurableItem>();
  let present: DurableItem | undefined = item;
  while (present?.status === 'deprecated' && !seen.has(present)) {
    seen.add(present);
    present = present.supersededBy === undefined ? undefined : byId.get(present.supersededBy);
  }
  return present?.status === 'active' && present !== item ? present : undefined;
}

/** The messages that items came from. */
export function sourcesOf(items: readonly DurableItem[]): MessagesByChannel {
  const byChannel = new Map<string, Set<string>>();
  for (const { source } of items) {
    const ids = byChannel.get(source.channelId) ?? new Set();
    if (source.messageId !== '') byChannel.set(source.channelId, ids.add(source.messageId));
  }
  return [...byChannel].map(([channelId, ids]) => ({ channelId, messageIds: [...ids] }));
}

/** The target itself, or, where it was an id, the words of the item that has it. */
export function matchedWords(target: string, forgotten: readonly DurableItem[]): string {
  const [first] = forgotten;
  if (first === undefined || searchForm(wordingOf(first)).includes(searchForm(target))) return target;
  return first.text;
}

/** Without what is no longer in use, final, and not among the newest ten that a present item corrected [L3]. */
export function withBoundedPast(document: DurableDocument): DurableDocument {
  const { items, changes = [] } = document;
  const past = [...itemHistories(items).values()].flatMap((each) => each.slice(0, limits.itemHistory));
  const kept = new Set(past.map(({ id }) => id));
  for (const change of changes) for (const { id } of change.items) kept.add(id);
  const outgrown = items.filter(({ id, status }) => status === 'deprecated' && !kept.has(id));
  return withTombstones(withItems(document, { removed: outgrown }), outgrown);
}

/** The document with what is left of these items. */
export function withTombstones(document: DurableDocument, items: readonly DurableItem[]): DurableDocument {
  if (items.length === 0) return document;
  const added = items.map(tombstoneOf);
  const hashes = new Set(added.map(hashOf));
  const others = (document.gone ?? []).filter((each) => !hashes.has(hashOf(each)));
  return { ...document, gone: [...others, ...added].slice(-limits.goneItems) };
}

/** The kind of an item with this wording that is gone, if there was one; it stays known when that comes back. */
export function goneKind(document: DurableDocument, wording: string): ItemKind | undefined {
  const hash = textHash(wording);
  const found = document.gone?.findLast((each) => hashOf(each) === hash);
  if (found === undefined) return undefined;
  return itemKinds.find((each) => found.endsWith(` ${each}`)) ?? 'fact';
}

/**
 * What is left of an item whose text has left the disk [S7], as `<hash> <kind>`, so that it is not extracted again [D2].
 */
export function tombstoneOf(item: DurableItem): string {
  return `${textHash(wordingOf(item))} ${item.kind}`;
}

/** Of the text that is gone. */
function hashOf(gone: string): string {
  return gone.slice(0, gone.indexOf(' '));
}

function textHash(text: string): string {
  return hexDigits(sameItemForm(text), 16);
}
