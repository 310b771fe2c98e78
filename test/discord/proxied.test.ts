import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createPluralKit, createProxies } from '../../src/discord/proxied.ts';
import { pluralKit } from '../support/proxy-copy.ts';
import { startPluralKit } from '../support/pluralkit-server.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

const [copy, original, sender] = ['300000000000000001', '300000000000000000', '140000000000000002'];
const record = { id: copy, original, sender };
const never = new AbortController().signal;
let kit: Awaited<ReturnType<typeof startPluralKit>>;

beforeEach(async () => void (kit = await startPluralKit()));
afterEach(() => kit[Symbol.asyncDispose]());

/** With a shorter patience, for what never comes. */
const reading = (limitMs = 60_000) => createPluralKit(kit.url, new RecordingLogger(), limitMs);

describe('PluralKit’s record of a copy [G2a]', () => {
  it.each([404, 429, 500])('is asked for again after %d: it may come a little later', async (status) => {
    kit.is({ status });
    const read = reading()(copy, never);
    await expect.poll(() => kit.requests.length).toBeGreaterThan(0);
    kit.store(record);
    kit.is(undefined);
    expect(await read).toEqual({ originalId: original, accountId: sender });
  });

  it.each([
    ['says nothing in time', 'silence'],
    ['never has one', { status: 404 }],
    ['asks for a longer pause than there is time', { status: 429, headers: { 'retry-after': '60' } }],
    ['asks for a pause in words that are none', { status: 429, headers: { 'retry-after': 'soon' } }],
    ['refuses the bot', { status: 403 }],
    ['sends it elsewhere', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }],
  ] as const)('is none where it %s', async (_, trouble) => {
    kit.store(record);
    kit.is(trouble);
    expect(await reading(50)(copy, never)).toBeUndefined();
  });
});

describe('a copy [G2a]', () => {
  const webhookId = '150000000000000001';
  const isCopy = (applicationId: string, webhook = webhookId, appIds = [pluralKit]) =>
    createProxies({
      appIds,
      readRecord: async () => undefined,
      authorOf: () => undefined,
    }).isCopy({ applicationId, webhookId: webhook });

  it('is what a listed application posts by a webhook, not its answers to slash commands', () => {
    expect(isCopy(pluralKit)).toBe(true);
    expect(isCopy('150000000000000009')).toBe(false);
    expect(isCopy(pluralKit, pluralKit)).toBe(false);
    expect(isCopy(pluralKit, webhookId, [])).toBe(false);
  });
});
