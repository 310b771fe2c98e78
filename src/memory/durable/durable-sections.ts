import type { Place } from '../../core/place.ts';
import { fitLines, renderSection } from '../../core/section.ts';
import type { Section } from '../../core/section.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { turnText } from '../../core/turn-context.ts';
import type { DurableItem } from './durable-document.ts';
import { datedItemLine } from './item-line.ts';
import { activeInOrder } from './item-order.ts';
import { mayUseItem } from './item-place.ts';
import type { DateOf } from './local-dates.ts';
import { matchItems } from './match-items.ts';

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
      .map((item) => [item, datedItemLine(item, place, dateOf)]),
  );
}
