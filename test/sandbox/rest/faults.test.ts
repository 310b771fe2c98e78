import { describe, expect, it } from 'vitest';

import { createFaults } from '../../../src/sandbox/rest/faults.ts';

const onRoute = { kind: 'reset', route: '*', times: 1, after: 0 } as const;

describe('faults', () => {
  it('meet only requests of their route, each `*` standing for one segment', () => {
    const faults = createFaults();
    const reset = { ...onRoute, route: 'POST /channels/*/messages', times: 9 };
    faults.add(reset);
    expect(faults.take('GET /channels/1/messages')).toBeUndefined();
    expect(faults.take('POST /channels/1/messages/2')).toBeUndefined();
    expect(faults.take('POST /channels/1/2/messages')).toBeUndefined();
    expect(faults.take('POST /channels/1/messages')).toEqual(reset);
  });

  it('are used up, and may let some requests pass first', () => {
    const faults = createFaults();
    const reset = { ...onRoute, times: 2, after: 1 };
    faults.add(reset);
    const taken = [1, 2, 3, 4].map(() => faults.take('GET /users/@me'));
    expect(taken).toEqual([undefined, reset, reset, undefined]);
  });

  it('are gone when cleared', () => {
    const faults = createFaults();
    faults.add(onRoute);
    faults.clear();
    expect(faults.take('GET /gateway')).toBeUndefined();
  });
});
