import { describe, expect, it } from 'vitest';

import { readConfig } from '../../src/config/config.ts';
import { noUsage } from '../../src/core/model.ts';
import type { Place } from '../../src/core/place.ts';
import { renderSection } from '../../src/core/section.ts';
import { sessionOf, sessionWorkOf, type TurnContext } from '../../src/core/turn-context.ts';
import { unconditional } from '../../src/core/writes.ts';
import { aliceId, bobId, generalId, publicPlace } from '../support/incoming.ts';
import { layersAlone } from '../support/layers-alone.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { inputOf } from '../support/scripted-model.ts';
import { channel, messageId, silent, startTime } from '../support/sessions.ts';

const { signal } = new AbortController();
const dev = channel('dev', '200000000000000002');
/** Words that stand nowhere else; each is said once: Alice's in two channels, Bob's in one. */
const words = { general: 'axolotl', dev: 'bassoon', bob: 'cockatoo' } as const;

/** All layers of the bot, each of which has taken in what was said. */
async function open(layerName: string) {
  const store = new MemoryStore();
  const { config } = readConfig({
    DISCOCLAW_TIMEZONE: 'UTC',
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
    DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
  });
  const memory = layersAlone(config, {
    store,
    channels: { placeOf: async (id) => (id === generalId ? publicPlace : dev) },
    clock: () => new Date(startTime),
    logger: silent,
    model: {
      isOffline: false,
      async complete(request) {
        const said = inputOf(request).match(/I breed \w+/gu);
        const text = JSON.stringify({ summary: `Said: ${said?.join()}` });
        return { content: [{ type: 'text', text }], stop: 'end', usage: noUsage };
      },
    },
  });
  const layer = memory.layers.find(({ name }) => name === layerName) ?? memory.sessionLog;
  let newest = 0;

  function turnOf(userId: string, place: Place, text: string): TurnContext {
    const now = new Date(startTime);
    newest += 1;
    return {
      speaker: { id: userId, name: userId === aliceId ? 'Alice' : 'Bob', isOwner: false },
      place,
      messages: [{ id: messageId(newest), text, at: now.toISOString(), attachments: [] }],
      now,
      hasThirdPartyText: false,
      work: unconditional(userId),
    };
  }

  async function feed(userId: string, place: Place, word: string): Promise<string> {
    const turn = turnOf(userId, place, `I breed ${word} animals`);
    const [{ id, text } = { id: '', text: '' }] = turn.messages;
    await memory.sessionLog.recordUser(turn);
    newest += 1;
    const at = turn.now.toISOString();
    await memory.sessionLog.recordReply(turn, { ids: [messageId(newest)], text: 'Noted.', at });
    for (const each of [memory.shortTerm, memory.rolling])
      await each.fold?.(userId, [sessionWorkOf(turn)], signal);
    await memory.durable.remember(turn.work, { text, place, messageId: id, type: 'discord' });
    const at9 = new Date(turn.now.getTime() + 3_600_000);
    const wanted = { text, at: at9, repeat: undefined, where: 'here', place, messageId: id } as const;
    await memory.reminders.set(turn.work, wanted);
    const write = memory.tools.find(({ definition }) => definition.name === 'memory_write');
    const content = `## Known Context\n- ${text}\n- Likes tea\n`;
    expect(await write?.run({ path: 'overview.md', content }, turn, signal)).toMatchObject({ ok: true });
    return id;
  }

  /** All that the layer would tell in a turn about a word. */
  async function shown(word: string, userId: string, place: Place): Promise<string> {
    const turn = turnOf(userId, place, `what about ${word}?`);
    if (layerName === 'log')
      return JSON.stringify((await memory.sessionLog.since(sessionOf(turn), 0)).messages);
    if (layerName !== 'recall') return (await layer.sections(turn)).map(renderSection).join('');
    const { speaker, now } = turn;
    const asked = { queries: [word], limit: 5, speaker, place, now, excluded: [] };
    const found = await memory.recall.search({ ...asked, scope: 'messages' });
    return found.map(({ unit }) => unit.text).join('\n');
  }

  const ids = {
    general: await feed(aliceId, publicPlace, words.general),
    dev: await feed(aliceId, dev, words.dev),
    bob: await feed(bobId, publicPlace, words.bob),
  };
  // So that an index is there that could keep what is to go.
  await shown(words.general, aliceId, publicPlace);
  return {
    store,
    memory,
    layer,
    ids,
    shown,
    /** Short-term lines are shown in other channels only. */
    shownAnywhere: async (word: string) =>
      (await shown(word, aliceId, publicPlace)) + (await shown(word, aliceId, dev)),
    exported: async (userId: string) => {
      const texts: string[] = [];
      for await (const { path, text } of layer.export(userId)) texts.push(`${path}: ${text}`);
      return texts.join('\n');
    },
  };
}

/** Settings, the sources of answers and what is withheld hold no words: their own tests export and erase them. */
const layers = ['log', 'short-term', 'rolling', 'durable', 'notebook', 'recall', 'reminders'];

it('puts every layer of the bot under the contract [F5]', async () => {
  const { memory } = await open('log');
  const names = memory.layers.map(({ name }) => name);
  expect(names.toSorted()).toEqual([...layers, 'settings', 'provenance', 'forgotten'].toSorted());
});

describe.each(layers)('the layer %s [F5]', (name) => {
  it('shows a person what is theirs, and nobody else [V2]', async () => {
    const { shown, shownAnywhere } = await open(name);
    expect(await shownAnywhere(words.general)).toContain(words.general);
    for (const place of [publicPlace, dev]) {
      expect(await shown(words.general, bobId, place)).not.toContain(words.general);
      expect(await shown(words.bob, aliceId, place)).not.toContain(words.bob);
    }
  });

  it.each(['deleted', 'edited'] as const)(
    'follows what was %s, again without harm: it is shown nowhere and on no disk, what else there is stays [G5]',
    async (kind) => {
      const { store, memory, ids, shownAnywhere } = await open(name);
      const messageIds = [ids.general];
      const edit = { messageId: ids.general, text: 'hi', authorId: aliceId };
      for (let times = 0; times < 2; times += 1)
        await memory.changes.record(
          kind === 'deleted'
            ? { kind, channelId: generalId, messageIds }
            : { kind, channelId: generalId, ...edit },
        );
      expect(await shownAnywhere(words.general)).not.toContain(words.general);
      expect(await store.everything()).not.toContain(words.general);
      expect(await shownAnywhere(words.dev)).toContain(words.dev);
      expect(await store.everything()).toContain(words.bob);
    },
  );

  it('exports all that it holds of a person, and nothing of another', async () => {
    const exported = await (await open(name)).exported(aliceId);
    const own = [words.general, words.dev];
    expect(own.filter((word) => exported.includes(word))).toEqual(name === 'recall' ? [] : own);
    expect(exported).not.toContain(words.bob);
  });

  it('erases a person, from prompt and disk, and nobody else', async () => {
    const { store, memory, shownAnywhere, exported } = await open(name);
    await memory.changes.erase(aliceId, new Date(startTime).toISOString());
    for (const word of [words.general, words.dev]) {
      expect(await shownAnywhere(word)).not.toContain(word);
      expect(await store.everything()).not.toContain(word);
    }
    expect(await exported(aliceId)).toBe('');
    expect(await store.everything()).toContain(words.bob);
  });

  it('erases what was made of one conversation, and leaves the others; items and reminders are their person’s own [K15]', async () => {
    const { layer, memory, shownAnywhere } = await open(name);
    const sessions = [{ channelId: generalId, userId: aliceId }];
    await memory.writes.run(unconditional(aliceId), async () => {
      for (const each of [layer, memory.sessionLog])
        await each.delete({ kind: 'conversations', userId: aliceId, sessions });
    });
    expect((await shownAnywhere(words.general)).includes(words.general)).toBe(
      ['durable', 'reminders'].includes(name),
    );
    expect(await shownAnywhere(words.dev)).toContain(words.dev);
  });
});
