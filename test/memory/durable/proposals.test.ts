import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { aliceId, publicPlace } from '../../support/incoming.ts';
import { anyStep, live, openProposals } from './proposals-property.ts';
import { runs } from '../../support/runs.ts';
import { session, withdrawnMessage } from '../../support/sessions.ts';
import { unconditional } from '../../../src/core/writes.ts';
import { captureModes } from '../../../src/memory/settings/person-settings.ts';

const work = unconditional(aliceId);

describe('proposals [K9]', () => {
  it('become items only with a yes, leave the disk with a no or after seven days, and are never asked again after a no', async () => {
    const played = fc.assert(fc.asyncProperty(fc.array(anyStep, { maxLength: 14 }), live), {
      numRuns: runs(60),
    });
    await expect(played).resolves.toBeUndefined();
  });

  it('are made of all that was heard, in every mode that notices anything: nothing of it is ever stored at once [G7]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'discoclaw-proposals-'));
    const { store, durable, proposals, mode } = await openProposals(folder, { now: Date.now() });
    const noticed = fc.record({
      mode: fc.constantFrom(...captureModes),
      saidIn: fc.constantFrom(...captureModes),
      type: fc.constantFrom('discord' as const, 'summary' as const),
      count: fc.integer({ min: 0, max: 5 }),
    });
    const stored = fc.assert(
      fc.asyncProperty(noticed, async ({ mode: now, saidIn, type, count }) => {
        mode.now = now;
        const said = { text: `Keeps ${count} axolotls`, messageId: `40000000000000000${count}` };
        const input = { ...said, type, place: publicPlace, heard: true } as const;
        const { outcome } = await proposals.remember(work, input, saidIn);
        expect(outcome).toBe(now === 'off' ? 'refused' : 'proposed');
        expect(await durable.list(aliceId)).toEqual([]);
      }),
      { numRuns: runs(30) },
    );
    await expect(stored).resolves.toBeUndefined();
    mode.now = 'auto';
    const [{ id } = { id: '' }] = await proposals.list(aliceId);
    expect(await proposals.accept(work, id)).toMatchObject({
      item: { source: { heard: true } },
    });
    await store.close();
    await rm(folder, { recursive: true });
  });

  it('are at most three of one message [D3]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'discoclaw-proposals-'));
    const { store, proposals } = await openProposals(folder, { now: Date.now() });
    const said = { place: publicPlace, messageId: '400000000000000001', type: 'discord' } as const;
    for (let count = 0; count < 60; count += 1)
      await proposals.remember(work, { ...said, text: `Keeps ${count} bees` });
    expect(await proposals.list(aliceId)).toHaveLength(3);
    await store.close();
    await rm(folder, { recursive: true });
  });

  it('are for their person alone, and each is answered once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'discoclaw-proposals-'));
    const { store, proposals } = await openProposals(folder, { now: Date.now() });
    const messageId = '400000000000000001';
    await proposals.remember(work, {
      text: 'Keeps bees',
      place: publicPlace,
      messageId,
      type: 'summary',
    });
    const [{ id } = { id: '' }] = await proposals.list(aliceId);
    const bobId = '140000000000000009';
    expect(await proposals.accept(unconditional(bobId), id)).toBeUndefined();
    expect(await proposals.decline(unconditional(bobId), id)).toBe(false);
    expect(await proposals.accept(work, id)).toMatchObject({ outcome: 'stored' });
    expect(await proposals.accept(work, id)).toBeUndefined();
    await store.close();
    await rm(folder, { recursive: true });
  });

  it('that are accepted in other words are not made again in their first ones', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'discoclaw-proposals-'));
    const { store, proposals } = await openProposals(folder, { now: Date.now() });
    const [messageId, later] = ['400000000000000001', '400000000000000002'];
    const noticed = { text: 'Keeps an axolotl', place: publicPlace, messageId, type: 'summary' } as const;
    await proposals.remember(work, noticed);
    const [{ id } = { id: '' }] = await proposals.list(aliceId);
    const words = { text: 'Keeps two axolotls', place: publicPlace, messageId: later };
    expect(await proposals.accept(work, id, words)).toMatchObject({ outcome: 'stored' });
    // As after a kill, when the same turns are looked at once more.
    expect(await proposals.remember(work, noticed)).toMatchObject({ outcome: 'refused' });
    expect(await proposals.list(aliceId)).toEqual([]);
    await store.close();
    await rm(folder, { recursive: true });
  });

  it('go with the words that are purged, but for what was said after that [K11]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'discoclaw-proposals-'));
    const { store, durable, proposals } = await openProposals(folder, { now: Date.now() });
    const [before, commandId, after] = [1, 2, 3].map((count) => `40000000000000000${count}`);
    for (const [messageId = '', text] of [
      [before, 'Keeps an axolotl'],
      [after, 'Feeds an axolotl'],
    ])
      await proposals.remember(work, {
        text: text ?? '',
        place: publicPlace,
        messageId,
        type: 'summary',
      });
    const purged = { kind: 'words', userId: aliceId, words: 'axolotl', commandId: commandId ?? '' } as const;
    await durable.delete(purged);
    expect((await proposals.list(aliceId)).map(({ text }) => text)).toEqual(['Feeds an axolotl']);
    await store.close();
    await rm(folder, { recursive: true });
  });

  it('go with the answer that asked what they answer [D1a]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'discoclaw-proposals-'));
    const { store, durable, proposals, mode } = await openProposals(folder, { now: Date.now() });
    mode.now = 'ask';
    const answered = { place: publicPlace, messageId: '400000000000000003', type: 'summary' } as const;
    const question = 'Does Robert live near you?';
    await proposals.remember(work, { ...answered, text: 'Two streets away', question });
    await proposals.remember(work, {
      ...answered,
      text: 'Near the sea',
      question: 'Where?',
    });
    const answerId = '400000000000000002';
    const { before, ...gone } = withdrawnMessage(answerId);
    const role = 'assistant' as const;
    const asking = { ...before, role, text: `Sorry. ${question}`, ids: [answerId], replyTo: [] };
    const messages = [{ ...gone, before: asking }];
    const cause = { kind: 'deleted', channelId: session.channelId, messageIds: [answerId] } as const;
    await durable.delete({ kind: 'messages', session, messages, cause });
    expect((await proposals.list(aliceId)).map(({ text }) => text)).toEqual(['Near the sea']);
    await store.close();
    await rm(folder, { recursive: true });
  });
});
