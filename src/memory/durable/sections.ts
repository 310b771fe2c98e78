import type { MemorySource } from '../../core/memory-source.ts';
import type { Place } from '../../core/place.ts';
import { fitLines, renderSection, type Section } from '../../core/section.ts';
import { contentTerms } from '../../core/text.ts';
import { localDate, withMomentsTold } from '../../core/time.ts';
import { turnText, type TurnContext } from '../../core/turn-context.ts';
import {
  activeInOrder,
  isOver,
  itemLine,
  mayUseItem,
  sourceOfItem,
  wordingOf,
  type DurableItem,
} from './document.ts';

/** The owner's day, and the zone in which they count [D7]. */
export interface OwnDay {
  /** `YYYY-MM-DD`. */
  readonly today: string;
  /** IANA. */
  readonly timeZone: string;
}

const all = {
  name: 'durable_items',
  slot: 'items',
  title: 'What this person asked to have remembered, or said about themselves (quoted data):',
} as const;

const matching = {
  name: 'matching_items',
  slot: 'last',
  title: 'Matching this message (quoted data):',
} as const;

/**
 * The items of `ownerId` for a turn [D4], in at most `maxChars` characters as rendered. When all fit, they are one section,
 * which does not depend on the message. Otherwise it gets two thirds, and what else matches the message rides behind, in
 * the rest.
 */
export function durableSections(
  items: readonly DurableItem[],
  ownerId: string,
  context: Pick<TurnContext, 'speaker' | 'place' | 'messages'>,
  day: OwnDay,
  maxChars: number,
): readonly Section[] {
  const shown = shownIn(context.place, items, ownerId, context.speaker.id, day);
  const lines = shown.map(({ line }) => line);
  const whole = { ...all, budget: maxChars };
  if (fitLines(whole, lines).length === lines.length) return [sectionOf(whole, shown)];
  const first = sectionOf({ ...whole, budget: Math.floor((maxChars * 2) / 3) }, shown);
  const inFirst = new Set(first.lines);
  const others = byMatch(shown, turnText(context)).filter(({ line }) => !inFirst.has(line));
  return [first, sectionOf({ ...matching, budget: maxChars - first.budget }, others)];
}

/** Characters that the owner's items take of the budget in `place`; where not all fit, they take it all. */
export function durableUsage(
  items: readonly DurableItem[],
  ownerId: string,
  place: Place,
  day: OwnDay,
  maxChars: number,
): number {
  const lines = shownIn(place, items, ownerId, ownerId, day).map(({ line }) => line);
  return Math.min(renderSection({ ...all, lines }).length, maxChars);
}

/** What is over comes last [D7]. */
function shownIn(
  place: Place,
  items: readonly DurableItem[],
  ownerId: string,
  speakerId: string,
  day: OwnDay,
): Shown {
  const dateOf = (date: Date): string => localDate(date, day.timeZone);
  return activeInOrder(items)
    .filter((item) => mayUseItem(item, ownerId, place, speakerId))
    .toSorted((a, b) => Number(isOver(a, day.today)) - Number(isOver(b, day.today)))
    .map((item) => ({
      item,
      line: withMomentsTold(itemLine(item, place, { dateOf, today: day.today }), day.timeZone),
    }));
}

type Shown = readonly { readonly item: DurableItem; readonly line: string }[];

/** A section of the lines that fit. */
function sectionOf<Head extends Parameters<typeof fitLines>[0]>(head: Head, shown: Shown) {
  const lines = fitLines(
    head,
    shown.map(({ line }) => line),
  );
  const fitting = new Set(lines);
  const sources = new Map<string, MemorySource>();
  for (const { item, line } of shown) if (fitting.has(line)) sources.set(line, sourceOfItem(item));
  return { ...head, lines, sources };
}

/**
 * What shares a word with a message, the best match first: a word counts the more the rarer it is among the items.
 * Works in any script and without a model [D4].
 */
function byMatch(shown: Shown, message: string): Shown {
  const queryTerms = [...new Set(contentTerms(message))];
  const matches = shown.map((each) => {
    const own = new Set(contentTerms(wordingOf(each.item)));
    return { each, common: queryTerms.filter((term) => own.has(term)) };
  });
  const counts = new Map<string, number>();
  for (const term of matches.flatMap(({ common }) => common)) counts.set(term, (counts.get(term) ?? 0) + 1);
  const weightOf = (term: string): number => Math.log(1 + shown.length / (counts.get(term) ?? 1));
  return matches
    .map(({ each, common }) => ({ each, score: common.reduce((sum, term) => sum + weightOf(term), 0) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ each }) => each);
}
