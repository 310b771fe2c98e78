import { describe, expect, it } from 'vitest';

import { blockEvents, halfText, messageEvents } from '../../support/model-answer.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { failureOf } from '../failure-of.ts';
import { clientOf, request } from './client-under-test.ts';

const hi = messageEvents(blockEvents(0, { type: 'text', text: 'Hi' }, []), 'end_turn');

/** Far less than what a call waits for that nobody ends, and enough on a machine that is busy with other things; milliseconds. */
const promptly = 20_000;

/** How a call failed, if it failed promptly. */
async function ending(call: Promise<unknown>): Promise<string> {
  const start = performance.now();
  const { failure } = await failureOf(call);
  return performance.now() - start < promptly ? failure : `${failure}, but late`;
}

describe('a connection', () => {
  it('that the server leaves open after its answer is not waited for, and closed', async () => {
    const { client, server } = await clientOf(() => ({ events: [...hi, { pauseMs: 60_000 }] }));
    const start = performance.now();

    await client.complete(request());

    expect(performance.now() - start).toBeLessThan(promptly);
    await expect.poll(() => server.requests[0]?.wasGivenUp).toBe(true);
  });
});

describe('time [M7]', () => {
  it.each(['stall', 'silent'] as const)(
    'ends a call that stays silent (%s), with what had come',
    async (fault) => {
      const { client } = await clientOf(() => fault, { idleTimeoutMs: 1_200, totalTimeoutMs: 2_000 });
      const start = performance.now();

      const failure = await failureOf(client.complete(request()));

      expect(['stalled', 'timeout']).toContain(failure.failure);
      expect(failure.partialText).toBe(fault === 'stall' ? halfText : '');
      expect(performance.now() - start).toBeLessThan(promptly);
    },
  );

  it('ends a call that keeps talking', async () => {
    const chatter = Array.from({ length: 3_000 }, () => 'bla ');
    const { client, server } = await clientOf(() => ({ text: chatter, pauseMs: 20 }), {
      totalTimeoutMs: 1_500,
    });

    const failure = await failureOf(client.complete(request()));

    expect(failure.failure).toBe('timeout');
    expect(failure.partialText).toMatch(/^(?:bla )+$/u);
    await expect.poll(() => server.requests[0]?.wasGivenUp).toBe(true);
  });

  it.each([
    ['an event', { type: 'ping' }],
    ['a comment', { bytes: Buffer.from(': still here\n') }],
  ])('is not up while the server shows that it is alive: by %s', async (_, sign) => {
    const pings = Array.from({ length: 8 }, () => [sign, { pauseMs: 150 }]).flat();
    const [start, ...rest] = messageEvents(blockEvents(0, { type: 'text', text: 'Thought' }, []), 'end_turn');
    const { client } = await clientOf(() => ({ events: [start ?? {}, ...pings, ...rest] }), {
      idleTimeoutMs: 1_000,
    });

    expect(await client.complete(request())).toMatchObject({ content: [{ text: 'Thought' }] });
  });
});

describe('giving up', () => {
  it('works while the answer streams, and keeps what had come', async () => {
    const { client, server } = await clientOf(() => 'stall');
    const wish = new AbortController();
    const call = client.complete(request(), { signal: wish.signal, onText: () => wish.abort() });

    expect(await failureOf(call)).toMatchObject({ failure: 'aborted', partialText: halfText });
    await expect.poll(() => server.requests[0]?.wasGivenUp).toBe(true);
  });

  it('works between attempts', async () => {
    const wish = new AbortController();
    const logger = recordingLogger();
    const { client } = await clientOf(() => ({ status: 429, headers: { 'retry-after': '60' } }), {
      totalTimeoutMs: 120_000,
      logger,
    });
    const call = ending(client.complete(request(), { signal: wish.signal }));
    await expect.poll(() => logger.warnings).toEqual(['retrying a model call']);
    wish.abort();

    expect(await call).toBe('aborted');
  });
});
