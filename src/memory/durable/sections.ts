import { memoizeByObject } from '../../core/limits.ts';
import type { MemorySource } from '../../core/memory-source.ts';
import type { Place } from '../../core/place.ts';
import { fitLines, renderSection, type Section } from '../../core/section.ts';
import { stopTerms, terms } from '../../core/text.ts';
import { localDate } from '../../core/time.ts';
import { turnText, type TurnContext } from '../../core/turn-context.ts';
import {
  activeInOrder,
  isOver,
  itemLine,
  mayUseItem,
  namesChannel,
  sourceOfItem,
  wordingOf,
  type DurableItem,
} from './document.ts';

export interface InjectionLimits {
  /** Characters at most for both sections as rendered [D4]. */
  readonly injectMaxChars: number;
}

/** The owner's day, and the zone in which they count [D7]. */
export interface OwnDay {
  /** `YYYY-MM-DD`. */
  readonly today: string;
  /** IANA. */
  readonly timeZone: string;
}

const all = {
  name: 'durable_items',
  slot: 'slow',
  title: 'What this person asked to have remembered, or said about themselves (quoted data):',
} as const;

const matching = {
  name: 'matching_items',
  slot: 'last',
  title: 'Matching this message (quoted data):',
} as const;

/** The sections of people's items. */
export function createDurableSections({ injectMaxChars }: InjectionLimits) {
  const linesOf = memoizeByObject<DurableItem, Map<string, string>>(() => new Map());

  /** All that it depends on besides the item: whether its channel is named, the zone, and whether it is over. */
  function lineOf(item: DurableItem, place: Place, { today, timeZone }: OwnDay): string {
    const known = linesOf(item);
    const key = `${namesChannel(item, place)} ${isOver(item, today)} ${timeZone}`;
    const dateOf = (date: Date): string => localDate(date, timeZone);
    const line = known.get(key) ?? itemLine(item, place, { dateOf, today });
    known.set(key, line);
    return line;
  }

  /** What is over comes last [D7]. */
  function shownIn(
    place: Place,
    items: readonly DurableItem[],
    ownerId: string,
    speakerId: string,
    day: OwnDay,
  ): Shown {
    return activeInOrder(items)
      .filter((item) => mayUseItem(item, ownerId, place, speakerId))
      .toSorted((a, b) => Number(isOver(a, day.today)) - Number(isOver(b, day.today)))
      .map((item) => ({ item, line: lineOf(item, place, day) }));
  }

  return {
    /**
     * The items of `ownerId` for a turn [D4]. When all fit the budget, they are one section, which does not depend
     * on the message. Otherwise it gets two thirds, and what else matches the message rides behind, in the rest.
     */
    sections(
      items: readonly DurableItem[],
      ownerId: string,
      context: Pick<TurnContext, 'speaker' | 'place' | 'messages'>,
      day: OwnDay,
    ): readonly Section[] {
      const shown = shownIn(context.place, items, ownerId, context.speaker.id, day);
      const lines = shown.map(({ line }) => line);
      const whole = { ...all, budget: injectMaxChars, standing: new Set(lines) };
      if (fitLines(whole, lines).length === lines.length) return [sectionOf(whole, shown)];
      const snapshot = sectionOf({ ...whole, budget: Math.floor((injectMaxChars * 2) / 3) }, shown);
      const inSnapshot = new Set(snapshot.lines);
      const others = byMatch(shown, turnText(context)).filter(({ line }) => !inSnapshot.has(line));
      return [snapshot, sectionOf({ ...matching, budget: injectMaxChars - snapshot.budget }, others)];
    },

    /** Characters that the owner's items take of the budget in `place`; where not all fit, they take it all. */
    usage(items: readonly DurableItem[], ownerId: string, place: Place, day: OwnDay): number {
      const lines = shownIn(place, items, ownerId, ownerId, day).map(({ line }) => line);
      return Math.min(renderSection({ ...all, lines }).length, injectMaxChars);
    },
  };
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
  const wanted = contentTerms(message);
  const matches = shown.map((each) => {
    const own = termsOf(each.item);
    return { each, common: wanted.filter((term) => own.has(term)) };
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

/** Made once an item: with 200 items they would take longer than the rest of a warm prompt, as would the lines. */
const termsOf = memoizeByObject((item: DurableItem) => new Set(contentTerms(wordingOf(item))));

function contentTerms(text: string): readonly string[] {
  return [...new Set(terms(text).filter((term) => !stopTerms.has(term)))];
}
