import { createTimeSlice } from '../../core/time.ts';
import { byAge, isOver, type DurableItem } from './document.ts';
import { compared, isOneMatter } from './likeness.ts';

/** What a person is asked about [K16]: one item, or two that say the same or two things of one matter. */
export type ReviewCard =
  | { readonly reason: 'over' | 'unconfirmed'; readonly items: readonly [DurableItem] }
  | { readonly reason: 'pair'; readonly items: readonly [newer: DurableItem, older: DurableItem] };

const dayMs = 24 * 60 * 60_000;
/** What was confirmed is not asked about for half a year. */
const confirmedForMs = 183 * dayMs;
/** Nor is anything by itself that was said or changed of late. */
const recentForMs = 30 * dayMs;

/**
 * What there is to ask about active items: those that are over, then pairs, then the oldest that nobody has confirmed;
 * each item once.
 */
export async function reviewCards(
  items: readonly DurableItem[],
  now: Date,
  /** `YYYY-MM-DD`, where their owner is. */
  today: string,
): Promise<readonly ReviewCard[]> {
  const isWithin = (time: string | undefined, ms: number): boolean =>
    time !== undefined && now.getTime() - Date.parse(time) < ms;
  const isConfirmed = ({ confirmedAt }: DurableItem): boolean => isWithin(confirmedAt, confirmedForMs);
  /** Whether something was confirmed since there was something else. */
  const isSettled = (item: DurableItem, { createdAt }: DurableItem): boolean =>
    isConfirmed(item) && Date.parse(item.confirmedAt ?? '') >= Date.parse(createdAt);

  const oldest = items.toSorted(byAge);
  const over = oldest.filter((item) => isOver(item, today) && !isConfirmed(item));
  const asked = new Set(over);
  const pairs = (await pairsIn(oldest.filter((item) => !asked.has(item)))).filter(([newer, older]) => {
    if (asked.has(newer) || asked.has(older) || isSettled(newer, older) || isSettled(older, newer))
      return false;
    asked.add(newer).add(older);
    return true;
  });
  const unconfirmed = oldest.filter(
    (item) =>
      !asked.has(item) && !item.pinned && !isConfirmed(item) && !isWithin(item.updatedAt, recentForMs),
  );
  return [
    ...over.map((item): ReviewCard => ({ reason: 'over', items: [item] })),
    ...pairs.map((pair): ReviewCard => ({ reason: 'pair', items: pair })),
    ...unconfirmed.map((item): ReviewCard => ({ reason: 'unconfirmed', items: [item] })),
  ];
}

/** From a list, oldest first. */
async function pairsIn(
  items: readonly DurableItem[],
): Promise<readonly (readonly [newer: DurableItem, older: DurableItem])[]> {
  const rest = createTimeSlice();
  const older: ReturnType<typeof compared>[] = [];
  const pairs: [DurableItem, DurableItem][] = [];
  for (const item of items) {
    await rest();
    const one = compared(item);
    for (const other of older) if (isOneMatter(one, other)) pairs.push([item, other.item]);
    older.push(one);
  }
  return pairs;
}
