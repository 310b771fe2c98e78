import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { assertSnowflake, compareSnowflakes, snowflakeAt, snowflakeTime } from '../../src/core/snowflake.ts';

const moments = fc.date({ min: new Date('2016-01-01'), max: new Date('2080-01-01'), noInvalidDate: true });

describe('a Discord id', () => {
  it('tells the millisecond in which it was made, up to the last id of it', () => {
    fc.assert(
      fc.property(moments, fc.bigInt({ min: 0n, max: (1n << 22n) - 1n }), (moment, rest) => {
        const id = (BigInt(snowflakeAt(moment)) + rest).toString();
        expect(snowflakeTime(id)).toEqual(moment);
        expect(compareSnowflakes(snowflakeAt(moment), id)).toBe(rest === 0n ? 0 : -1);
      }),
    );
  });

  it('is older than one with more digits', () => {
    expect(compareSnowflakes('999999999999999999', '1000000000000000000')).toBeLessThan(0);
  });

  it.each([
    '',
    '12345678901234',
    '1234567890123456789012',
    '12345678901234567a',
    '../12345678901234567',
    '-12345678901234567',
  ])('is not %j [S6]', (text) => {
    expect(() => assertSnowflake(text)).toThrow(RangeError);
  });
});
