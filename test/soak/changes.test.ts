import { expect, it } from 'vitest';

import { playChanges, playTroubles, timeFor } from '../memory/changes-property.ts';

const sequences = 2000;

it(
  'ends in the same content with kills and without, and leaves nothing on disk of what an edit or deletion took out [F5][G5][S7]',
  { timeout: timeFor(sequences) },
  async () => {
    expect(await playChanges(sequences)).toBeGreaterThan(sequences);
  },
);

it(
  'leaves nothing on disk of what an edit or deletion took out while the disk refused a layer [F5][G5][S7]',
  { timeout: timeFor(sequences) },
  async () => {
    await expect(playTroubles(sequences)).resolves.toBeUndefined();
  },
);
