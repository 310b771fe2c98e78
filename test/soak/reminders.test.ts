import { expect, it } from 'vitest';

import { runs } from '../support/runs.ts';
import { killWhileReminding } from './reminder-kills.ts';

/** A thousand with `FC_RUNS=10`. */
const people = runs(100);

it(
  `${people * 10} reminders of ${people} people come once each, over kills and lost connections [RM4]`,
  { timeout: 4 * 3_600_000 },
  async () => {
    await expect(killWhileReminding(people, 1, 1)).resolves.toBeUndefined();
  },
);
