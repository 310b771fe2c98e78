import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Place } from '../../../src/core/place.ts';
import { renderSection, type Section } from '../../../src/core/section.ts';
import { itemLine, mayUseItem, type DurableItem } from '../../../src/memory/durable/document.ts';
import { durableSections, durableUsage } from '../../../src/memory/durable/sections.ts';
import {
  aliceId,
  anyItems,
  anyPlace,
  anyText,
  bobId,
  dev,
  item,
  minutesLater,
  turn,
  utcDays,
} from './fixtures.ts';

const durable = sectionsWithin(2000);

/** In UTC, on the day of `noon` unless told. */
function sectionsWithin(injectMaxChars: number, today = utcDays.today) {
  const day = { today, timeZone: 'UTC' };
  type Asked = Parameters<typeof durableSections>;
  return {
    sections: (items: Asked[0], ownerId: string, context: Asked[2]) =>
      durableSections(items, ownerId, context, day, injectMaxChars),
    usage: (items: Asked[0], ownerId: string, place: Place) =>
      durableUsage(items, ownerId, place, day, injectMaxChars),
  };
}

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
  it('are all in one section when they fit, pinned first, then the newest', () => {
    const [a, b, c] = many(3);
    const items = [a, b, c].flatMap((each) => each ?? []);
    const pinned = items.map((each, index) => ({ ...each, pinned: index === 0 }));
    const sections = durable.sections(pinned, aliceId, turn('item 1'));
    expect(sections.map(({ name, slot }) => [name, slot])).toEqual([['durable_items', 'items']]);
    expect(linesOf(sections, 'durable_items')).toEqual(
      [pinned[0], pinned[2], pinned[1]].flatMap((each) => (each ? [itemLine(each, dev, utcDays)] : [])),
    );
  });

  it('come last once they are over, which changes nothing else [D7]', () => {
    const days = ['2026-01-16', undefined, '2026-01-20'];
    const items = many(3).map((each, index) => ({ ...each, pinned: index === 0, when: days[index] }));
    const linesOn = (today: string) =>
      linesOf(sectionsWithin(2000, today).sections(items, aliceId, turn('hi')), 'durable_items');
    const [pinned, ...others] = linesOn('2026-01-16');
    expect(pinned).toMatch(/item 0 .*, on 2026-01-16\)$/u);
    expect(linesOn('2026-01-17')).toEqual([...others, `${pinned} (over)`]);
  });

  it('skip a line that does not fit instead of stopping there', () => {
    const [small, big] = [
      item({ id: '1', text: 'small' }),
      item({ id: '2', text: 'b'.repeat(3000), pinned: true }),
    ];
    const lines = linesOf(durable.sections([small, big], aliceId, turn('hi')), 'durable_items');
    expect(lines).toEqual([itemLine(small, dev, utcDays)]);
  });

  it('that match the message ride behind when not all fit, best first, none twice', () => {
    const items = many(60, (index) => (index === 3 ? 'Berlin Zoo' : index === 4 ? 'Berlin' : 'common'));
    const sections = durable.sections(items, aliceId, turn('What is common in Berlin, near the zoo?'));
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
    const matching = linesOf(durable.sections(items, aliceId, turn(message)), 'matching_items');
    expect(matching.map((line) => line.includes(text))).toEqual([true]);
  });

  it('do not match by words that say nothing', () => {
    const items = many(60, (index) => (index === 0 ? 'is what I am' : ''));
    const matching = linesOf(
      durable.sections(items, aliceId, turn('what is this? I am here')),
      'matching_items',
    );
    expect(matching).toEqual([]);
  });

  it('of one person are never read for another', () => {
    const context = turn('item', { speaker: { id: bobId, name: 'Bob', isOwner: true } });
    expect(renderedLength(durable.sections(many(3), aliceId, context))).toBe(0);
  });

  it('never take more than the budget, and never show what may not be used here', () => {
    fc.assert(
      fc.property(
        anyItems,
        anyText,
        anyPlace,
        fc.integer({ min: 0, max: 2500 }),
        (items, text, place, max) => {
          const limited = sectionsWithin(max);
          const sections = limited.sections(items, aliceId, turn(text, { place }));
          expect(renderedLength(sections)).toBeLessThanOrEqual(max);
          expect(sections.reduce((sum, { budget }) => sum + budget, 0)).toBe(max);
          const usable = items.filter((each) => each.status === 'active' && mayUseItem(each, aliceId, place));
          const allowed = new Set(usable.map((each) => itemLine(each, place, utcDays)));
          const shown = sections.flatMap(({ lines }) => lines);
          expect(shown.every((line) => allowed.has(line))).toBe(true);
          expect(limited.usage(items, aliceId, place)).toBeLessThanOrEqual(max);
        },
      ),
    );
  });
});
