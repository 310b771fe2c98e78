import { expect, it } from 'vitest';

import { playScenes } from './visibility-property.ts';

it(
  'nothing of one audience or person turns up where it may not be [V2][B2]',
  { timeout: 1_800_000 },
  async () => {
    // A bot that never used its memory would let nothing turn up.
    const { rightlyUsed, notesUsed } = await playScenes(2000);
    expect(rightlyUsed).toBeGreaterThan(2000);
    expect(notesUsed).toBeGreaterThan(200);
  },
);
