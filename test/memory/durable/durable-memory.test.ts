import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { NewerVersionError, StoreError } from '../../../src/core/errors.ts';
import { renderSection } from '../../../src/core/section.ts';
import type { DurableMemory } from '../../../src/memory/durable/durable-memory.ts';
import { session, withdrawnMessage } from '../../support/sessions.ts';
import { aliceId, bobId, createMemory, dev, dm, documentOf, item, turn, written } from './fixtures.ts';
import { beginningNow } from '../../../src/core/writes.ts';

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
  return memory.follow({ kind: 'withdrawn', session, messages, cause }, 'hide');
}

describe('the durable memory', () => {
  it('remembers, shows, forgets and brings back by its owner’s word', async () => {
    const setup = createMemory();
    const { memory } = setup;
    await memory.remember(beginningNow(aliceId), { ...said, text: 'Prefers Rust', kind: 'preference' });
    expect(await promptOf(setup, 'hi')).toContain(
      '- [preference] Prefers Rust (src: manual, #dev, updated 2026-01-15)',
    );
    const { forgotten } = await memory.forget(beginningNow(aliceId), 'rust', dev, '400000000000000002');
    expect(forgotten).toHaveLength(1);
    expect(await promptOf(setup, 'hi')).toBe('');
    const again = { ...said, text: 'prefers rust', messageId: '400000000000000003' };
    expect(await memory.remember(beginningNow(aliceId), { ...again, type: 'summary' })).toMatchObject({
      reason: 'forgotten',
    });
    expect(await memory.remember(beginningNow(aliceId), again)).toMatchObject({ outcome: 'revived' });
    expect(await memory.list(aliceId)).toHaveLength(1);
  });

  it('lists pinned items first, then the newest', async () => {
    const { memory, store } = createMemory();
    for (const text of ['one', 'two', 'three'])
      await memory.remember(beginningNow(aliceId), { ...said, text });
    const document = JSON.parse((await store.readText(`users/${aliceId}/durable.json`)) ?? '');
    document.items[0].pinned = true;
    await store.writeText(`users/${aliceId}/durable.json`, JSON.stringify(document));
    expect((await memory.list(aliceId)).map(({ text }) => text)).toEqual(['one', 'three', 'two']);
  });

  it('reads only the speaker’s own items', async () => {
    const setup = createMemory();
    await setup.memory.remember(beginningNow(aliceId), { ...said, text: 'Prefers Rust' });
    const bob = { id: bobId, name: 'Alice', isOwner: true };
    expect(await promptOf(setup, `<@${aliceId}> likes Rust`, { speaker: bob, place: dm })).toBe('');
  });

  it('keeps what was said in a DM out of a guild until its owner shares it', async () => {
    const setup = createMemory();
    const outcome = await setup.memory.remember(beginningNow(aliceId), {
      ...said,
      place: dm,
      text: 'Plays the cello',
    });
    const id = outcome.outcome === 'refused' ? '' : outcome.item.id;
    expect(await promptOf(setup, 'cello')).toBe('');
    expect(await setup.memory.setVisibility(beginningNow(aliceId), id, 'everywhere', dev)).toEqual({});
    expect(await setup.memory.setVisibility(beginningNow(aliceId), id, 'everywhere', dm)).toMatchObject({
      item: { id },
    });
    expect(await promptOf(setup, 'cello')).toContain('Plays the cello (src: manual, updated');
    await setup.memory.setVisibility(beginningNow(aliceId), id, 'dm', dev);
    expect(await promptOf(setup, 'cello')).toBe('');
  });

  it('does not write when it reads', async () => {
    const setup = createMemory();
    await setup.memory.remember(beginningNow(aliceId), { ...said, text: 'Prefers Rust' });
    const before = await written(setup.store);
    await promptOf(setup, 'Rust');
    await setup.memory.usage(aliceId, dev);
    await setup.memory.list(aliceId);
    expect(await written(setup.store)).toEqual(before);
  });

  it('keeps every item when many are remembered at once', async () => {
    const { memory } = createMemory();
    const texts = Array.from({ length: 50 }, (_, index) => `thing ${index}`);
    await Promise.all(texts.map((text) => memory.remember(beginningNow(aliceId), { ...said, text })));
    expect(new Set((await memory.list(aliceId)).map(({ text }) => text))).toEqual(new Set(texts));
  });

  it('keeps what people wrote into the file themselves', async () => {
    const { memory, store } = createMemory();
    const byHand = { version: 1, note: 'mine', items: [{ text: 'Plays the cello', colour: 'red' }] };
    await store.writeText(`users/${aliceId}/durable.json`, JSON.stringify(byHand));
    await memory.remember(beginningNow(aliceId), { ...said, text: 'Prefers Rust' });
    expect(await written(store)).toMatchObject({
      note: 'mine',
      items: [{ text: 'Plays the cello', colour: 'red', visibility: 'dm' }, { text: 'Prefers Rust' }],
    });
  });

  it('says how much of the budget is used where', async () => {
    const { memory } = createMemory({ injectMaxChars: 300 });
    expect(await memory.usage(aliceId, dev)).toEqual({ used: 0, budget: 300 });
    await memory.remember(beginningNow(aliceId), { ...said, text: 'Prefers Rust' });
    const { used } = await memory.usage(aliceId, dev);
    expect(used).toBe(renderSection((await memory.sections(turn('')))[0] ?? never()).length);
    for (const text of ['a', 'b', 'c'])
      await memory.remember(beginningNow(aliceId), { ...said, text: text.repeat(90) });
    expect(await memory.usage(aliceId, dev)).toEqual({ used: 300, budget: 300 });
  });
});

describe('what changed while a job was running [A4]', () => {
  const extracted = { ...said, type: 'summary', text: 'Works at Acme' } as const;

  it('wins: nothing said before a forget is stored after it', async () => {
    const { memory } = createMemory();
    await memory.forget(beginningNow(aliceId), 'Acme', dev, '400000000000000002');
    expect(await memory.remember(beginningNow(aliceId), extracted)).toEqual({
      outcome: 'refused',
      reason: 'forgotten',
    });
    expect(await memory.list(aliceId)).toEqual([]);
  });

  it('is looked at when nothing else can come in between', async () => {
    const { writes, memory } = createMemory();
    const remembered = memory.remember(beginningNow(aliceId), {
      ...extracted,
      stillStands: () => setImmediate(true),
    });
    const retracted = writes.run(beginningNow(aliceId), () => retract(memory, said.messageId));
    expect(await remembered).toMatchObject({ outcome: 'stored' });
    await retracted;
    expect(await memory.list(aliceId)).toEqual([]);
    const again = { ...extracted, text: 'Works at Initech', stillStands: () => Promise.resolve(false) };
    expect(await memory.remember(beginningNow(aliceId), again)).toMatchObject({ reason: 'forgotten' });
    expect(await memory.list(aliceId)).toEqual([]);
  });

  it('takes away what was extracted from a deleted message, not what was asked for', async () => {
    const { memory } = createMemory();
    await memory.remember(beginningNow(aliceId), { ...said, text: 'Prefers Rust' });
    await memory.remember(beginningNow(aliceId), extracted);
    await retract(memory, said.messageId, 'Hello. Works at Acme');
    expect(await memory.list(aliceId)).toHaveLength(2);
    await retract(memory, said.messageId);
    expect((await memory.list(aliceId)).map(({ text }) => text)).toEqual(['Prefers Rust']);
  });
});

describe('a store that refuses', () => {
  it('is reported to the caller, and the next change goes on', async () => {
    const { store, memory } = createMemory();
    const key = `users/${aliceId}/durable.json`;
    await store.writeText(key, JSON.stringify({ ...documentOf(item()), version: 99 }));
    await expect(memory.remember(beginningNow(aliceId), { ...said, text: 'x' })).rejects.toThrow(
      NewerVersionError,
    );
    await expect(memory.sections(turn('hi'))).rejects.toThrow(StoreError);
    expect(await written(store)).toMatchObject({ version: 99 });
    await store.remove(key);
    expect(await memory.remember(beginningNow(aliceId), { ...said, text: 'x' })).toMatchObject({
      outcome: 'stored',
    });
  });

  it('is not called for an invalid id', async () => {
    const { memory } = createMemory();
    await expect(memory.list('../../etc')).rejects.toThrow(RangeError);
    await expect(memory.remember(beginningNow('1/../2'), { ...said, text: 'x' })).rejects.toThrow(RangeError);
  });
});

function never(): never {
  throw new Error('There is no section');
}
