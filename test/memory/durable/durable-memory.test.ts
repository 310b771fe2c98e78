import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { NewerVersionError, StoreError } from '../../../src/core/errors.ts';
import { renderSection } from '../../../src/core/section.ts';
import type { DurableMemory } from '../../../src/memory/durable/durable-memory.ts';
import { session, withdrawnMessage } from '../../support/sessions.ts';
import { aliceId, createMemory, dev, documentOf, item, turn, written } from './fixtures.ts';
import { unconditional } from '../../../src/core/writes.ts';

const work = unconditional(aliceId);

const said = { place: dev, messageId: '400000000000000001', type: 'manual' } as const;

async function promptOf(
  { memory }: ReturnType<typeof createMemory>,
  ...of: Parameters<typeof turn>
): Promise<string> {
  return (await memory.sections(turn(...of))).map(renderSection).join('');
}

/** Has the items follow a message that was deleted, or edited to `now`. */
function retract(memory: DurableMemory, id: string, now?: string): Promise<void> {
  const messages = [{ ...withdrawnMessage(id), now }];
  const { channelId } = session;
  const cause =
    now === undefined
      ? ({ kind: 'deleted', channelId, messageIds: [id] } as const)
      : ({ kind: 'edited', channelId, messageId: id, text: now } as const);
  return memory.delete({ kind: 'messages', session, messages, cause });
}

describe('the durable memory', () => {
  it('does not write when it reads', async () => {
    const setup = createMemory();
    await setup.memory.remember(work, { ...said, text: 'Prefers Rust' });
    const before = await written(setup.store);
    await promptOf(setup, 'Rust');
    await setup.memory.usage(aliceId, dev);
    await setup.memory.list(aliceId);
    expect(await written(setup.store)).toEqual(before);
  });

  it('says how much of the budget is used where', async () => {
    const { memory } = createMemory({ injectMaxChars: 300 });
    expect(await memory.usage(aliceId, dev)).toEqual({ used: 0, budget: 300 });
    await memory.remember(work, { ...said, text: 'Prefers Rust' });
    const { used } = await memory.usage(aliceId, dev);
    expect(used).toBe(renderSection((await memory.sections(turn('')))[0] ?? never()).length);
    for (const text of ['a', 'b', 'c']) await memory.remember(work, { ...said, text: text.repeat(90) });
    expect(await memory.usage(aliceId, dev)).toEqual({ used: 300, budget: 300 });
  });
});

describe('what changed while a job was running [A4]', () => {
  const extracted = { ...said, type: 'summary', text: 'Works at Acme' } as const;

  it('is looked at when nothing else can come in between', async () => {
    const { writes, memory } = createMemory();
    const remembered = memory.remember(work, {
      ...extracted,
      stillStands: () => setImmediate(true),
    });
    const retracted = writes.run(work, () => retract(memory, said.messageId));
    expect(await remembered).toMatchObject({ outcome: 'stored' });
    await retracted;
    expect(await memory.list(aliceId)).toEqual([]);
    const again = { ...extracted, text: 'Works at Initech', stillStands: () => Promise.resolve(false) };
    expect(await memory.remember(work, again)).toMatchObject({ reason: 'forgotten' });
    expect(await memory.list(aliceId)).toEqual([]);
  });
});

describe('a store that refuses', () => {
  it('is reported to the caller, and the next change goes on', async () => {
    const { store, memory } = createMemory();
    const key = `users/${aliceId}/durable.json`;
    await store.writeText(key, JSON.stringify({ ...documentOf(item()), version: 99 }));
    await expect(memory.remember(work, { ...said, text: 'x' })).rejects.toThrow(NewerVersionError);
    await expect(memory.sections(turn('hi'))).rejects.toThrow(StoreError);
    expect(await written(store)).toMatchObject({ version: 99 });
    await store.remove(key);
    expect(await memory.remember(work, { ...said, text: 'x' })).toMatchObject({
      outcome: 'stored',
    });
  });
});

function never(): never {
  throw new Error('There is no section');
}
