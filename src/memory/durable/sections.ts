import { LRUCache } from 'lru-cache';

import { oncePer } from '../../core/limits.ts';
import type { MemorySource } from '../../core/memory-source.ts';
import type { Place } from '../../core/place.ts';
import { fitLines, renderSection, type Section } from '../../core/section.ts';
import { stopTerms } from '../../core/stop-words.ts';
import { terms } from '../../core/text.ts';
import { turnText, type TurnContext } from '../../core/turn-context.ts';
import { readersKey } from '../../core/visibility.ts';
import {
  activeInOrder,
  itemLine,
  mayUseItem,
  namesChannel,
  sourceOfItem,
  type DateOf,
  type DurableItem,
} from './document.ts';

export interface InjectionLimits {
  /** Characters at most for both sections as rendered [D4]. */
  readonly injectMaxChars: number;
  readonly dateOf: DateOf;
}

/** Items that are kept ready, of all people and places together. */
const keptItems = 50_000;

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

/** What does not depend on the message: worked out once for a list of items and a place. */
interface ReadyItems {
  readonly items: readonly DurableItem[];
  /** Of the active items that may be used [V2], in the order of injection. */
  readonly lines: readonly string[];
  readonly snapshot: Section;
  /** The section of what matches a message; none where the snapshot shows all items. */
  readonly matching: ((message: string) => Section) | undefined;
}

/** The sections of people's items. A list of items never changes: whoever changes one makes another. */
export function createDurableSections({ injectMaxChars, dateOf }: InjectionLimits) {
  const [named, unnamed] = [new WeakMap<DurableItem, string>(), new WeakMap<DurableItem, string>()];
  const readyItems = new LRUCache<string, ReadyItems>({
    maxSize: keptItems,
    sizeCalculation: ({ lines }) => lines.length + 1,
  });

  function lineOf(item: DurableItem, place: Place): string {
    const known = namesChannel(item, place) ? named : unnamed;
    const line = known.get(item) ?? itemLine(item, place, dateOf);
    known.set(item, line);
    return line;
  }

  function ready(
    items: readonly DurableItem[],
    ownerId: string,
    place: Place,
    speakerId: string,
  ): ReadyItems {
    const key = `${ownerId} ${speakerId} ${readersKey(place)}`;
    const known = readyItems.get(key);
    if (known?.items === items) return known;
    const usable = activeInOrder(items).filter((item) => mayUseItem(item, ownerId, place, speakerId));
    const lines = usable.map((item) => lineOf(item, place));
    const made = { items, ...readyFrom(usable, lines, injectMaxChars) };
    readyItems.set(key, made);
    return made;
  }

  return {
    /**
     * The items of `ownerId` for a turn [D4]. When all fit the budget, they are one section, which does not depend on the message. Otherwise it
     * gets two thirds, and what else matches the message rides behind, in the rest; the two budgets add up to the whole.
     */
    sections(
      items: readonly DurableItem[],
      ownerId: string,
      context: Pick<TurnContext, 'speaker' | 'place' | 'messages'>,
    ): readonly Section[] {
      const { snapshot, matching: matchingOf } = ready(items, ownerId, context.place, context.speaker.id);
      return matchingOf === undefined ? [snapshot] : [snapshot, matchingOf(turnText(context))];
    },

    /** Characters that the owner's items take of the budget in `place`; where not all fit, they take it all. */
    usage(items: readonly DurableItem[], ownerId: string, place: Place): number {
      const { lines } = ready(items, ownerId, place, ownerId);
      return Math.min(renderSection({ ...all, lines }).length, injectMaxChars);
    },
  };
}

function readyFrom(
  items: readonly DurableItem[],
  lines: readonly string[],
  injectMaxChars: number,
): Omit<ReadyItems, 'items'> {
  const whole = { ...all, budget: injectMaxChars, standing: new Set(lines) };
  const fitting = fitLines(whole, lines);
  const sourcesIn = (
    shown: readonly string[],
    among: Iterable<number> = lines.keys(),
  ): ReadonlyMap<string, MemorySource> => {
    const wanted = new Set(shown);
    const sources = new Map<string, MemorySource>();
    for (const index of among) {
      const [line = '', item] = [lines[index], items[index]];
      if (item !== undefined && wanted.has(line)) sources.set(line, sourceOfItem(item));
    }
    return sources;
  };
  if (fitting.length === lines.length)
    return {
      lines,
      snapshot: { ...whole, lines: fitting, sources: sourcesIn(fitting) },
      matching: undefined,
    };

  const budget = Math.floor((injectMaxChars * 2) / 3);
  const first = fitLines({ ...whole, budget }, lines);
  const snapshot = { ...whole, budget, lines: first, sources: sourcesIn(first) };
  const rest = { ...matching, budget: injectMaxChars - budget };
  const shown = new Set(snapshot.lines);
  const others = [...lines.keys()].filter((index) => !shown.has(lines[index] ?? ''));
  const scoresFor = createScores(items);
  return {
    lines,
    snapshot,
    matching(message) {
      const scores = scoresFor(message);
      // There are few scores, and many with each of them.
      const byScore = new Map<number, number[]>();
      for (const index of others) {
        const score = scores[index] ?? 0;
        if (score === 0) continue;
        const alike = byScore.get(score);
        if (alike === undefined) byScore.set(score, [index]);
        else alike.push(index);
      }
      const found = [...byScore].toSorted(([a], [b]) => b - a).flatMap(([, alike]) => alike);
      const fitted = fitLines(
        rest,
        found.map((index) => lines[index] ?? ''),
      );
      return { ...rest, lines: fitted, sources: sourcesIn(fitted, found) };
    },
  };
}

/**
 * By its place in the list how well each item matches a message: above 0 where they share a word, and more the rarer the word is among the items.
 * Works in any script and without a model [D4].
 */
function createScores(items: readonly DurableItem[]): (message: string) => Float64Array {
  const having = new Map<string, number[]>();
  for (const [index, item] of items.entries()) {
    for (const term of termsOfItem(item)) {
      const indexes = having.get(term) ?? [];
      indexes.push(index);
      having.set(term, indexes);
    }
  }
  return (message) => {
    const scores = new Float64Array(items.length);
    for (const term of contentTerms(message)) {
      const indexes = having.get(term) ?? [];
      const weight = Math.log(1 + items.length / indexes.length);
      for (const index of indexes) scores[index] = (scores[index] ?? 0) + weight;
    }
    return scores;
  };
}

const termsOfItem = oncePer(({ text }: DurableItem) => contentTerms(text));

function contentTerms(text: string): readonly string[] {
  return [...new Set(terms(text).filter((term) => !stopTerms.has(term)))];
}
