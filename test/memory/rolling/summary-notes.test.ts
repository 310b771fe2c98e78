import { describe, expect, it } from 'vitest';

import { createSummaryNotes } from '../../../src/memory/rolling/record.ts';
import { aliceId, generalId } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { session } from '../../support/sessions.ts';

const folder = `sessions/${generalId}/${aliceId}/detail`;

function note(from: number, cursor: number) {
  const origin = {
    updatedAt: '2026-01-15T10:00:00.000Z',
    visibility: 'everywhere',
    homeId: generalId,
  } as const;
  return { ...origin, text: `${from} to ${cursor}`, from, cursor };
}

async function setUp(...spans: [number, number][]) {
  const store = new MemoryStore();
  const notes = createSummaryNotes({ store, timeZone: 'UTC' });
  for (const [from, cursor] of spans) await notes.keep(session, note(from, cursor));
  return { store, notes };
}

describe('the kept summaries of a session', () => {
  it('lose those that may hold a line, and only those', async () => {
    const { store, notes } = await setUp([0, 4], [0, 8], [8, 12], [8, 16]);
    await store.writeText(`${folder}/auth-design.md`, 'written by hand');
    await notes.removeHolding(session, [6]);
    await notes.removeHolding(session, [14]);
    const left = (await store.list(folder)).map(({ path }) => path);
    expect(left.map((path) => path.replace('2026-01-15-10-00-', ''))).toEqual([
      '12-summary.md',
      '4-summary.md',
      'auth-design.md',
    ]);
  });

  it('lose one that can no longer be read, rather than keep what it may hold', async () => {
    const { store, notes } = await setUp();
    await store.writeText(`${folder}/2026-01-15-10-00-9-summary.md`, 'my secret');
    await notes.removeHolding(session, [3]);
    expect(await store.list(folder)).toEqual([]);
  });

  it('are the newest hundred [L3]', async () => {
    const { store } = await setUp(
      ...Array.from({ length: 105 }, (_, index): [number, number] => [0, index + 1]),
    );
    const cursors = (await store.list(folder)).map(({ path }) => Number(path.split('-').at(-2)));
    expect(cursors.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index + 6));
  });

  it('give the newest of the present time, never one from before a reset', async () => {
    const { notes } = await setUp([0, 40], [8, 12], [8, 16]);
    expect(await notes.newest(session, 8)).toEqual(note(8, 16));
    expect(await notes.newest(session, 20)).toBeUndefined();
  });
});
