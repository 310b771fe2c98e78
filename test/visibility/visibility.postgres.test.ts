import { expect, it } from 'vitest';

import { memoryInDatabase } from './memory-in-database.ts';
import { playScenes } from './visibility-property.ts';

it('nothing of one audience or person turns up where it may not be, with memory in PostgreSQL [V2][B2][X1]', async () => {
  const { rightlyUsed, notesUsed } = await playScenes(60, { openMemory: memoryInDatabase, atOnce: 4 });
  expect(rightlyUsed).toBeGreaterThan(60);
  expect(notesUsed).toBeGreaterThan(6);
});
