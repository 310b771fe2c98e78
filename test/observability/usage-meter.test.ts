import { describe, expect, it } from 'vitest';

import { StoreError } from '../../src/core/errors.ts';
import { measure } from '../../src/core/logger.ts';
import { createUsageMeter } from '../../src/observability/usage-meter.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';

const call = {
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens: 30,
  cacheWriteTokens: 2,
  cacheHourTokens: 0,
};

const hourMs = 3_600_000;

const turnBy = (model: string) => ({ model, purpose: 'chat' }) as const;

function meterOver(store = new MemoryStore()) {
  const timer = new ManualTimer();
  const logger = recordingLogger();
  const time = { now: new Date('2026-01-15T22:30:00Z') };
  const meter = createUsageMeter({
    store,
    timer: timer.set,
    clock: () => time.now,
    timeZone: 'Europe/Berlin',
    costOf: (model) => (model === 'sonnet' ? 0.25 : undefined),
    logger,
  });
  return { store, timer, logger, time, meter };
}

describe('model usage', () => {
  it('has the last 30 days and 24 hours by model and purpose, those without use too, and keeps no more [Y4]', async () => {
    const { meter, store, time } = meterOver();
    const begin = new Date('2026-02-01T12:00:00Z').getTime();
    const days = Array.from({ length: 40 }, (_, index) => begin + index * 24 * hourMs);
    for (const day of days) {
      time.now = new Date(day);
      meter.add(turnBy('sonnet'), call);
      time.now = new Date(day + hourMs);
      meter.add({ model: 'haiku', purpose: 'summary' }, call);
      await meter.flush();
    }
    time.now = new Date('2026-03-13T12:30:00Z');
    const report = await meter.report();
    expect(report.days).toHaveLength(30);
    expect(report.days[0]?.period).toBe('2026-02-12');
    expect(report.days.at(-1)).toMatchObject({ period: '2026-03-13', all: { calls: 0 } });
    expect(report.days.at(-2)).toMatchObject({
      period: '2026-03-12',
      byModel: { sonnet: { calls: 1 }, haiku: { calls: 1 } },
      byPurpose: { chat: { calls: 1 }, summary: { calls: 1 } },
    });
    expect(report.month.all.calls).toBe(24);
    expect(report.hours.map(({ period }) => period)).toEqual([
      ...Array.from({ length: 10 }, (_, hour) => `2026-03-12T${hour + 14}`),
      ...Array.from({ length: 14 }, (_, hour) => `2026-03-13T${String(hour).padStart(2, '0')}`),
    ]);
    expect(report.hours.reduce((sum, { all }) => sum + all.calls, 0)).toBe(1);
    expect((await store.everything()).match(/2026-\d\d-\d\d"/gu)).toHaveLength(31);
    expect((await store.everything()).match(/2026-\d\d-\d\dT\d\d"/gu)).toHaveLength(24);
  });

  it('counts how turns end, failed calls and failed writes, until it is closed [Y4]', async () => {
    const { meter, store } = meterOver();
    measure('turn', { outcome: 'answered' });
    measure('turn', { outcome: 'answered' });
    measure('modelError', { failure: 'overloaded' });
    measure('waited', { queue: 'turns' });
    await meter.flush();
    measure('storeError', { writes: 1 });
    meter.close();
    measure('turn', { outcome: 'failed' });
    await meter.flush();
    const next = meterOver(store).meter;
    const { today, hours } = await next.report();
    next.close();
    for (const period of [today, hours.at(-1)])
      expect(period).toMatchObject({
        turns: { answered: 2 },
        waited: { turns: 1 },
        errors: { 'model overloaded': 1, 'failed write': 1 },
      });
    expect(today.turns).not.toHaveProperty('failed');
  });

  it('loses nothing while the disk fails', async () => {
    const { meter, store, logger } = meterOver();
    const update = store.update.bind(store);
    store.update = () => Promise.reject(new StoreError('full', 'usage.json'));
    meter.add(turnBy('sonnet'), call);
    await meter.flush();
    meter.add(turnBy('sonnet'), call);
    expect(logger.warnings).toEqual(['model usage could not be saved']);
    store.update = update;
    await meter.flush();
    expect((await meterOver(store).meter.report()).today.all.calls).toBe(2);
  });
});
