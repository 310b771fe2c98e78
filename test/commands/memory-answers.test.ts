import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { ShownAnswers } from '../../src/core/commands.ts';
import type { MemorySource } from '../../src/core/memory-source.ts';
import type { AnswerSize } from '../../src/core/section.ts';
import { noUsage } from '../../src/core/model.ts';
import type { Place } from '../../src/core/place.ts';
import { sourceOfItem } from '../../src/memory/durable/document.ts';
import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { messageId } from '../support/sessions.ts';
import { createHarness, dmPlace, privatePlace } from './harness.ts';

const size: AnswerSize = {
  parts: [
    { name: 'tools', characters: 8000 },
    { name: 'soul', characters: 500, budget: 8002 },
    { name: 'rules', characters: 3000 },
    { name: 'durable_items', characters: 1200, budget: 2000 },
    { name: 'forwarded', characters: 100, budget: 400 },
    { name: 'forwarded', characters: 50, budget: 400 },
    { name: 'message', characters: 40 },
    { name: 'tool_results', characters: 70 },
    { name: 'tool_results', characters: 30 },
  ],
  maxChars: 40_000,
  usage: { ...noUsage, inputTokens: 400, cacheReadTokens: 1500, cacheWriteTokens: 100, outputTokens: 60 },
  cost: 0.0123,
};

/** Commands, and answers to people that were made from these. */
function open() {
  const harness = createHarness();
  let turns = 0;
  return { ...harness, answered, dataOf };

  async function answered(place: Place = dmPlace, prompt: readonly MemorySource[] = []): Promise<string> {
    turns += 1;
    const now = new Date(Date.parse('2026-01-15T10:00:00Z') + turns * 60_000);
    const turn = {
      speaker: { id: aliceId, name: 'Alice', isOwner: false },
      place,
      messages: [
        { id: messageId(turns), text: `What do I grow? (${turns})`, at: now.toISOString(), attachments: [] },
      ],
      now,
      hasThirdPartyText: false,
      startedAfter: undefined,
    };
    await harness.sessionLog.recordUser(turn);
    await harness.provenance.record(turn, { prompt, tools: [] }, true, size);
    return messageId(turns);
  }

  async function dataOf(words: string, place: Place = dmPlace): Promise<ShownAnswers['answers']> {
    const { data } = await harness.give(words, place);
    return data?.kind === 'answers' ? data.answers : [];
  }
}

describe('answers [Y2a]', () => {
  it('lists when and where each was, what it took, and the largest parts of what the model was given', async () => {
    const { say, answered } = open();
    const id = await answered(publicPlace);
    expect(await say('answers', dmPlace)).toBe(
      `My newest answers to you, and what I was given for them:
- <t:1768471260:f> in #general, <https://discord.com/channels/${publicPlace.guildId}/${publicPlace.channelId}/${id}>: 4,890 of 40,000 characters beside tools · 2,000 input tokens, 75% from the cache · 60 output tokens · $0.0123 · most of it Tools 8,000, Rules 3,000, Items 1,200
-# \`!memory answers <link>\` tells all parts of one, \`!memory why <link>\` what of your memory was in it.`,
    );
    expect(await say('answers', dmPlace, { speakerId: bobId })).toContain('I have not answered you');
  });

  it('tells all parts of one, by name and size, with budgets', async () => {
    const { say, answered } = open();
    const id = await answered();
    const told = await say(`answers ${id}`, dmPlace);
    expect(told.split('\n').slice(2)).toEqual([
      '- Tools: 8,000',
      '- SOUL.md: 500 of 8,002',
      '- Rules: 3,000',
      '- Items: 1,200 of 2,000',
      '- Forwarded: 150 of 800',
      '- Your message: 40',
      '- Tool results: 100',
    ]);
    for (const other of [messageId(99), 'x', '<@1>'])
      expect(await say(`answers ${other}`, dmPlace)).toContain('I know no such answer');
    expect(await say(`answers ${id}`, dmPlace, { speakerId: bobId })).toContain('I know no such answer');
  });

  it('has the own message and memory in full for the DM, as they are by now', async () => {
    const { say, answered, dataOf, durable, idOf, store } = open();
    await store.writeText(`users/${aliceId}/notebook/USER.md`, 'Alice grows fruit.');
    await say('remember I grow apples', dmPlace);
    await say('remember I grow pears', dmPlace);
    const items = await durable.list(aliceId);
    const id = await answered(dmPlace, [
      ...items.map(sourceOfItem),
      { kind: 'file', path: 'USER.md', bytes: 12 },
      { kind: 'file', path: 'facts/garden.md', isListed: true },
      { kind: 'note', guildId: '1', channelId: '2', messageId: '3' },
    ]);
    const own = async () => (await dataOf(`answers ${id}`))[0]?.own;
    const [apples, pears] = ['I grow apples', 'I grow pears'];
    expect(await own()).toEqual([
      { title: 'Your message', texts: ['What do I grow? (1)'] },
      { title: 'Items', texts: items.map(({ text }) => text) },
      { title: 'Notes', texts: ['`USER.md` (12 bytes)\nAlice grows fruit.'] },
      { title: 'Notes by name only', texts: ['`facts/garden.md`'] },
    ]);
    await say(`forget ${await idOf(apples)}`, dmPlace);
    const itemsNow = (await own())?.find(({ title }) => title === 'Items')?.texts;
    expect(itemsNow).toEqual([pears, '1 item that was forgotten since, or made way for others']);
  });

  it('has the summary, and what was said elsewhere or was found, as they are by now', async () => {
    const { answered, dataOf, rolling } = open();
    const said = await answered(publicPlace);
    const at = '2026-01-15T09:00:00.000Z';
    rolling.put(
      { channelId: dmPlace.channelId, userId: aliceId },
      { text: 'Alice grows fruit.', visibility: 'dm', homeId: dmPlace.homeId },
    );
    const elsewhere = { channelId: publicPlace.channelId, messageId: said };
    const id = await answered(dmPlace, [
      { kind: 'summary', at },
      { kind: 'exchange', ...elsewhere, at },
      { kind: 'message', ...elsewhere },
    ]);
    const texts = async () => (await dataOf(`answers ${id}`))[0]?.own?.flatMap((part) => part.texts);
    expect(await texts()).toEqual([
      'What do I grow? (2)',
      'Alice grows fruit.',
      'What do I grow? (1)',
      'What do I grow? (1)',
    ]);
  });

  it("names no word of the owners' workspace, only the file and its size", async () => {
    const { answered, store, commands } = open();
    await store.writeText('workspace/USER.md', 'We own a boat.');
    const id = await answered(dmPlace, [{ kind: 'file', path: 'USER.md', bytes: 14 }]);
    const command = commands.parse(`!memory answers ${id}`);
    if (command === undefined) throw new Error('No command');
    const { data } = await commands.command({
      id: messageId(90),
      command,
      speaker: { id: aliceId, name: 'Alice', isOwner: true },
      place: dmPlace,
      ephemeral: true,
      at: '2026-01-15T11:00:00Z',
      startedAfter: undefined,
    });
    expect(JSON.stringify(data)).toContain('`USER.md` (14 bytes)');
    expect(JSON.stringify(data)).not.toContain('boat');
  });

  it('names in a server nothing that may not be said there, and shows no words [V2]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(publicPlace, privatePlace, dmPlace), { minLength: 1, maxLength: 5 }),
        async (places) => {
          const { answered, say, dataOf } = open();
          const ids: string[] = [];
          for (const place of places) ids.push(await answered(place));
          const told = await say('answers', publicPlace);
          for (const [index, id] of ids.entries()) {
            const isOfHere = places[index] === publicPlace;
            expect(told.includes(id)).toBe(isOfHere);
            expect(await dataOf(`answers ${id}`, publicPlace)).toHaveLength(isOfHere ? 1 : 0);
          }
          const hidden = places.filter((place) => place !== publicPlace).length;
          expect(told.includes(`${hidden} that I don't name here`)).toBe(hidden > 0);
          for (const { own } of await dataOf(`answers ${ids[0] ?? ''}`, publicPlace))
            expect(own).toBeUndefined();
          expect(await dataOf('answers')).toHaveLength(places.length);
        },
      ),
    );
  });
});
