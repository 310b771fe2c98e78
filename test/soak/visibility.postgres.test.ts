import { expect, it } from 'vitest';

import { memoryInDatabase } from '../visibility/memory-in-database.ts';
import { playScenes } from '../visibility/visibility-property.ts';

const scenes = 300;
/** Milliseconds: a failing scene is made shorter too. */
const timeout = 3 * 3_600_000;

it(
  'nothing of one audience or person turns up where it may not be, with memory in PostgreSQL [V2][B2][X1]',
  { timeout },
  async () => {
    const counts = await playScenes(scenes, { openMemory: memoryInDatabase, atOnce: 4 });
    process.stdout.write(`${JSON.stringify(counts)}\n`);
    expect(counts.rightlyUsed).toBeGreaterThan(scenes);
    expect(counts.notesUsed).toBeGreaterThan(scenes / 10);
  },
);
