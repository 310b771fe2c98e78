import fc from 'fast-check';
import { DiscordAPIError, type Message } from 'discord.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { ProxyRecord } from '../../src/discord/pluralkit.ts';
import { createProxies, judge } from '../../src/discord/proxied.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { runs } from '../support/runs.ts';
import { pluralKit, tupperbox } from '../support/proxy-copy.ts';

const bob = '140000000000000002';
const mallory = '140000000000000004';

describe('which message a copy is of [G2a]', () => {
  const original = { id: '1', accountId: bob, text: 'A: Hello  @Bot', deletedAt: 1 };
  const standing = { ...original, deletedAt: undefined };
  const byMallory = { ...original, id: '2', accountId: mallory };
  const record = { originalId: '1', accountId: bob };

  it.each<[what: string, ...Parameters<typeof judge>, expected: string | undefined]>([
    ['the record names it', 'hello @Bot', [original], record, false, '1'],
    ['the record names it, and files are all that was posted', '', [original], record, false, '1'],
    ['it was not deleted yet', 'hello @Bot', [standing], record, false, 'wait'],
    ['it was never deleted', 'hello @Bot', [standing], record, true, undefined],
    [
      'the record names another account',
      'hello @Bot',
      [byMallory, { ...original, accountId: mallory }],
      record,
      false,
      undefined,
    ],
    ['the record names another message', 'hello @Bot', [byMallory], record, false, undefined],
    [
      'the words are others than those of the message in the record',
      'bye @Bot',
      [original],
      record,
      false,
      undefined,
    ],
    [
      'others wrote and deleted the same, and the record names one',
      'hello @Bot',
      [original, byMallory],
      record,
      false,
      '1',
    ],
    ['there is no record, and one deleted message fits', 'hello @Bot', [original], undefined, false, '1'],
    ['there is no record, and it was not deleted yet', 'hello @Bot', [standing], undefined, false, 'wait'],
    ['there is no record, and it was never deleted', 'hello @Bot', [standing], undefined, true, undefined],
    [
      'there is no record, and two accounts deleted what fits',
      'hello @Bot',
      [original, byMallory],
      undefined,
      false,
      undefined,
    ],
    [
      'there is no record, and what another account wrote may yet be deleted',
      'hello @Bot',
      [original, { ...byMallory, deletedAt: undefined }],
      undefined,
      false,
      'wait',
    ],
    [
      'there is no record, and what another account wrote stood',
      'hello @Bot',
      [original, { ...byMallory, deletedAt: undefined }],
      undefined,
      true,
      '1',
    ],
    [
      'there is no record, and the account deleted it twice',
      'hello @Bot',
      [original, { ...original, id: '3' }],
      undefined,
      false,
      '3',
    ],
    ['there is no record, and the copy has no words', '  ', [original], undefined, false, undefined],
    ['there is no record, and no words fit', 'hello @Bot!', [original], undefined, false, undefined],
    ['nothing was written', 'hello @Bot', [], undefined, false, undefined],
  ])('%s', (_, text, known, named, isOver, expected) => {
    const verdict = judge(text, known, named, isOver);
    expect(typeof verdict === 'object' ? verdict.id : verdict).toBe(expected);
  });
});

/** As far as a copy and its original are looked at. */
function messageOf(fields: {
  readonly id: string;
  readonly content: string;
  readonly authorId?: string;
  readonly appId?: string;
  readonly channelId?: string;
}): Message {
  const { id, content, authorId, appId, channelId = '1' } = fields;
  const message: Partial<Record<keyof Message, unknown>> = {
    id,
    content,
    channelId,
    guildId: '2',
    author: { id: authorId ?? '150000000000000001', username: 'Anna', bot: appId !== undefined },
    member: null,
    webhookId: appId === undefined ? null : '150000000000000001',
    applicationId: appId ?? null,
    reference: null,
    attachments: new Map(),
    mentions: {},
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is read
  return message as unknown as Message;
}

function scene({ appIds = [pluralKit, tupperbox] }: { readonly appIds?: readonly string[] } = {}) {
  const records = new Map<string, ProxyRecord>();
  const standing = new Set<string>();
  const proxies = createProxies({
    appIds,
    readRecord: async (id) => records.get(id),
    messages: {
      async one(_, id) {
        if (standing.has(id)) return undefined;
        throw new DiscordAPIError({ code: 10_008, message: '' }, 10_008, 404, 'GET', 'http://x/', {});
      },
    },
    clock: () => new Date(),
  });
  let made = 0;
  const nextId = () => String(BigInt(snowflakeAt(new Date())) + BigInt((made += 1)));
  const stopping = new AbortController();
  return {
    proxies,
    stopping,
    standing,
    store: (copy: Message, originalId: string, accountId: string) =>
      void records.set(copy.id, { originalId, accountId }),
    wrote: (authorId: string, content: string): Message => {
      const message = messageOf({ id: nextId(), content, authorId });
      proxies.heard(message);
      standing.add(message.id);
      return message;
    },
    deletes: ({ id }: Message): void => {
      standing.delete(id);
      proxies.deleted([id]);
    },
    copy: (content: string, appId = pluralKit): Message => messageOf({ id: nextId(), content, appId }),
    /** Whose it is, or with a question mark whose it may be. */
    proof: async (copy: Message): Promise<string | undefined> => {
      const found = await proxies.prove(copy, stopping.signal);
      return found && found.message.author.id + (found.isCertain ? '' : '?');
    },
  };
}

describe('a copy and its original', () => {
  beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-01-15T12:00:00Z') }));
  afterEach(() => void vi.useRealTimers());

  it('are found in either order', async () => {
    const { wrote, deletes, copy, store, proof } = scene();
    const first = wrote(bob, 'A: hello');
    deletes(first);
    const after = copy('hello');
    store(after, first.id, bob);
    expect(await proof(after)).toBe(bob);

    const second = wrote(bob, 'A: bye');
    const before = copy('bye');
    store(before, second.id, bob);
    const waiting = proof(before);
    await vi.advanceTimersByTimeAsync(9000);
    deletes(second);
    expect(await waiting).toBe(bob);
  });

  it('belong together once: another copy of the same proves nothing', async () => {
    const { wrote, deletes, copy, proof } = scene();
    deletes(wrote(bob, 'A: hello'));
    expect(await proof(copy('hello', tupperbox))).toBe(`${bob}?`);
    expect(await proof(copy('hello', tupperbox))).toBeUndefined();
  });

  it('have ten seconds: a message that stands, was older or was deleted long before has no copy', async () => {
    const { wrote, deletes, copy, store, proof } = scene();
    const standing = wrote(bob, 'A: hello');
    const early = copy('hello');
    store(early, standing.id, bob);
    const waiting = proof(early);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await waiting).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    deletes(standing);
    expect(await proof(copy('hello', tupperbox))).toBeUndefined();

    deletes(wrote(bob, 'A: bye'));
    await vi.advanceTimersByTimeAsync(10_001);
    expect(await proof(copy('bye', tupperbox))).toBeUndefined();
  });

  it('stand in the same channel, and an edit counts', async () => {
    const { proxies, wrote, deletes, copy, proof } = scene();
    const original = wrote(bob, 'hello');
    proxies.edited(original.id, 'A: bye');
    deletes(original);
    const elsewhere = Object.assign(copy('bye', tupperbox), { channelId: '3' });
    expect(await proof(elsewhere)).toBeUndefined();
    expect(await proof(copy('bye', tupperbox))).toBe(`${bob}?`);
  });

  it('from before a start are known by the record alone, if the original is gone and was ten seconds older at most', async () => {
    const { proxies, copy, store, standing, proof } = scene();
    const gone = messageOf({
      id: snowflakeAt(new Date(Date.now() - 2000)),
      content: 'A: hello',
      authorId: bob,
    });
    const found = copy('hello');
    store(found, gone.id, bob);
    expect(await proof(found)).toBe(bob);
    standing.add(gone.id);
    expect(await proof(found)).toBeUndefined();
    const late = copy('hello');
    store(late, snowflakeAt(new Date(Date.now() - 11_000)), bob);
    expect(await proof(late)).toBeUndefined();
    expect(await proof(copy('hello'))).toBeUndefined();
    expect(proxies.readings(found)).toHaveLength(1);
  });

  it('end with the bot: nobody waits for a deletion any more', async () => {
    const { wrote, copy, stopping, proof } = scene();
    wrote(bob, 'A: hello');
    const waiting = proof(copy('hello', tupperbox));
    await vi.advanceTimersByTimeAsync(10);
    stopping.abort();
    expect(await waiting).toBeUndefined();
  });

  it('are looked for only where an application is listed; not other webhooks, nor answers to slash commands', async () => {
    const { proxies } = scene();
    const id = snowflakeAt(new Date());
    expect(proxies.isCopy(messageOf({ id, content: '', appId: pluralKit }))).toBe(true);
    expect(proxies.isCopy(messageOf({ id, content: '', appId: '150000000000000009' }))).toBe(false);
    const answer = Object.assign(messageOf({ id, content: '', appId: pluralKit }), { webhookId: pluralKit });
    expect(proxies.isCopy(answer)).toBe(false);
    expect(scene({ appIds: [] }).proxies.isCopy(messageOf({ id, content: '', appId: pluralKit }))).toBe(
      false,
    );
  });

  it('name its account once it was accepted, and until then the webhook', () => {
    const { proxies, wrote, copy } = scene();
    wrote(bob, 'A: hello');
    const posted = copy('hello');
    expect(proxies.speakerOf(posted)).toBe('150000000000000001');
    const [reading] = proxies.readings(posted);
    if (reading === undefined) throw new Error('It may be a copy');
    proxies.accept(reading);
    expect(proxies.speakerOf(posted)).toBe(bob);
    expect(proxies.accountOf(posted.id)).toBe(bob);
  });
});

const happen = (ms: number, what: () => void) => void setTimeout(what, ms);

interface Written {
  readonly by: string;
  readonly words: string;
  /** What becomes of it. */
  readonly as: 'proxied' | 'deleted by hand' | 'left';
  readonly appId: string;
  /** What comes first, and when; milliseconds. */
  readonly isCopyFirst: boolean;
  readonly times: readonly [number, number, number];
}

const written: fc.Arbitrary<Written> = fc.record({
  by: fc.constantFrom(bob, mallory),
  words: fc.constantFrom('hello', 'hello there', 'bye'),
  as: fc.constantFrom('proxied', 'deleted by hand', 'left'),
  appId: fc.constantFrom(pluralKit, tupperbox),
  isCopyFirst: fc.boolean(),
  times: fc.tuple(fc.nat(8000), fc.nat(3000), fc.nat(3000)),
});

describe('in any order of events [G2a]', () => {
  beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-01-15T12:00:00Z') }));
  afterEach(() => void vi.useRealTimers());

  it('a copy never becomes the words of somebody who has not written it, and with a record is always its author’s, once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(written, { minLength: 1, maxLength: 5 }), async (all) => {
        const { wrote, deletes, copy, store, proof } = scene();
        const found: { readonly one: Written; readonly proof: Promise<string | undefined> }[] = [];
        for (const one of all) {
          const [start, ...gaps] = one.times;
          const [first, second] = [start + 1 + gaps[0], start + 1 + gaps[0] + gaps[1]];
          happen(start, () => {
            const original = wrote(one.by, `A: ${one.words}`);
            if (one.as === 'deleted by hand') happen(gaps[0], () => deletes(original));
            if (one.as !== 'proxied') return;
            happen((one.isCopyFirst ? second : first) - start, () => deletes(original));
            happen((one.isCopyFirst ? first : second) - start, () => {
              const posted = copy(one.words, one.appId);
              if (one.appId === pluralKit) store(posted, original.id, one.by);
              found.push({ one, proof: proof(posted) });
            });
          });
        }
        await vi.advanceTimersByTimeAsync(60_000);
        for (const { one, proof: given } of found) {
          const allowed = one.appId === pluralKit ? [one.by] : [`${one.by}?`, undefined];
          expect(allowed).toContain(await given);
        }
        expect(found).toHaveLength(all.filter(({ as }) => as === 'proxied').length);
      }),
      { numRuns: runs(200) },
    );
  });
});
