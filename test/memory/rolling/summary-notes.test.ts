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
  it('lose one that can no longer be read, rather than keep what it may hold', async () => {
    const { store, notes } = await setUp();
    await store.writeText(`${folder}/2026-01-15-10-00-9-summary.md`, 'my secret');
    expect(await notes.holding(session, [3])).toHaveLength(1);
  });

  it('are the newest hundred [L3]', async () => {
    const { store } = await setUp(
      ...Array.from({ length: 105 }, (_, index): [number, number] => [0, index + 1]),
    );
    const cursors = (await store.list(folder)).map(({ path }) => Number(path.split('-').at(-2)));
    expect(cursors.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index + 6));
  });
});
