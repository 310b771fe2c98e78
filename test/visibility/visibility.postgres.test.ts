import { expect, it } from 'vitest';

import { memoryInDatabase } from './memory-in-database.ts';
import { playScenes } from './visibility-property.ts';

it(
  'nothing of one audience or person turns up where it may not be, with memory in PostgreSQL [V2][B2][X1]',
  { timeout: 1_800_000 },
  async () => {
    const { rightlyUsed, notesUsed } = await playScenes(24, { openMemory: memoryInDatabase, atOnce: 4 });
    expect(rightlyUsed).toBeGreaterThan(24);
    expect(notesUsed).toBeGreaterThan(2);
  },
);
