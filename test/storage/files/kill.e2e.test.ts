import { describe } from 'vitest';

import { describeKills } from './kill-property.ts';

describe('after kill -9', () => {
  describeKills([1, 2, 7, 20, 33, 47, 61, 90, 140, 222]);
});
