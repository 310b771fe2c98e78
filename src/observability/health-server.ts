import { once } from 'node:events';
import { createServer } from 'node:http';

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import { onMeasured } from '../core/logger.ts';
import type { ModelUsage } from '../core/model.ts';

/** Seconds. */
const stageBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

const queues = {
  turns_running: 'Turns that run',
  turns_waiting:
    'Turns that wait for the one before them in their conversation, for a place, or for their minute',
  model_calls_running: 'Model calls that run',
  model_calls_waiting: 'Model calls that wait for a place',
  background_work:
    'Conversations with work after turns that runs or waits: summaries, extraction, reflection',
  writes: 'Changes to memory that run or wait',
} as const;

export type OpenWork = Readonly<Record<keyof typeof queues, number>>;

export interface UsedModel {
  readonly model: string;
  readonly purpose: string;
  readonly usage: ModelUsage;
  /** US dollars; absent where the price is not known. */
  readonly cost?: number | undefined;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** What Prometheus reads [O3]; no label is taken from people, places or what they say. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const stages = new Histogram({
    name: 'discoclaw_turn_stage_seconds',
    help: 'How long the parts of a turn take',
    labelNames: ['stage'],
    buckets: stageBuckets,
    registers,
  });
  const turns = counter('discoclaw_turns_total', 'Turns by how they ended', 'outcome');
  const ignored = counter('discoclaw_ignored_messages_total', 'Messages that were not for the bot', 'reason');
  const evicted = counter('discoclaw_evicted_items_total', 'Items that made room for others');
  const storeErrors = counter('discoclaw_store_errors_total', 'Writes that the disk refused');
  const modelErrors = counter('discoclaw_model_errors_total', 'Calls that failed for good', 'failure');
  const calls = counter('discoclaw_model_calls_total', 'Answered calls', 'model', 'purpose');
  const tokensHelp = 'Tokens by kind: input is what no cache had';
  const tokens = counter('discoclaw_model_tokens_total', tokensHelp, 'model', 'purpose', 'kind');
  const costHelp = 'US dollars, as far as prices are known';
  const cost = counter('discoclaw_model_cost_usd_total', costHelp, 'model', 'purpose');
  let readWork: (() => OpenWork) | undefined;
  for (const [queue, help] of Object.entries(queues)) {
    const gauge = new Gauge({
      name: `discoclaw_${queue}`,
      help,
      registers,
      collect() {
        const open: Readonly<Record<string, number>> | undefined = readWork?.();
        gauge.set(open?.[queue] ?? 0);
      },
    });
  }
  const ends = [
    onMeasured('stage', ({ stage, ms }) => stages.observe({ stage }, ms / 1000)),
    onMeasured('turn', ({ outcome }) => turns.inc({ outcome })),
    onMeasured('ignored', ({ reason }) => ignored.inc({ reason })),
    onMeasured('evicted', ({ items }) => evicted.inc(items)),
    onMeasured('storeError', ({ writes }) => storeErrors.inc(writes)),
    onMeasured('modelError', ({ failure }) => modelErrors.inc({ failure })),
  ];

  function counter<Label extends string>(name: string, help: string, ...labelNames: Label[]) {
    return new Counter<Label>({ name, help, labelNames, registers });
  }

  return {
    contentType: registry.contentType,
    text: (): Promise<string> => registry.metrics(),
    used({ model, purpose, usage, cost: dollars }: UsedModel): void {
      calls.inc({ model, purpose });
      const kinds = {
        input: usage.inputTokens,
        output: usage.outputTokens,
        cache_read: usage.cacheReadTokens,
        cache_write: usage.cacheWriteTokens,
      };
      for (const [kind, count] of Object.entries(kinds)) tokens.inc({ model, purpose, kind }, count);
      if (dollars !== undefined) cost.inc({ model, purpose }, dollars);
    },
    /** Has what waits or runs read from here whenever somebody asks. */
    watch(read: () => OpenWork): void {
      readWork = read;
    },
    close(): void {
      for (const end of ends) end();
      registry.clear();
    },
  };
}

/** What is wrong, in words; `undefined` where all is well. */
export interface Health {
  /** Of the process and its disk: somebody should look. */
  readonly unhealthy: () => string | undefined;
  /** Why no message would be answered now. */
  readonly unready: () => string | undefined;
}

const notStarted: Health = {
  unhealthy: () => undefined,
  unready: () => 'the bot is not connected to Discord yet',
};

export type HealthServer = Awaited<ReturnType<typeof startHealthServer>>;

/** At a port of this machine [O3]. Rejects as node:http does where the port cannot be had. */
export async function startHealthServer(
  { port, host }: { readonly port: number; readonly host: string },
  metrics: Metrics,
) {
  let health = notStarted;
  const server = createServer((request, response) => {
    const reply = (status: number, type: string, text: string): void => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
      response.end(text);
    };
    const tell = (problem: string | undefined): void => {
      const body = problem === undefined ? { status: 'ok' } : { status: 'failing', problem };
      reply(problem === undefined ? 200 : 503, 'application/json', `${JSON.stringify(body)}\n`);
    };
    const [path = ''] = (request.url ?? '').split('?');
    if (path === '/healthz') tell(health.unhealthy());
    else if (path === '/readyz') tell(health.unhealthy() ?? health.unready());
    else if (path === '/metrics')
      metrics.text().then(
        (text) => reply(200, metrics.contentType, text),
        () => reply(500, 'text/plain', 'The metrics could not be gathered.\n'),
      );
    else reply(404, 'text/plain', 'There is /healthz, /readyz and /metrics.\n');
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  return {
    /** Where it listens: with the port 0 the system chooses one. */
    port: typeof address === 'object' && address !== null ? address.port : port,
    /** From now on it tells of this bot; `undefined`: it is being stopped, or started again. */
    follow(bot: Health | undefined): void {
      health = bot ?? notStarted;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      metrics.close();
    },
  };
}
