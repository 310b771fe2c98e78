import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { unconditional } from '../../../src/core/writes.ts';
import { createDurableMemory } from '../../../src/memory/durable/durable-memory.ts';
import { proposalForMs } from '../../../src/memory/durable/remember-item.ts';
import { captureModes, type CaptureMode } from '../../../src/memory/settings/person-settings.ts';
import { forgettingFor } from '../../support/forgetting.ts';
import { aliceId, publicPlace } from '../../support/incoming.ts';
import { durableSettings } from '../../support/layer-settings.ts';
import { ledgerFor } from '../../support/ledger.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { plainWrites } from '../../support/plain-writes.ts';
import { runs } from '../../support/runs.ts';
import { messageId, session, silent, startTime, withdrawnMessage } from '../../support/sessions.ts';
import { proposalsOver } from '../../support/undo.ts';

const work = unconditional(aliceId);

/** A person who is asked first; opened again over the same store it is what a restart finds. */
function open(
  store = new MemoryStore(),
  time = { now: startTime },
  mode: { now: CaptureMode } = { now: 'ask' },
) {
  const clock = () => new Date(time.now);
  const writes = plainWrites();
  const durable = createDurableMemory({
    settings: durableSettings,
    store,
    writes,
    forgetting: forgettingFor({ store, clock, openLedger: () => ledgerFor(store, writes, []) }),
    clock,
    timeZone: 'UTC',
    logger: silent,
  });
  const proposals = proposalsOver({ durable, modeOf: () => Promise.resolve(mode.now) });
  const waiting = async () => (await proposals.list(aliceId)).map(({ text }) => text);
  return { store, time, mode, durable, proposals, waiting };
}

function noticed(text: string, number = 1) {
  return { text, place: publicPlace, messageId: messageId(number), type: 'summary' } as const;
}

const anyStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('notice' as const),
      word: fc.nat(5),
      saidIn: fc.constantFrom('ask' as const, 'auto' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('accept' as const, 'decline' as const), of: fc.nat(5) }),
  },
  fc.record({ do: fc.constant('pass' as const), days: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ do: fc.constant('restart' as const) }),
  fc.record({ do: fc.constant('forget' as const), word: fc.nat(5) }),
  fc.record({ do: fc.constant('mode' as const), mode: fc.constantFrom(...captureModes) }),
);
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

/** Rejects where something stands where it may not, or is missing. */
async function live(steps: readonly Step[]): Promise<void> {
  let memory = open();
  const { store, time, mode } = memory;
  /** By text when it was proposed; what is an item, and what was declined. */
  const waiting = new Map<string, number>();
  const [items, declined] = [new Set<string>(), new Set<string>()];
  for (const [index, step] of steps.entries()) {
    const text = 'word' in step ? `Keeps canary${step.word}x` : '';
    const outcome: { is?: unknown; shouldBe?: unknown } = {};
    switch (step.do) {
      case 'notice': {
        const stored = await memory.proposals.remember(work, noticed(text, index), step.saidIn);
        const known = declined.has(text) ? 'refused' : items.has(text) ? 'refreshed' : undefined;
        const isAsked = mode.now === 'ask' || step.saidIn === 'ask';
        outcome.is = stored.outcome;
        outcome.shouldBe = mode.now === 'off' ? 'refused' : (known ?? (isAsked ? 'proposed' : 'stored'));
        // What is stored answers the question.
        if (outcome.is === 'stored') waiting.delete(text);
        if (outcome.is === 'stored') items.add(text);
        if (outcome.is === 'proposed' && !waiting.has(text)) waiting.set(text, time.now);
        break;
      }
      case 'mode':
        mode.now = step.mode;
        break;
      case 'forget':
        await memory.durable.forget(work, `canary${step.word}x`, publicPlace, messageId(index));
        waiting.delete(text);
        if (items.delete(text)) declined.add(text);
        break;
      case 'pass':
        time.now += step.days * 24 * 60 * 60_000;
        await memory.durable.expireItems(aliceId);
        for (const [each, at] of waiting) if (time.now - at >= proposalForMs) waiting.delete(each);
        break;
      case 'restart':
        memory = open(store, time, mode);
        break;
      case 'accept':
      case 'decline': {
        const chosen = (await memory.proposals.list(aliceId))[step.of];
        if (chosen === undefined) break;
        const isYes = step.do === 'accept';
        outcome.shouldBe = isYes ? 'stored' : true;
        outcome.is = isYes
          ? (await memory.proposals.accept(work, chosen.id))?.outcome
          : await memory.proposals.decline(work, chosen.id);
        (isYes ? items : declined).add(chosen.text);
        waiting.delete(chosen.text);
      }
    }
    expect(outcome.is).toBe(outcome.shouldBe);
    expect(await memory.waiting()).toEqual([...waiting.keys()]);
    expect(new Set((await memory.durable.list(aliceId)).map((item) => item.text))).toEqual(items);
  }
  const held = await store.everything();
  for (const word of [0, 1, 2, 3, 4, 5]) {
    const text = `Keeps canary${word}x`;
    expect([text, held.includes(text)]).toEqual([text, waiting.has(text) || items.has(text)]);
  }
}

describe('proposals [K9]', () => {
  it('become items only with a yes, leave the disk with a no or after seven days, and are never asked again after a no', async () => {
    const played = fc.assert(fc.asyncProperty(fc.array(anyStep, { maxLength: 14 }), live), {
      numRuns: runs(60),
    });
    await expect(played).resolves.toBeUndefined();
  });

  it.each(captureModes)(
    'are made of all that was heard, nothing of which is stored at once: in mode %s [G7]',
    async (now) => {
      const { durable, proposals, mode } = open();
      mode.now = now;
      const heard = { ...noticed('Keeps axolotls'), heard: true } as const;
      for (const saidIn of captureModes) {
        const { outcome } = await proposals.remember(work, heard, saidIn);
        expect(outcome).toBe(now === 'off' ? 'refused' : 'proposed');
      }
      expect(await durable.list(aliceId)).toEqual([]);
      const [{ id } = { id: '' }] = await proposals.list(aliceId);
      const accepted = await proposals.accept(work, id);
      const isHeard = accepted !== undefined && 'item' in accepted && accepted.item.source.heard;
      expect(isHeard).toBe(now !== 'off');
    },
  );

  it('are at most three of one message [D3]', async () => {
    const { proposals, waiting } = open();
    for (let count = 0; count < 60; count += 1)
      await proposals.remember(work, noticed(`Keeps ${count} bees`));
    expect(await waiting()).toHaveLength(3);
  });

  it('are for their person alone, and each is answered once', async () => {
    const { proposals } = open();
    await proposals.remember(work, noticed('Keeps bees'));
    const [{ id } = { id: '' }] = await proposals.list(aliceId);
    const bob = unconditional('140000000000000009');
    expect(await proposals.accept(bob, id)).toBeUndefined();
    expect(await proposals.decline(bob, id)).toBe(false);
    expect(await proposals.accept(work, id)).toMatchObject({ outcome: 'stored' });
    expect(await proposals.accept(work, id)).toBeUndefined();
  });

  it('that are accepted in other words are not made again in their first ones', async () => {
    const { proposals, waiting } = open();
    await proposals.remember(work, noticed('Keeps an axolotl'));
    const [{ id } = { id: '' }] = await proposals.list(aliceId);
    const words = { text: 'Keeps two axolotls', place: publicPlace, messageId: messageId(2) };
    expect(await proposals.accept(work, id, words)).toMatchObject({ outcome: 'stored' });
    // As after a kill, when the same turns are looked at once more.
    expect(await proposals.remember(work, noticed('Keeps an axolotl'))).toMatchObject({ outcome: 'refused' });
    expect(await waiting()).toEqual([]);
  });

  it('go with the words that are forgotten, though no item says them [K4]', async () => {
    const { durable, proposals, waiting } = open();
    await proposals.remember(work, noticed('Keeps an axolotl', 1));
    await durable.forget(work, 'axolotl', publicPlace, messageId(2));
    expect(await waiting()).toEqual([]);
  });

  it('go with the words that are purged, but for what was said after that [K11]', async () => {
    const { durable, proposals, waiting } = open();
    await proposals.remember(work, noticed('Keeps an axolotl', 1));
    await proposals.remember(work, noticed('Feeds an axolotl', 3));
    await durable.delete({ kind: 'words', userId: aliceId, words: 'axolotl', commandId: messageId(2) });
    expect(await waiting()).toEqual(['Feeds an axolotl']);
  });

  it('go with the answer that asked what they answer [D1a]', async () => {
    const { durable, proposals, waiting } = open();
    const question = 'Does Robert live near you?';
    await proposals.remember(work, { ...noticed('Two streets away'), question });
    await proposals.remember(work, { ...noticed('Near the sea'), question: 'Where?' });
    const answerId = messageId(2);
    const { before, ...gone } = withdrawnMessage(answerId);
    const answer = { role: 'assistant' as const, text: `Sorry. ${question}`, ids: [answerId], replyTo: [] };
    const messages = [{ ...gone, before: { ...before, ...answer } }];
    const cause = { kind: 'deleted', channelId: session.channelId, messageIds: [answerId] } as const;
    await durable.delete({ kind: 'messages', session, messages, cause });
    expect(await waiting()).toEqual(['Near the sea']);
  });
});
