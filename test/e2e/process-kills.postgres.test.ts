import { expect, it } from 'vitest';

import { killProcesses } from './process-kills.ts';

it('two processes over one database lose and double nothing when either is killed [X2][X3]', async () => {
  await expect(killProcesses(4, 1)).resolves.toBeUndefined();
});
