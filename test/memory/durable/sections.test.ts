import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { renderSection, type Section } from '../../../src/core/section.ts';
import {
  createLocalDates,
  itemLine,
  mayUseItem,
  type DurableItem,
} from '../../../src/memory/durable/document.ts';
import { durableSections, durableUsage } from '../../../src/memory/durable/sections.ts';
import {
  aliceId,
  anyItems,
  anyPlace,
  anyText,
  bobId,
  dev,
  dm,
  item,
  minutesLater,
  places,
  turn,
} from './fixtures.ts';

const dateOf = createLocalDates('UTC');
const limits = { injectMaxChars: 2000, dateOf };

function linesOf(sections: readonly Section[], name: Section['name']): readonly string[] {
  return sections.find((section) => section.name === name)?.lines ?? [];
}

function renderedLength(sections: readonly Section[]): number {
  return sections.reduce((sum, section) => sum + renderSection(section).length, 0);
}

/** Items `item 1`, `item 2` …, the later the newer, each with further words. */
function many(count: number, words: (index: number) => string = () => ''): readonly DurableItem[] {
  return Array.from({ length: count }, (_, index) =>
    item({
      id: String(index),
      text: `item ${index} ${words(index)}`.trim(),
      updatedAt: minutesLater(index).toISOString(),
    }),
  );
}

describe('durable items in the prompt [D4]', () => {
  it('are all in one section of the snapshot when they fit, pinned first, then the newest', () => {
    const [a, b, c] = many(3);
    const items = [a, b, c].flatMap((each) => each ?? []);
    const pinned = items.map((each, index) => ({ ...each, pinned: index === 0 }));
    const sections = durableSections(pinned, aliceId, turn('item 1'), limits);
    expect(sections.map(({ name, slot }) => [name, slot])).toEqual([['durable_items', 'slow']]);
    expect(linesOf(sections, 'durable_items')).toEqual(
      [pinned[0], pinned[2], pinned[1]].flatMap((each) =>
        each ? [itemLine(each, dev, createLocalDates('UTC'))] : [],
      ),
    );
  });

  it('skip a line that does not fit instead of stopping there', () => {
    const [small, big] = [
      item({ id: '1', text: 'small' }),
      item({ id: '2', text: 'b'.repeat(3000), pinned: true }),
    ];
    const lines = linesOf(durableSections([small, big], aliceId, turn('hi'), limits), 'durable_items');
    expect(lines).toEqual([itemLine(small, dev, createLocalDates('UTC'))]);
  });

  it('that match the message ride behind when not all fit, best first, none twice', () => {
    const items = many(60, (index) => (index === 3 ? 'Berlin Zoo' : index === 4 ? 'Berlin' : 'common'));
    const sections = durableSections(items, aliceId, turn('What is common in Berlin, near the zoo?'), limits);
    const matching = linesOf(sections, 'matching_items');
    expect(matching[0]).toContain('item 3 Berlin Zoo');
    expect(matching[1]).toContain('item 4 Berlin');
    const shown = new Set(linesOf(sections, 'durable_items'));
    expect(matching.some((line) => shown.has(line))).toBe(false);
  });

  it.each([
    ['Cyrillic', 'Любит зелёный чай', 'хочу зелёного чаю'],
    ['Chinese', '住在东京附近', '东京的天气'],
    ['Japanese', '猫が好き', '猫がいる'],
    ['a short word', 'Writes Go', 'go or not?'],
    ['Hebrew', 'גר בתל אביב', 'אביב'],
  ])('match in any script: %s', (_name, text, message) => {
    const items = [item({ id: 'x', text, updatedAt: minutesLater(-60).toISOString() }), ...many(60)];
    const matching = linesOf(durableSections(items, aliceId, turn(message), limits), 'matching_items');
    expect(matching.map((line) => line.includes(text))).toEqual([true]);
  });

  it('do not match by words that say nothing', () => {
    const items = many(60, (index) => (index === 0 ? 'is what I am' : ''));
    const matching = linesOf(
      durableSections(items, aliceId, turn('what is this? I am here'), limits),
      'matching_items',
    );
    expect(matching).toEqual([]);
  });

  it('give the same snapshot whatever the message says', () => {
    const items = many(60);
    const [one, other] = ['item 3', 'something else'].map((text) =>
      linesOf(durableSections(items, aliceId, turn(text), limits), 'durable_items'),
    );
    expect(one).toEqual(other);
  });

  it('still stand when they are not shown, unless they were withdrawn', () => {
    const items = many(60);
    const [section] = durableSections(items, aliceId, turn('hi'), limits);
    expect(section?.standing?.size).toBe(60);
    const hidden = items.map((each, index) => (index === 0 ? { ...each, visibility: 'dm' as const } : each));
    const [after] = durableSections(hidden, aliceId, turn('hi'), limits);
    expect(after?.standing?.size).toBe(59);
  });

  it('of one person are never read for another', () => {
    const context = turn('item', { speaker: { id: bobId, name: 'Bob', isOwner: true } });
    expect(renderedLength(durableSections(many(3), aliceId, context, limits))).toBe(0);
  });

  it('never take more than the budget, and never show what may not be used here', () => {
    fc.assert(
      fc.property(
        anyItems,
        anyText,
        anyPlace,
        fc.integer({ min: 0, max: 2500 }),
        (items, text, place, max) => {
          const sections = durableSections(items, aliceId, turn(text, { place }), {
            injectMaxChars: max,
            dateOf,
          });
          expect(renderedLength(sections)).toBeLessThanOrEqual(max);
          expect(sections.reduce((sum, { budget }) => sum + budget, 0)).toBe(max);
          const usable = items.filter((each) => each.status === 'active' && mayUseItem(each, aliceId, place));
          const allowed = new Set(usable.map((each) => itemLine(each, place, createLocalDates('UTC'))));
          const shown = sections.flatMap(({ lines }) => lines);
          expect(shown.every((line) => allowed.has(line))).toBe(true);
          expect(sections[0]?.standing).toEqual(allowed);
          expect(durableUsage(items, aliceId, place, { injectMaxChars: max, dateOf })).toBeLessThanOrEqual(
            max,
          );
        },
      ),
    );
  });

  it('said in a DM are never in a prompt of a guild', () => {
    const secret = [item({ visibility: 'dm' })];
    for (const place of places) {
      const length = renderedLength(durableSections(secret, aliceId, turn('Rust', { place }), limits));
      expect(length > 0).toBe(place === dm);
    }
  });
});
