import { DiscordSnowflake, Snowflake } from '@sapphire/snowflake';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createSnowflakeSource } from '../../../src/sandbox/world/snowflakes.ts';

describe('the source of ids', () => {
  it('makes valid ids that always grow, whatever the clock does', () => {
    const moments = fc.array(
      fc.date({ min: new Date('2016-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
      {
        minLength: 2,
      },
    );
    fc.assert(
      fc.property(moments, (dates) => {
        let tick = 0;
        const next = createSnowflakeSource(() => dates[tick] ?? new Date(NaN));
        const ids = dates.map((_, index) => {
          tick = index;
          return next();
        });
        expect(ids.every((id) => /^[0-9]{15,21}$/.test(id))).toBe(true);
        expect(ids.every((id, index) => index === 0 || Snowflake.compare(ids[index - 1] ?? '', id) < 0)).toBe(
          true,
        );
      }),
    );
  });

  it('keeps the moment in the id', () => {
    const moment = new Date('2026-05-04T03:02:01.234Z');
    expect(DiscordSnowflake.timestampFrom(createSnowflakeSource(() => moment)())).toBe(moment.getTime());
  });

  it('refuses a clock from before Discord', () => {
    expect(createSnowflakeSource(() => new Date('2014-12-31'))).toThrow(RangeError);
  });
});
