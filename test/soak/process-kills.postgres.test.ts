import { expect, it } from 'vitest';

import { killProcesses } from '../e2e/process-kills.ts';

/** For a hundred starts on a machine that is busy with other things; milliseconds. */
const patienceMs = 120 * 60_000;

it(
  'two processes over one database lose and double nothing over 100 kills of either [X2][X3]',
  { timeout: patienceMs },
  async () => {
    await expect(killProcesses(100, 1)).resolves.toBeUndefined();
  },
);
