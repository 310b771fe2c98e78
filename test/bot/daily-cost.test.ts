import { expect, it } from 'vitest';

import { assertPricesKnown } from '../../src/bot/create-model.ts';
import { readConfig } from '../../src/config/config.ts';

const check = (environment: Readonly<Record<string, string>>) => () =>
  assertPricesKnown(readConfig(environment).config);

it('a limit on cost needs the price of voice messages, where they are heard [L2]', () => {
  const url = { DISCOCLAW_TRANSCRIBE_URL: 'http://127.0.0.1:8000/v1' };
  const limit = { DISCOCLAW_DAILY_COST_PER_PERSON_USD: '1' };
  expect(check({ ...url, ...limit })).toThrow('give it in US dollars (0 where it costs nothing)');
  for (const fine of [url, limit, { ...url, ...limit, DISCOCLAW_TRANSCRIBE_PRICE: '0' }])
    expect(check(fine)).not.toThrow();
});
