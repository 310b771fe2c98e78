import { describe, expect, it, vi } from 'vitest';

import { readConfig } from '../../src/config/config.ts';
import { StoreError } from '../../src/core/errors.ts';
import { noUsage, type ModelRequest } from '../../src/core/model.ts';
import type { Place } from '../../src/core/place.ts';
import { sessionWorkOf, type TurnContext } from '../../src/core/turn-context.ts';
import { unconditional } from '../../src/core/writes.ts';
import { undoForMs } from '../../src/memory/undo.ts';
import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { layersAlone } from '../support/layers-alone.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { dmPlace, messageId, silent, startTime } from '../support/sessions.ts';

const work = unconditional(aliceId);
const { signal } = new AbortController();
const notebook = `users/${aliceId}/notebook`;
const overview = `sessions/${dmPlace.channelId}/${aliceId}/overview.md`;

/** What the model writes of a conversation: what was said in it. */
function summaryOf(request: ModelRequest): string {
  const said = JSON.stringify(request.messages).match(/(?:I keep|I play|My) \w+/gu) ?? [];
  return JSON.stringify({ summary: `Alice said: ${said.join(', ')}.` });
}

/** A person's memory as a process has it. Opened over the same store it is what a start makes of it. */
function open(store: MemoryStore, time: { now: number }, isOwner = false) {
  const { config } = readConfig({
    DISCOCLAW_TIMEZONE: 'UTC',
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
    DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
  });
  const memory = layersAlone(config, {
    store,
    channels: { placeOf: (id) => Promise.resolve(id === dmPlace.channelId ? dmPlace : publicPlace) },
    clock: () => new Date(time.now),
    logger: silent,
    model: {
      isOffline: false,
      complete: (request) =>
        Promise.resolve({
          content: [{ type: 'text', text: summaryOf(request) }],
          stop: 'end',
          usage: noUsage,
        }),
    },
  });
  return { store, time, isOwner, ...memory };
}

type Memory = ReturnType<typeof open>;

let newest = 0;

function contextOf({ time, isOwner }: Memory, text: string, place: Place = dmPlace): TurnContext {
  newest += 1;
  time.now += 1000;
  const at = new Date(time.now).toISOString();
  return {
    speaker: { id: aliceId, name: 'Alice', isOwner },
    place,
    messages: [{ id: messageId(newest), text, at, attachments: [] }],
    now: new Date(time.now),
    hasThirdPartyText: false,
    work,
  };
}

/** A turn, with what each layer makes of it. */
async function say(memory: Memory, text: string, answer: string, place?: Place): Promise<string> {
  const context = contextOf(memory, text, place);
  await memory.sessionLog.recordUser(context);
  newest += 1;
  const { at = '' } = context.messages[0] ?? {};
  await memory.sessionLog.recordReply(context, { ids: [messageId(newest)], text: answer, at });
  for (const layer of memory.layers) await layer.fold?.(aliceId, [sessionWorkOf(context)], signal);
  return context.messages[0]?.id ?? '';
}

async function runTool(
  memory: Memory,
  name: string,
  input: object,
  context = contextOf(memory, 'Please.'),
): Promise<string> {
  const tool = memory.tools.find(({ definition }) => definition.name === name);
  return (await tool?.run(input, context, signal))?.text ?? '';
}

/**
 * Everything that can hold words holds those of somebody's pets: items with what they said before, what waits for a yes, log,
 * exchanges, summaries, notes by hand and by a model.
 */
async function talk(memory: Memory): Promise<void> {
  const inPrivate = await say(memory, 'I keep axolotls. Axolotls like the cold.', 'Axolotls, nice.');
  const inPublic = await say(memory, 'My axolotls eat worms', 'Axolotls do.', publicPlace);
  const from = { place: dmPlace, messageId: inPrivate, type: 'discord' } as const;
  const stored = await memory.durable.remember(work, { ...from, text: 'I keep axolotls.' });
  const { id } = 'item' in stored ? stored.item : { id: '' };
  await memory.durable.edit(work, id, 'I keep two axolotls', dmPlace, messageId((newest += 1)));
  await memory.durable.propose(work, { ...from, text: 'Axolotls like the cold.' });
  await memory.durable.remember(work, {
    text: 'My axolotls eat worms',
    place: publicPlace,
    messageId: inPublic,
    type: 'discord',
  });
  await say(memory, 'I play the bassoon', 'A bassoon!');
  await memory.store.writeText(overview, '## Known Context\n\n- Axolotls like the cold\n- A bassoon\n');
  await memory.store.writeText(
    `${notebook}/topics/pets.md`,
    '# Pets\n\n- Axolotls\n- I keep axolotls\n- Tea is nice\n',
  );
  const byModel = { path: 'facts/pets.md', entry: '- I keep axolotls', summary: 'What lives here' };
  const asking = contextOf(memory, 'Please.');
  await memory.sessionLog.recordUser(asking);
  await runTool(memory, 'memory_append', byModel, asking);
}

/** What tells of it: sections of prompts, tools, lists. */
async function told(memory: Memory): Promise<string> {
  const sections = await Promise.all(
    memory.layers.map((layer) => layer.sections(contextOf(memory, 'Axolotls?'))),
  );
  return JSON.stringify([
    sections,
    await runTool(memory, 'recall_memory', { query: 'axolotls' }),
    await runTool(memory, 'memory_read', { path: 'topics/pets.md' }),
    await runTool(memory, 'memory_read', { path: 'facts/pets.md' }),
    await memory.durable.list(aliceId),
    await memory.proposals.list(aliceId),
  ]).replaceAll(/for: \\+"axolotls/gu, '');
}

describe('what is forgotten, wherever it stands', () => {
  const saying = /axolotl/iu;

  it.each([
    ['at once', 0, false],
    ['at once, after a start', 0, true],
    ['a second before it is too late', undoForMs - 30_000, false],
    ['a second before it is too late, after a start', undoForMs - 30_000, true],
  ])(
    'is told by nothing, and back byte for byte when it is undone %s [F5][K4][K5]',
    async (_, ms, isAfterStart) => {
      let memory = open(new MemoryStore(), { now: startTime });
      await talk(memory);
      expect(await told(memory)).toMatch(saying);
      const before = await memory.store.everything();
      const { undoId } = await memory.durable.forget(work, 'axolotls', dmPlace, messageId((newest += 1)));
      expect(await told(memory)).not.toMatch(saying);
      memory.time.now += ms;
      if (isAfterStart) {
        memory = open(memory.store, memory.time);
        await memory.changes.finish();
      }
      expect(await told(memory)).not.toMatch(saying);
      expect(await memory.durable.undo(work, undoId)).toMatchObject({ isDone: true });
      expect(await memory.store.everything()).toBe(before);
      expect(await told(memory)).toMatch(saying);
    },
  );

  it.each([false, true])(
    'is in no file once it can be undone no more, after a start (%s) [S7]',
    async (isAfterStart) => {
      let memory = open(new MemoryStore(), { now: startTime });
      await talk(memory);
      await memory.durable.forget(work, 'axolotls', dmPlace, messageId((newest += 1)));
      memory.time.now += undoForMs + 1000;
      if (isAfterStart) memory = open(memory.store, memory.time);
      await memory.changes.finishFor(aliceId);
      expect(await memory.durable.undo(work)).not.toMatchObject({ what: 'forget' });
      const left = await memory.store.everything();
      expect(left).not.toMatch(saying);
      expect(left).toContain('Tea is nice');
      expect(left).toContain('bassoon');
    },
  );

  it('shows nothing again where a full disk keeps it from being deleted in time [F5]', async () => {
    const memory = open(new MemoryStore(), { now: startTime });
    await talk(memory);
    await memory.durable.forget(work, 'axolotls', dmPlace, messageId((newest += 1)));
    const { store } = memory;
    const refusing = (['update', 'rewrite', 'writeText'] as const).map((method) =>
      vi.spyOn(store, method).mockRejectedValue(new StoreError('No space is left', 'users')),
    );
    memory.time.now += undoForMs + 1000;
    await memory.changes.finishFor(aliceId).catch(() => undefined);
    expect(await told(memory)).not.toMatch(saying);
    expect(await memory.durable.undo(work).catch(() => undefined)).not.toMatchObject({ isDone: true });
    for (const each of refusing) each.mockRestore();
    await memory.changes.finishFor(aliceId);
    expect(await told(memory)).not.toMatch(saying);
    expect(await store.everything()).not.toMatch(saying);
  });

  it('is final by itself where something else was forgotten later, which comes back [K5]', async () => {
    const memory = open(new MemoryStore(), { now: startTime });
    await talk(memory);
    const bassoon = { place: dmPlace, messageId: messageId(newest - 2), type: 'discord' } as const;
    await memory.durable.remember(work, { ...bassoon, text: 'I play the bassoon' });
    await memory.durable.forget(work, 'axolotls', dmPlace, messageId((newest += 1)));
    memory.time.now += undoForMs - 60_000;
    const { undoId } = await memory.durable.forget(work, 'bassoon', dmPlace, messageId((newest += 1)));
    memory.time.now += 120_000;
    await memory.changes.finishFor(aliceId);
    expect(await told(memory)).not.toMatch(/bassoon/u);
    expect(await memory.store.everything()).not.toMatch(saying);
    await memory.durable.undo(work, undoId);
    expect(await told(memory)).toContain('I play the bassoon');
  });

  it('is withheld from all owners in the notes that they share, until it is undone [N1]', async () => {
    const memory = open(new MemoryStore(), { now: startTime }, true);
    const note = 'workspace/memory/2026-01-10.md';
    const text = '- I keep axolotls\n- Tea is nice\n';
    await talk(memory);
    await memory.store.writeText(note, text);
    const owner = contextOf(memory, 'Please.');
    const read = (context: TurnContext) =>
      runTool(memory, 'memory_read', { path: 'daily/2026-01-10.md' }, context);
    const other = { ...owner, speaker: { id: bobId, name: 'Bob', isOwner: true } };
    expect(await read(other)).toMatch(saying);
    const { undoId } = await memory.durable.forget(work, 'axolotls', dmPlace, messageId((newest += 1)));
    expect(await read(owner)).not.toMatch(saying);
    expect(await read(other)).not.toMatch(saying);
    await memory.durable.undo(work, undoId);
    expect(await read(other)).toMatch(saying);
    expect(await memory.store.readText(note)).toBe(text);
  });
});
