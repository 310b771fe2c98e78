import parse from 'parse-prometheus-text-format';
import { afterEach, expect, it } from 'vitest';

import { measure, timed } from '../../src/core/logger.ts';
import {
  createMetrics,
  startHealthServer,
  type HealthServer,
  type Metrics,
} from '../../src/observability/health-server.ts';

let server: HealthServer | undefined;
let counting: Metrics | undefined;

afterEach(async () => {
  await server?.close();
  counting?.close();
  server = undefined;
});

const nothingOpen = {
  turns_running: 0,
  turns_waiting: 0,
  model_calls_running: 0,
  model_calls_waiting: 0,
  background_work: 0,
  writes: 0,
};

async function start() {
  counting = createMetrics();
  server = await startHealthServer({ port: 0, host: '127.0.0.1' }, counting);
  return { server, counted: counting, url: `http://127.0.0.1:${server.port}` };
}

function failing(problem: string) {
  return [503, { status: 'failing', problem }];
}

it('tells what was measured, in the form that Prometheus reads [O3]', async () => {
  const { counted, url } = await start();
  counted.watch(() => ({ ...nothingOpen, turns_running: 2, turns_waiting: 5, background_work: 3 }));
  await timed('prompt', Promise.resolve());
  await expect(timed('answer', Promise.reject(new Error('planted')))).rejects.toThrow('planted');
  measure('turn', { outcome: 'answered' });
  measure('ignored', { reason: 'bot' });
  measure('evicted', { items: 3 });
  measure('storeError', { writes: 1 });
  counted.used({
    model: 'm',
    purpose: 'chat',
    usage: { inputTokens: 5, outputTokens: 7, cacheReadTokens: 11, cacheWriteTokens: 13, cacheHourTokens: 0 },
    cost: 0.5,
  });
  const text = await (await fetch(`${url}/metrics`)).text();
  const found = new Map(parse(text).map(({ name, metrics }) => [name, metrics]));
  expect(found.get('discoclaw_turns_total')).toEqual([{ value: '1', labels: { outcome: 'answered' } }]);
  expect(found.get('discoclaw_ignored_messages_total')).toEqual([{ value: '1', labels: { reason: 'bot' } }]);
  expect(found.get('discoclaw_evicted_items_total')).toEqual([{ value: '3' }]);
  expect(found.get('discoclaw_store_errors_total')).toEqual([{ value: '1' }]);
  expect(found.get('discoclaw_turns_waiting')).toEqual([{ value: '5' }]);
  expect(found.get('discoclaw_model_cost_usd_total')).toMatchObject([{ value: '0.5' }]);
  expect(found.get('discoclaw_model_tokens_total')).toHaveLength(4);
  expect(text).toMatch(/^discoclaw_turn_stage_seconds_count\{stage="prompt"\} 1$/mu);
  expect(text).toMatch(/^discoclaw_turn_stage_seconds_count\{stage="answer"\} 1$/mu);
  expect(found.has('nodejs_eventloop_lag_seconds')).toBe(true);
});

it('distinguishes health and readiness, with reasons [O3]', async () => {
  const { server: health, url } = await start();
  const states = async () => {
    const answers = await Promise.all(['/healthz', '/readyz'].map((path) => fetch(url + path)));
    return Promise.all(answers.map(async (answer) => [answer.status, await answer.json()]));
  };
  const well = [200, { status: 'ok' }];
  expect(await states()).toEqual([well, failing('the bot is not connected to Discord yet')]);
  health.follow({ unhealthy: () => undefined, unready: () => undefined });
  expect(await states()).toEqual([well, well]);
  health.follow({ unhealthy: () => 'full', unready: () => 'away' });
  expect(await states()).toEqual([failing('full'), failing('full')]);
  health.follow(undefined);
  expect((await states())[1]?.[0]).toBe(503);
});
