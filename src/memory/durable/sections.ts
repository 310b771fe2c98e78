import type { Place } from '../../core/place.ts';
import { fitLines, renderSection, type Section } from '../../core/section.ts';
import { stopTerms } from '../../core/stop-words.ts';
import { terms } from '../../core/text.ts';
import { turnText, type TurnContext } from '../../core/turn-context.ts';
import { activeInOrder, itemLine, mayUseItem, type DateOf, type DurableItem } from './document.ts';

export interface InjectionLimits {
  /** Characters at most for both sections as rendered [D4]. */
  readonly injectMaxChars: number;
  readonly dateOf: DateOf;
}

const all = {
  name: 'durable_items',
  slot: 'slow',
  title: 'What this person asked to have remembered, or said about themselves (quoted data):',
} as const;

const matching = {
  name: 'matching_items',
  slot: 'last',
  title: 'More of it, because it may bear on this message (quoted data):',
} as const;

/**
 * The items of `ownerId` for a turn [D4]. When all fit the budget, they are one section, which does not depend on the message. Otherwise it
 * gets two thirds, and what else matches the message rides behind, in the rest; the two budgets add up to the whole.
 */
export function durableSections(
  items: readonly DurableItem[],
  ownerId: string,
  context: Pick<TurnContext, 'speaker' | 'place' | 'messages'>,
  limits: InjectionLimits,
): readonly Section[] {
  const { place, speaker } = context;
  const lines = usableLines(items, ownerId, place, limits.dateOf, speaker.id);
  const allLines = [...lines.values()];
  const standing = new Set(allLines);
  const whole = { ...all, budget: limits.injectMaxChars, standing };
  const fitting = fitLines(whole, allLines);
  if (fitting.length === allLines.length) return [{ ...whole, lines: fitting }];

  const snapshot = { ...whole, budget: Math.floor((limits.injectMaxChars * 2) / 3) };
  const shown = fitLines(snapshot, allLines);
  const rest = { ...matching, budget: limits.injectMaxChars - snapshot.budget };
  const isShown = new Set(shown);
  const relevant = matchItems([...lines.keys()], turnText(context)).flatMap((item) => lines.get(item) ?? []);
  const others = relevant.filter((line) => !isShown.has(line));
  return [
    { ...snapshot, lines: shown },
    { ...rest, lines: fitLines(rest, others) },
  ];
}

/** Characters that the owner's items take of the budget in `place`; where not all fit, they take it all. */
export function durableUsage(
  items: readonly DurableItem[],
  ownerId: string,
  place: Place,
  limits: InjectionLimits,
): number {
  const lines = [...usableLines(items, ownerId, place, limits.dateOf, ownerId).values()];
  return Math.min(renderSection({ ...all, lines }).length, limits.injectMaxChars);
}

/** The lines of the active items that may be used [V2], in the order of injection. */
function usableLines(
  items: readonly DurableItem[],
  ownerId: string,
  place: Place,
  dateOf: DateOf,
  speakerId: string,
): ReadonlyMap<DurableItem, string> {
  return new Map(
    activeInOrder(items)
      .filter((item) => mayUseItem(item, ownerId, place, speakerId))
      .map((item) => [item, itemLine(item, place, dateOf)]),
  );
}

/**
 * The items that share a word with the message, best first; equally good ones keep their order. Works in any script and
 * without a model [D4]; the rarer a word is among the items, the more it weighs.
 */
function matchItems(items: readonly DurableItem[], message: string): readonly DurableItem[] {
  const wanted = contentTerms(message);
  const found = items.map((item) => ({ item, terms: contentTerms(item.text) }));
  const weights = new Map([...wanted].map((term) => [term, weightOf(term, found)]));
  return found
    .map((entry) => ({ item: entry.item, score: scoreOf(entry.terms, weights) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ item }) => item);
}

function contentTerms(text: string): ReadonlySet<string> {
  return new Set(terms(text).filter((term) => !stopTerms.has(term)));
}

function weightOf(term: string, found: readonly { readonly terms: ReadonlySet<string> }[]): number {
  const having = found.filter((entry) => entry.terms.has(term)).length;
  return having === 0 ? 0 : Math.log(1 + found.length / having);
}

function scoreOf(itemTerms: ReadonlySet<string>, weights: ReadonlyMap<string, number>): number {
  let score = 0;
  for (const term of itemTerms) score += weights.get(term) ?? 0;
  return score;
}
