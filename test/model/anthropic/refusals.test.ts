import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { structuredAnswer, textOf, type ModelFeature } from '../../../src/core/model.ts';
import { createAnthropicClient } from '../../../src/model/anthropic/anthropic-client.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import type { ModelAnswer } from '../../support/model-answer.ts';
import { isIn, refusedOf, refusing } from '../servers/server-double.ts';
import { clientOf, request } from './client-under-test.ts';
import { everything } from './everything.ts';
import { runs } from '../../support/runs.ts';

const words: Readonly<Record<ModelFeature, string>> = {
  'schema keywords': 'keyword "pattern"',
  'structured output': 'output_config.format',
  'hour-long cache': 'cache_control.ttl',
  'cache marks': 'cache_control',
  tools: 'tools',
  thinking: 'effort',
  pictures: 'image input',
  documents: 'document blocks',
};
const names = Object.keys(isIn).filter((name): name is ModelFeature => name in words);

/** Ways in which servers say that they do not have something. */
const waysToRefuse: readonly ((what: string) => ModelAnswer)[] = [
  (what) => ({ status: 400, error: `${what}: Extra inputs are not permitted` }),
  (what) => ({
    status: 404,
    body: { error: { message: `No endpoints found that support ${what}`, code: 404 } },
  }),
  (what) => ({
    status: 422,
    body: { detail: [{ loc: ['body', what], msg: 'Extra inputs are not permitted' }] },
  }),
  (what) => ({ status: 500, body: { error: { code: 500, message: `${what} is not supported` } } }),
  (what) => ({ status: 501, body: { error: `${what} not implemented` } }),
  (what) => ({
    events: [{ type: 'error', error: { type: 'invalid_request_error', message: `${what} unsupported` } }],
  }),
];

describe('a server that refuses features of a request [M9]', () => {
  it('still answers: it gets one more request per refused feature, and never the same feature again', async () => {
    const refusals = fc
      .shuffledSubarray(names)
      .chain((chosen) =>
        fc.tuple(
          ...chosen.map((name) =>
            fc.constantFrom(...waysToRefuse).map((say) => [name, say(words[name])] as const),
          ),
        ),
      )
      .map((entries) => Object.fromEntries(entries));
    const asked = fc.array(
      fc.constantFrom('all', 'no tools', 'no files', 'plain').map((kind) => ({
        ...(kind === 'plain' ? request({ model: 'sonnet' }) : everything),
        ...(kind === 'no tools' ? { tools: [], messages: everything.messages.slice(0, 1) } : {}),
        ...(kind === 'no files' ? { messages: request().messages } : {}),
      })),
      { minLength: 1, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(refusals, asked, async (refused, requests) => {
        const { client, server } = await clientOf(refusing(refused, () => ({ json: { ok: true } })));
        for (const each of requests) {
          const before = server.requests.length;
          const response = await client.complete(each);
          expect(textOf(response.content)).toBe('{"ok":true}');
          expect(server.requests.length - before).toBeLessThanOrEqual(1 + Object.keys(refused).length);
        }
        const told: ModelFeature[] = [];
        for (const { body } of server.requests) {
          for (const name of told) expect(isIn[name](body)).toBe(false);
          told.push(...[refusedOf(refused, body) ?? []].flat());
        }
        expect(client.refused?.map(({ feature }) => feature)).toEqual(told);
        await server.close();
      }),
      { numRuns: runs(60) },
    );
  });
});

describe('a server that accepts a schema and ignores it [M9]', () => {
  const schema = z.object({ ok: z.boolean() });
  const asked = request({ purpose: 'extraction', model: 'local', outputSchema: { type: 'object' } });

  it('gets requests in words from then on, and its answer is still validated', async () => {
    const { client, server } = await clientOf((body) => {
      const isAsked = body.system?.some(({ text }) => text?.includes('JSON Schema'));
      return { text: isAsked === true ? 'Here you are:\n{"ok": true}\nAnything else?' : 'All is well.' };
    });
    for (let time = 0; time < 2; time += 1)
      expect(structuredAnswer(await client.complete(asked), schema, 'It')).toEqual({ ok: true });
    expect(server.requests.map(({ body }) => isIn['structured output'](body))).toEqual([true, false, false]);
    expect(client.refused).toEqual([{ feature: 'structured output', model: 'local' }]);
  });

  it('may answer in prose all the same: then nothing of it is used', async () => {
    const { client, server } = await clientOf(() => ({ text: 'All is well.' }));
    const response = await client.complete(asked);
    expect(() => structuredAnswer(response, schema, 'It')).toThrow('gave no valid JSON');
    expect(server.requests).toHaveLength(2);
    // Both calls are counted.
    expect(response.usage.outputTokens).toBe(10);
  });
});

describe('an incomplete answer [M9]', () => {
  const text = { type: 'text', text: 'Hello' };
  it('may say in other words that it was cut', async () => {
    const { client } = await clientOf(() => ({ message: { content: [text], stop_reason: 'length' } }));
    expect(await client.complete(request())).toMatchObject({ stop: 'cut' });
  });
});

it('gets the key in both headers that servers look at, and works without one [M9]', async () => {
  const { client, server } = await clientOf(() => ({ text: 'Hello' }));
  await client.complete(request());
  const keyless = createAnthropicClient({
    baseUrl: server.url,
    concurrency: 1,
    queueLimit: 1,
    idleTimeoutMs: 30_000,
    totalTimeoutMs: 60_000,
    logger: recordingLogger(),
  });
  await keyless.complete(request());
  expect(server.requests.map(({ headers }) => [headers['x-api-key'], headers.authorization])).toEqual([
    ['test-key', 'Bearer test-key'],
    ['no-key', 'Bearer no-key'],
  ]);
});
