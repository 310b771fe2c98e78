import { describe, expect, it } from 'vitest';

import { readConfig } from '../../src/config/config.ts';
import { StoreError } from '../../src/core/errors.ts';
import { noUsage } from '../../src/core/model.ts';
import { unconditional } from '../../src/core/writes.ts';
import type { TurnContext } from '../../src/core/turn-context.ts';
import { remindersOf } from '../../src/memory/reminders/reminders.ts';
import { undoForMs } from '../../src/memory/undo.ts';
import { withWithheldLines } from '../../src/memory/withheld.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { layersAlone } from '../support/layers-alone.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { dmPlace, messageId, silent, startTime } from '../support/sessions.ts';

const { signal } = new AbortController();
const work = unconditional(aliceId);
const hourMs = 60 * 60_000;
const note = `users/${aliceId}/notebook/topics/pets.md`;

/** A person's memory as the bot has it, whose clock a test moves. */
function open(store = new MemoryStore()) {
  const time = { now: startTime };
  /** Whose work is looked at from now on. */
  const wakes: string[] = [];
  const { config } = readConfig({ DISCOCLAW_TIMEZONE: 'UTC', DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1' });
  const memory = layersAlone(config, {
    store,
    channels: { placeOf: () => Promise.resolve(dmPlace) },
    clock: () => new Date(time.now),
    expireAt: async (id) => void wakes.push(id),
    logger: silent,
    model: {
      isOffline: false,
      complete: (request) => {
        const said = JSON.stringify(request.messages).match(/I keep \w+/gu);
        const text = JSON.stringify({ summary: `Said: ${said?.join(', ')}` });
        return Promise.resolve({
          content: [{ type: 'text', text }],
          stop: 'end',
          usage: noUsage,
        });
      },
    },
  });
  let newest = 0;

  function contextOf(text = '', place = dmPlace): TurnContext {
    newest += 1;
    time.now += 1000;
    return {
      speaker: { id: aliceId, name: 'Alice', isOwner: false },
      place,
      messages: [{ id: messageId(newest), text, at: new Date(time.now).toISOString(), attachments: [] }],
      now: new Date(time.now),
      hasThirdPartyText: false,
      work,
    };
  }

  async function say(text: string, answer = 'I see.', place = dmPlace): Promise<string> {
    const context = contextOf(text, place);
    await memory.sessionLog.recordUser(context);
    newest += 1;
    const at = new Date(time.now).toISOString();
    await memory.sessionLog.recordReply(context, { ids: [messageId(newest)], text: answer, at });
    return context.messages[0]?.id ?? '';
  }

  async function notice(text: string, from: string): Promise<string> {
    const stored = await memory.durable.remember(work, {
      text,
      place: dmPlace,
      messageId: from,
      type: 'discord',
    });
    return stored.outcome === 'refused' ? stored.reason : stored.item.id;
  }

  const forget = (target: string) => memory.durable.forget(work, target, dmPlace, messageId((newest += 1)));
  const said = async () =>
    (await memory.sessionLog.since({ channelId: dmPlace.channelId, userId: aliceId }, 0)).messages.map(
      ({ message }) => message.text,
    );
  const items = async () => (await memory.durable.list(aliceId)).map(({ text }) => text);

  async function tool(name: string, input: object): Promise<string> {
    const found = memory.tools.find(({ definition }) => definition.name === name);
    const context = contextOf('Please.');
    await memory.sessionLog.recordUser(context);
    return (await found?.run(input, context, signal))?.text ?? '';
  }

  /** Ten minutes pass. */
  async function finish(): Promise<void> {
    time.now += undoForMs;
    await memory.changes.finishFor(aliceId);
  }

  /** In an hour. */
  const remind = (what: string, from: string) =>
    memory.reminders.set(work, {
      text: what,
      at: new Date(time.now + hourMs),
      place: dmPlace,
      messageId: from,
    });
  const reminded = async () => (await memory.reminders.list(aliceId)).map(({ text }) => text);

  const reminding = { remind, reminded, wakes };
  return { store, memory, time, contextOf, say, notice, forget, said, items, tool, finish, ...reminding };
}

describe('a reminder whose message is forgotten [RM7]', () => {
  it('that fell due meanwhile comes after undo, also in plain words [K13]', async () => {
    const { memory, time, wakes, say, notice, forget, tool, remind } = open();
    const id = await say('Feed the axolotls in an hour');
    await notice('Feed the axolotls in an hour', id);
    await remind('Feed the axolotls', id);
    time.now += hourMs - 1000;
    await forget('axolotls');
    time.now += 2000;
    expect(await memory.reminders.due(aliceId)).toEqual([]);
    wakes.length = 0;
    expect(await tool('memory_control', { action: 'undo' })).toContain('Undone');
    expect(wakes).toContain(remindersOf(aliceId));
  });

  it('stays where only another sentence of it is [K4]', async () => {
    const { say, notice, forget, remind, reminded, finish } = open();
    const id = await say('I keep axolotls. I play the bassoon. Call mum in an hour.');
    await notice('I keep axolotls.', id);
    await notice('I play the bassoon.', id);
    await remind('Call mum', id);
    await remind('I keep axolotls', id);
    await forget('axolotls');
    expect(await reminded()).toEqual(['Call mum']);
    await finish();
    expect(await reminded()).toEqual(['Call mum']);
  });

  it('is imported again [K5]', async () => {
    const { memory, say, notice, forget, remind } = open();
    const id = await say('Feed the axolotls');
    await notice('Feed the axolotls', id);
    const reminder = await remind('Feed the axolotls', id);
    await forget('axolotls');
    expect(await memory.reminders.stillToCome(aliceId, [reminder])).toHaveLength(1);
  });
});

describe('what is forgotten [F5]', () => {
  it('comes back byte for byte, the person’s own lines in the notebook too [K5]', async () => {
    const { store, memory, say, notice, forget, tool } = open();
    await notice('I keep axolotls', await say('I keep axolotls', 'Axolotls, nice.'));
    await store.writeText(note, '# Pets\n\n- Axolotls: mine, two of them\n- Axolotls\n- Tea is nice\n');
    const before = await store.readText(note);
    const { undoId } = await forget('axolotls');
    expect(await tool('memory_read', { path: 'topics/pets.md' })).not.toMatch(/\n- Axolotls\n/u);
    expect(await tool('memory_read', { path: 'topics/pets.md' })).toContain('Tea is nice');
    expect(await memory.durable.undo(work, undoId)).toMatchObject({ isDone: true });
    expect(await store.readText(note)).toBe(before);
    expect(await tool('memory_read', { path: 'topics/pets.md' })).toContain('\n- Axolotls\n');
  });

  it('is deleted ten minutes later, and leaves no word', async () => {
    const { store, say, notice, forget, finish } = open();
    await notice('I keep axolotls', await say('I keep axolotls', 'Axolotls, nice.'));
    await store.writeText(note, '# Pets\n\n- Axolotls\n- Tea is nice\n');
    await forget('axolotls');
    await finish();
    expect(await store.everything()).not.toMatch(/axolotl/iu);
    expect(await store.readText(note)).toContain('Tea is nice');
  });

  it('of a message with another item in it takes only its own sentence [K4]', async () => {
    const { store, say, notice, forget, said, items, finish } = open();
    const id = await say('I keep axolotls. I play the bassoon.', 'A bassoon!');
    await notice('I keep axolotls.', id);
    await notice('I play the bassoon.', id);
    await forget('axolotls');
    expect(await said()).toEqual(['I play the bassoon.', 'A bassoon!']);
    expect(await items()).toEqual(['I play the bassoon.']);
    await finish();
    expect(await said()).toEqual(['I play the bassoon.', 'A bassoon!']);
    expect(await items()).toEqual(['I play the bassoon.']);
    expect(await store.everything()).not.toContain('axolotl');
  });

  it('is undone in one order with changes of items and notes, the newest first [K5]', async () => {
    const { memory, store, time, say, notice, forget, items, tool } = open();
    await notice('I keep axolotls', await say('I keep axolotls'));
    time.now += 1000;
    await tool('memory_write', { path: 'topics/tea.md', content: '# Tea\n\nTea is nice\n' });
    time.now += 1000;
    await forget('axolotls');
    const undo = async () => (await memory.durable.undo(work))?.what;
    expect(await undo()).toBe('forget');
    expect(await items()).toEqual(['I keep axolotls']);
    expect(await undo()).toBe('note');
    expect(await store.list(`users/${aliceId}/notebook/topics`)).toEqual([]);
    expect(await undo()).toBe('remember');
    expect(await items()).toEqual([]);
    expect(await undo()).toBeUndefined();
  });

  it('does not come back by undoing a change from before, which can be undone once it is back', async () => {
    const { memory, say, notice, forget, items } = open();
    const itemId = await notice('I keep axolotls', await say('I keep axolotls'));
    const edited = await memory.durable.edit(work, itemId, 'I keep newts', dmPlace, messageId(900));
    const undoId = 'undoId' in edited ? edited.undoId : undefined;
    await forget('newts');
    expect(await memory.durable.undo(work, undoId)).toMatchObject({ what: 'edit', isDone: false });
    expect(await items()).toEqual([]);
    await memory.durable.undo(work);
    expect(await memory.durable.undo(work, undoId)).toMatchObject({ what: 'edit', isDone: true });
    expect(await items()).toEqual(['I keep axolotls']);
  });

  it('does not come back by undoing what was said again, once it is final', async () => {
    const { memory, store, time, say, notice, forget, items, finish } = open();
    await notice('I keep axolotls', await say('I keep axolotls', 'Nice.'));
    await forget('axolotls');
    time.now += undoForMs - 60_000;
    const again = {
      text: 'I keep AXOLOTLS',
      place: dmPlace,
      messageId: messageId(900),
      type: 'manual',
    } as const;
    await memory.durable.remember(work, again);
    time.now -= undoForMs - 60_000;
    await finish();
    expect(await store.everything()).not.toContain('axolotls');
    expect(await memory.durable.undo(work)).toBeUndefined();
    expect(await items()).toEqual(['I keep AXOLOTLS']);
  });

  it('covers a proposal too, which waits again after undo [K9]', async () => {
    const { memory, store, say, forget, notice, finish } = open();
    const from = await say('I keep axolotls. Axolotls like the cold.');
    await notice('I keep axolotls.', from);
    const waits = {
      text: 'Axolotls like the cold.',
      place: dmPlace,
      messageId: from,
      type: 'summary',
    } as const;
    await memory.durable.propose(work, waits);
    const waiting = async () => (await memory.proposals.list(aliceId)).map(({ text }) => text);
    await forget('axolotls');
    expect(await waiting()).toEqual([]);
    await memory.durable.undo(work);
    expect(await waiting()).toEqual(['Axolotls like the cold.']);
    await forget('axolotls');
    await finish();
    expect(await store.everything()).not.toMatch(/axolotls/iu);
  });

  it('comes back no more after a purge [K11], not even in part where the disk came between', async () => {
    const { memory, store, say, notice, forget, items } = open();
    await notice('I keep axolotls', await say('I keep axolotls', 'Nice.'));
    await forget('axolotls');
    store.rewrite = () => Promise.reject(new StoreError('full', 'log'));
    await memory.changes.purge({ userId: aliceId, words: 'bassoon', commandId: messageId(900) });
    await memory.changes.finishFor(aliceId);
    expect(await memory.durable.undo(work)).toBeUndefined();
    expect(await items()).toEqual([]);
    Reflect.deleteProperty(store, 'rewrite');
    await memory.changes.finishFor(aliceId);
    expect(await store.everything()).not.toContain('axolotls');
  });

  it('comes back up to the newest fifty times, and the rest is deleted before its time [L3]', async () => {
    const { memory, store, notice, forget } = open();
    const animals = Array.from({ length: 53 }, (_, at) => `animal${at}`);
    for (const [at, animal] of animals.entries()) await notice(`I keep ${animal}s`, messageId(500 + at));
    for (const animal of animals) await forget(`I keep ${animal}s`);
    await memory.changes.finishFor(aliceId);
    expect(await memory.changes.recordsOf(aliceId)).toHaveLength(50);
    for (let count = 0; count < 50; count += 1) await memory.durable.undo(work);
    expect((await memory.durable.list(aliceId)).map(({ text }) => text)).not.toContain('I keep animal2s');
    expect(await store.everything()).toContain('I keep animal3s');
  });

  it('is imported again just as it was: it is said again, and its messages stay withheld', async () => {
    const { memory, say, notice, forget, said, items, finish } = open();
    await notice('I keep axolotls', await say('I keep axolotls'));
    const exported = await memory.durable.list(aliceId);
    await forget('axolotls');
    await memory.durable.rememberAll(work, exported);
    expect(await items()).toEqual(['I keep axolotls']);
    expect(await said()).toEqual([]);
    await finish();
    expect(await items()).toEqual(['I keep axolotls']);
  });

  it('stands in the export as forgotten, with the moment at which it goes, and nowhere else in it [K10]', async () => {
    const { memory, store, say, notice, forget, remind } = open();
    const id = await say('I keep axolotls');
    await notice('I keep axolotls', id);
    await remind('Feed the axolotls', id);
    await store.writeText(note, '# Pets\n\n- Axolotls\n- Tea is nice\n');
    await forget('axolotls');
    const files: { path: string; text: string }[] = [];
    for (const layer of memory.layers) for await (const file of layer.export(aliceId)) files.push(file);
    const saying = files.filter(({ text }) => /axolotl/iu.test(text));
    expect(saying.map(({ path }) => path.replace(/\w+\.json/u, ''))).toEqual(['forgotten/', 'forgotten/']);
    expect(saying[0]?.text).toMatch(/"goesAt": "2026-01-15T10:10/u);
    expect(saying[0]?.text).toContain('- Axolotls');
  });
});

describe('work on a conversation in which something is withheld', () => {
  it('waits, as long as that can be undone', async () => {
    const { memory, time, say, notice, forget } = open();
    const isWaitedFor = (channelId: string) => memory.forgetting.isWaitedFor({ userId: aliceId, channelId });
    await notice('I keep axolotls', await say('I keep axolotls'));
    expect(await isWaitedFor(dmPlace.channelId)).toBe(false);
    await forget('axolotls');
    expect(await isWaitedFor(dmPlace.channelId)).toBe(true);
    expect(await isWaitedFor(publicPlace.channelId)).toBe(false);
    time.now += undoForMs;
    expect(await isWaitedFor(dmPlace.channelId)).toBe(false);
  });

  it('shows the summary from before meanwhile, or none', async () => {
    const { memory, time, say, notice, forget, contextOf } = open();
    const session = { ...work, channelId: dmPlace.channelId };
    const summary = () => memory.rolling.show(session, dmPlace, aliceId);
    await say('I keep bees');
    await memory.rolling.updateIfDue(session);
    expect(await summary()).toContain('bees');
    await notice('I keep axolotls', await say('I keep axolotls'));
    await memory.rolling.updateIfDue(session);
    expect(await summary()).toContain('axolotls');
    const { undoId } = await forget('axolotls');
    expect(await summary()).toBe('Said: I keep bees');
    expect(JSON.stringify(await memory.rolling.sections(contextOf()))).not.toContain('axolotls');
    await memory.durable.undo(work, undoId);
    expect(await summary()).toContain('axolotls');
    await forget('axolotls');
    time.now += undoForMs;
    await memory.changes.finishFor(aliceId);
    expect(await summary()).toBe('Said: I keep bees');
  });
});

describe('a note with lines that are withheld', () => {
  const lines = ['# Pets', '', '- Axolotls', '- Tea is nice', '- Cake too', ''].join('\n');

  async function openWithheld() {
    const opened = open();
    await opened.notice('I keep axolotls', await opened.say('I keep axolotls'));
    await opened.store.writeText(note, lines);
    const { undoId } = await opened.forget('axolotls');
    return { ...opened, undo: () => opened.memory.durable.undo(work, undoId) };
  }

  it('keeps them behind the line they stood behind when it is written', async () => {
    const { store, tool, undo } = await openWithheld();
    await tool('memory_read', { path: 'topics/pets.md' });
    await tool('memory_patch', {
      path: 'topics/pets.md',
      patches: [{ oldText: '- Tea is nice', newText: '- Tea is very nice' }],
    });
    expect(await store.readText(note)).toBe(lines.replace('Tea is nice', 'Tea is very nice'));
    await undo();
    expect(await tool('memory_read', { path: 'topics/pets.md' })).toContain('- Axolotls');
  });

  it('refuses a patch of one', async () => {
    const { store, tool } = await openWithheld();
    const patches = [{ oldText: '- Axolotls', newText: '- Newts' }];
    expect(await tool('memory_patch', { path: 'topics/pets.md', patches })).toContain('Nothing was written');
    expect(await store.readText(note)).toBe(lines);
  });

  it('has lost one that somebody took out in an editor', async () => {
    const { store, tool, undo } = await openWithheld();
    await store.writeText(note, lines.replace('- Axolotls\n', ''));
    await undo();
    expect(await tool('memory_read', { path: 'topics/pets.md' })).not.toContain('Axolotls');
  });

  it.each([
    ['unchanged', 'a\nb\nc', 'a\nc', 'a\nb\nc'],
    ['with the line before it gone', 'a\nb\nc', 'c', 'c\nb'],
    ['at the beginning', 'b\na', 'x\na', 'b\nx\na'],
    ['emptied', 'a\nb', '', 'b\n'],
  ])('puts back each where it belongs: %s', (_name, before, after, whole) => {
    expect(withWithheldLines(before, after, (line) => line === 'b')).toBe(whole);
  });
});
