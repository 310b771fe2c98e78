import fc from 'fast-check';
import { describe } from 'vitest';

import { describeKills } from '../storage/files/kill-property.ts';

for (let series = 1; series <= 20; series += 1)
  describe(`after kill -9, series ${series}`, () => {
    describeKills(fc.sample(fc.integer({ min: 1, max: 500 }), 50));
  });
