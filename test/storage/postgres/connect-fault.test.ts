import { expect, it } from 'vitest';

import { connectFault } from '../../../src/storage/postgres/database.ts';

it.each([
  [new Error('The server does not support SSL connections'), 'unusable'],
  [Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), 'unusable'],
  [Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' }), 'unusable'],
  [Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), 'lost'],
  [new Error('Connection terminated unexpectedly'), 'lost'],
])('a database is not waited for where only its operator can mend it: %s', (error, fault) => {
  expect(connectFault(error).fault).toBe(fault);
});
