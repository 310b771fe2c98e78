import { expect, it } from 'vitest';

import { playForgettings } from './forgetting-property.ts';

it('what an answer said was forgotten, purged or erased stands on no disk and in no prompt once undo is over, whatever ran and was killed meanwhile [K4][K11][S7]', async () => {
  const { taken, kills, found } = await playForgettings(3, 20_260_115);
  expect(found).toEqual([]);
  // People who had nothing taken would leave nothing to be found.
  expect([taken.forget + taken.purge + taken.erase > 1, kills]).toEqual([true, 1]);
});
