import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderSection, type Section } from '../../src/core/section.ts';
import { nextSnapshot, type NextSnapshot, type Snapshot } from '../../src/prompt/snapshot.ts';
import { section } from './samples.ts';

const running = { isCold: false, windowWasRebuilt: false };
const summary = section({
  name: 'conversation_summary',
  slot: 'fast',
  title: 'Summary as of 2026-01-15 12:30:',
  lines: ['They talked about tea.'],
});

function first(sections: readonly Section[]): Snapshot {
  return nextSnapshot(undefined, sections, running).snapshot;
}

function rendered(snapshot: Snapshot): string {
  return snapshot.sections.map(renderSection).join('');
}

function next(previous: Snapshot, sections: readonly Section[]): NextSnapshot {
  return nextSnapshot(previous, sections, running);
}

describe('a snapshot is kept byte for byte [P2]', () => {
  it('while nothing changed', () => {
    const taken = first([section(), summary]);
    const { snapshot, changes, retaken } = next(taken, [section(), summary]);
    expect(retaken).toBeUndefined();
    expect(rendered(snapshot)).toBe(rendered(taken));
    expect(changes.lines).toEqual([]);
  });

  it('while an item was added, which rides in the last message', () => {
    const taken = first([section()]);
    const added = section({ lines: ['- Has a cat', ...section().lines] });
    const { snapshot, changes, retaken } = next(taken, [added]);
    expect(retaken).toBeUndefined();
    expect(rendered(snapshot)).toBe(rendered(taken));
    expect(changes).toMatchObject({ name: 'changes', slot: 'last', lines: ['- Has a cat'] });
    expect(renderSection(changes)).toContain('New');
  });

  it('while the first memory of all arrives', () => {
    const { snapshot, changes, retaken } = next(first([]), [section()]);
    expect(retaken).toBeUndefined();
    expect(snapshot.sections).toEqual([]);
    expect(changes.lines).toEqual(section().lines);
  });

  it('while the layer shows its lines in another order or no longer shows one that still stands', () => {
    const taken = first([section()]);
    const fewer = section({ lines: ['- Lives in Graz'], standing: new Set(section().lines) });
    expect(next(taken, [fewer]).retaken).toBeUndefined();
    expect(next(taken, [section({ lines: section().lines.toReversed() })]).retaken).toBeUndefined();
  });

  it('while the sections of the last message change', () => {
    const facts = section({ name: 'turn_facts', slot: 'last', lines: ['2 turns came since.'] });
    expect(next(first([section()]), [section(), facts]).retaken).toBeUndefined();
  });
});

function goingOn(title: string, turnsSince: number, lineage = 'one'): Section {
  const lines = [`They talked until then: ${title}`];
  return { ...summary, title, lines, summary: { lineage, turnsSince } };
}

describe('a summary that goes on', () => {
  it('waits until history is rebuilt, which shows what it added; the turns since are those of the summary that is shown [R5]', () => {
    const taken = nextSnapshot(undefined, [goingOn('At ten', 3)], running);
    expect(taken.turnsSinceSummary).toBe(3);
    const moved = next(taken.snapshot, [goingOn('At noon', 0)]);
    expect(moved.retaken).toBeUndefined();
    expect(rendered(moved.snapshot)).toContain('At ten');
    expect(moved.turnsSinceSummary).toBe(4);
    const later = next(moved.snapshot, [goingOn('At noon', 1)]);
    expect(later.turnsSinceSummary).toBe(5);
    const rebuilt = { ...running, windowWasRebuilt: true };
    const retaken = nextSnapshot(later.snapshot, [goingOn('At noon', 2)], rebuilt);
    expect(rendered(retaken.snapshot)).toContain('At noon');
    expect(retaken.turnsSinceSummary).toBe(2);
  });

  it('gives way at once where something of it was withdrawn, or it may not be shown', () => {
    const taken = first([goingOn('At ten', 0)]);
    const renewed = next(taken, [goingOn('At nine', 0, 'another')]);
    expect(renewed.retaken).toBe('withdrawn');
    expect(rendered(renewed.snapshot)).not.toContain('At ten');
    expect(renewed.turnsSinceSummary).toBe(0);
    expect(next(taken, []).snapshot.sections).toEqual([]);
  });

  it('is shown as soon as there is one', () => {
    expect(next(first([]), [goingOn('At ten', 1)]).retaken).toBe('changed');
  });

  it('waits too where history shows the conversation from its beginning, and tells of no turns until then', () => {
    const nothing = { ...goingOn('', 0), lines: [] };
    const waiting = next(first([nothing]), [goingOn('At ten', 1, 'the first')]);
    expect([waiting.retaken, rendered(waiting.snapshot), waiting.turnsSinceSummary]).toEqual([
      undefined,
      '',
      0,
    ]);
    const rebuilt = { ...running, windowWasRebuilt: true };
    const shown = nextSnapshot(waiting.snapshot, [goingOn('At ten', 1, 'the first')], rebuilt);
    expect([rendered(shown.snapshot).includes('At ten'), shown.turnsSinceSummary]).toEqual([true, 1]);
  });
});

describe('a snapshot whose items fill their share of the budget', () => {
  const durable = section({ budget: renderSection(section()).length });

  it('is kept while items that match the message take the other share [D4]', () => {
    const matching = section({ name: 'matching_items', slot: 'last', lines: ['- Has a cat'], budget: 300 });
    const { retaken } = next(first([durable]), [durable, matching]);
    expect(retaken).toBeUndefined();
  });
});

describe('a snapshot is retaken at once', () => {
  it('when there is none', () => {
    const { snapshot, retaken } = nextSnapshot(undefined, [section()], running);
    expect(retaken).toBe('first');
    expect(snapshot.sections).toEqual([section()]);
  });

  it('when the cache has gone cold', () => {
    const added = section({ lines: ['- Has a cat', ...section().lines] });
    const taken = first([section()]);
    const { snapshot, changes, retaken } = nextSnapshot(taken, [added], { ...running, isCold: true });
    expect(retaken).toBe('cold');
    expect(rendered(snapshot)).toContain('- Has a cat');
    expect(changes.lines).toEqual([]);
  });

  it('when history is rebuilt', () => {
    const taken = first([section()]);
    expect(nextSnapshot(taken, [section()], { ...running, windowWasRebuilt: true }).retaken).toBe('window');
  });

  it('when an item was forgotten, even if more was added', () => {
    const taken = first([section()]);
    const { snapshot, retaken } = next(taken, [section({ lines: ['- Likes tea', '- Has a cat'] })]);
    expect(retaken).toBe('withdrawn');
    expect(rendered(snapshot)).not.toContain('Graz');
  });

  it('when the last item was forgotten, or its layer gives nothing any more', () => {
    expect(next(first([section()]), [section({ lines: [] })]).snapshot.sections).toEqual([]);
    expect(next(first([section()]), []).snapshot.sections).toEqual([]);
  });

  it('when the summary moves, even where only its time does', () => {
    const later = { ...summary, title: 'Summary as of 2026-01-15 12:40:' };
    const { snapshot, retaken } = next(first([summary]), [later]);
    expect(retaken).toBe('changed');
    expect(rendered(snapshot)).toContain('12:40');
  });

  it('when a text gains a line, since a text has no lines that stand for themselves', () => {
    const notes = section({ name: 'notes', lines: ['# Notes'] });
    const longer = { ...notes, lines: ['# Notes', 'more'] };
    expect(next(first([notes]), [longer]).retaken).toBe('changed');
    expect(next(first([]), [notes]).retaken).toBe('changed');
  });

  it('when the changes no longer fit the budget beside it', () => {
    const budget = renderSection(section()).length + 150;
    const taken = first([section({ budget })]);
    const added = section({ budget, lines: [`- ${'x'.repeat(100)}`, ...section().lines] });
    const { snapshot, changes, retaken } = next(taken, [added]);
    expect(retaken).toBe('full');
    expect(changes.lines).toEqual([]);
    expect(next(snapshot, [added]).retaken).toBeUndefined();
  });
});

describe('only as much as needed', () => {
  it('the slow part and what is new to it stay while the summary after it moves', () => {
    const taken = first([section(), summary]);
    const added = section({ lines: ['- Has a cat', ...section().lines] });
    const { snapshot, changes } = next(taken, [added, { ...summary, lines: ['They talked about cats.'] }]);
    expect(snapshot.sections.map(renderSection)[0]).toBe(renderSection(section()));
    expect(rendered(snapshot)).toContain('talked about cats');
    expect(changes.lines).toEqual(['- Has a cat']);
  });

  it('an item that matches the message is not named again among the changes', () => {
    const lines = ['- Has a cat', ...section().lines];
    const matching = section({ name: 'matching_items', slot: 'last', lines: ['- Has a cat'], budget: 600 });
    expect(next(first([section()]), [section({ lines }), matching]).changes.lines).toEqual([]);
  });

  it('does not hold on to what was standing', () => {
    expect(first([section({ standing: new Set(['- old']) })]).sections[0]).not.toHaveProperty('standing');
  });
});

const line = fc.integer({ min: 0, max: 30 }).map((n) => `- ${'item '.repeat((n % 7) + 1)}${n}`);
const lines = fc.uniqueArray(line, { maxLength: 12 });

describe('whatever is remembered and withdrawn', () => {
  it('no withdrawn line is ever shown, every shown line is current or standing, and nothing is shown twice', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(lines, lines, fc.boolean()), { minLength: 1, maxLength: 8 }), (steps) => {
        let previous: Snapshot | undefined;
        for (const [items, elsewhere, isCold] of steps) {
          const sections = [
            section({ lines: items }),
            section({
              name: 'recent_elsewhere',
              slot: 'fast',
              lines: elsewhere.map((text) => `${text} #dev`),
            }),
          ];
          const result = nextSnapshot(previous, sections, { ...running, isCold });
          const current = sections.flatMap((each) => each.lines);
          const shown = [...result.snapshot.sections.flatMap((each) => each.lines), ...result.changes.lines];
          expect(shown.toSorted()).toEqual(current.toSorted());
          const kept = result.retaken === undefined ? previous : result.snapshot;
          expect(result.snapshot.sections).toEqual(kept?.sections);
          previous = result.snapshot;
        }
      }),
    );
  });

  it('a snapshot just taken is not retaken for the same sections', () => {
    fc.assert(
      fc.property(lines, lines, fc.nat({ max: 500 }), fc.nat({ max: 500 }), (items, texts, budget, rest) => {
        const sections = [
          section({ lines: items, budget }),
          section({ name: 'notes', lines: texts, budget: rest }),
          section({ name: 'recent_elsewhere', slot: 'fast', lines: texts, budget: rest }),
        ];
        const again = next(first(sections), sections);
        expect(again.retaken).toBeUndefined();
        expect(again.changes.lines).toEqual([]);
      }),
    );
  });

  it('snapshot, changes and matching items together never exceed the budget of durable memory [D4]', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(lines, lines), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 60, max: 700 }),
        (steps, budget) => {
          let previous: Snapshot | undefined;
          const slowBudget = Math.floor((budget * 2) / 3);
          for (const [items, matches] of steps) {
            const standing = new Set(
              Array.from({ length: 31 }, (_, n) => `- ${'item '.repeat((n % 7) + 1)}${n}`),
            );
            const durable = section({ lines: items, budget: slowBudget, standing });
            const matching = section({
              name: 'matching_items',
              slot: 'last',
              title: 'Matching:',
              lines: matches,
              budget: budget - slowBudget,
            });
            const fitting =
              renderSection(matching).length <= matching.budget ? [durable, matching] : [durable];
            const { snapshot, changes } = nextSnapshot(previous, fitting, running);
            const all = [...snapshot.sections, changes, ...fitting.slice(1)];
            expect(all.map(renderSection).join('').length).toBeLessThanOrEqual(budget);
            previous = snapshot;
          }
        },
      ),
    );
  });
});
