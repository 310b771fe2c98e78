import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { expect } from 'vitest';

import { plainWrites } from '../../support/plain-writes.ts';
import { createDurableMemory } from '../../../src/memory/durable/durable-memory.ts';
import { proposalForMs } from '../../../src/memory/durable/remember-item.ts';
import { captureModes, type CaptureMode } from '../../../src/memory/settings/person-settings.ts';
import { createFileStore } from '../../../src/storage/files/store.ts';
import { aliceId, publicPlace } from '../../support/incoming.ts';
import { durableSettings } from '../../support/layer-settings.ts';
import { silent } from '../../support/sessions.ts';
import { forgettingFor } from '../../support/forgetting.ts';
import { ledgerFor } from '../../support/ledger.ts';
import { proposalsOver } from '../../support/undo.ts';
import { unconditional } from '../../../src/core/writes.ts';

const work = unconditional(aliceId);

/** A person who is asked first, in files; opened again over the same folder it is what a restart finds. */
export async function openProposals(folder: string, time: { now: number }) {
  const clock = () => new Date(time.now);
  const store = await createFileStore({
    dataDir: join(folder, 'data'),
    workspaceDir: join(folder, 'workspace'),
    clock,
    logger: silent,
  });
  const writes = plainWrites();
  const mode: { now: CaptureMode } = { now: 'ask' };
  const durable = createDurableMemory({
    settings: durableSettings,
    store,
    writes,
    forgetting: forgettingFor({
      store,
      clock,
      openLedger: () => ledgerFor(store, writes, []),
    }),
    clock,
    timeZone: 'UTC',
    logger: silent,
  });
  const proposals = proposalsOver({ durable, modeOf: () => Promise.resolve(mode.now) });
  await durable.expireItems(aliceId);
  return { store, durable, proposals, mode };
}

async function onDisk(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map((each) => readFile(join(each.parentPath, each.name), 'utf8')));
  return texts.join('\n');
}

export const anyStep = fc.oneof(
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
export async function live(steps: readonly Step[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-proposals-'));
  const time = { now: Date.parse('2026-01-15T12:00:00Z') };
  let memory = await openProposals(folder, time);
  /** By text when it was proposed; what is an item, and what was declined. */
  const waiting = new Map<string, number>();
  const [items, declined] = [new Set<string>(), new Set<string>()];
  let mode: CaptureMode = 'ask';
  let messages = 400_000_000_000_000_000n;
  for (const step of steps) {
    if (step.do === 'notice') {
      messages += 1n;
      const text = `Keeps canary${step.word}x`;
      const input = { text, place: publicPlace, messageId: String(messages), type: 'summary' } as const;
      const { outcome } = await memory.proposals.remember(work, input, step.saidIn);
      const known = declined.has(text) ? 'refused' : items.has(text) ? 'refreshed' : undefined;
      const isAsked = mode === 'ask' || step.saidIn === 'ask';
      expect(outcome).toBe(mode === 'off' ? 'refused' : (known ?? (isAsked ? 'proposed' : 'stored')));
      // What is stored answers the question.
      if (outcome === 'stored') {
        items.add(text);
        waiting.delete(text);
      }
      if (outcome === 'proposed' && !waiting.has(text)) waiting.set(text, time.now);
    } else if (step.do === 'mode') {
      mode = step.mode;
      memory.mode.now = mode;
    } else if (step.do === 'forget') {
      messages += 1n;
      const text = `Keeps canary${step.word}x`;
      await memory.durable.forget(work, `canary${step.word}x`, publicPlace, String(messages));
      waiting.delete(text);
      if (items.delete(text)) declined.add(text);
    } else if (step.do === 'pass') {
      time.now += step.days * 24 * 60 * 60_000;
      await memory.durable.expireItems(aliceId);
      for (const [text, at] of waiting) if (time.now - at >= proposalForMs) waiting.delete(text);
    } else if (step.do === 'restart') {
      await memory.store.close();
      memory = await openProposals(folder, time);
      memory.mode.now = mode;
    } else {
      const proposed = await memory.proposals.list(aliceId);
      const chosen = proposed[step.of];
      if (chosen === undefined) continue;
      if (step.do === 'accept') {
        const accepted = await memory.proposals.accept(work, chosen.id);
        expect(accepted).toMatchObject({ outcome: 'stored' });
        items.add(chosen.text);
      } else {
        expect(await memory.proposals.decline(work, chosen.id)).toBe(true);
        declined.add(chosen.text);
      }
      waiting.delete(chosen.text);
    }
    expect((await memory.proposals.list(aliceId)).map(({ text }) => text)).toEqual([...waiting.keys()]);
    expect((await memory.durable.list(aliceId)).map(({ text }) => text).toSorted()).toEqual(
      [...items].toSorted(),
    );
  }
  await memory.store.close();
  const held = await onDisk(folder);
  for (const word of [0, 1, 2, 3, 4, 5]) {
    const text = `Keeps canary${word}x`;
    expect([text, held.includes(text)]).toEqual([text, waiting.has(text) || items.has(text)]);
  }
  await rm(folder, { recursive: true });
}
