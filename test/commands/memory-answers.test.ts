import { describe, expect, it } from 'vitest';

import type { ShownAnswer } from '../../src/core/commands.ts';
import type { MemorySource } from '../../src/core/memory-source.ts';
import type { AnswerSize } from '../../src/core/section.ts';
import { noUsage } from '../../src/core/model.ts';
import type { Place } from '../../src/core/place.ts';
import { sourceOfItem } from '../../src/memory/durable/document.ts';
import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { messageId } from '../support/sessions.ts';
import { createHarness, dmPlace } from './harness.ts';

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
        {
          id: messageId(1000 + turns),
          text: `What do I grow? (${turns})`,
          at: now.toISOString(),
          attachments: [],
        },
      ],
      now,
      hasThirdPartyText: false,
      work: { userId: aliceId },
    };
    await harness.sessionLog.recordUser(turn);
    await harness.provenance.record(turn, { prompt, tools: [] }, true, size);
    return messageId(1000 + turns);
  }

  async function dataOf(words: string): Promise<readonly ShownAnswer[]> {
    const { data } = await harness.give(words, dmPlace);
    return data?.kind === 'answers' ? data.answers : [];
  }
}

describe('answers [Y2a]', () => {
  it('say when and where each was, what it took, and each part by name and size against its budget', async () => {
    const { give, answered, dataOf } = open();
    const id = await answered(publicPlace);
    expect(await dataOf('answers')).toEqual([
      {
        id,
        title: `<t:1768471260:f> in #general, <https://discord.com/channels/${publicPlace.guildId}/${publicPlace.channelId}/${id}>`,
        took: '4,890 of 40,000 characters beside tools · 2,000 input tokens, 75% from the cache · 60 output tokens · $0.0123',
        parts: [
          { name: 'tools', title: 'Tools', characters: 8000 },
          { name: 'soul', title: 'SOUL.md', characters: 500, budget: 8002 },
          { name: 'rules', title: 'Rules', characters: 3000 },
          { name: 'durable_items', title: 'Items', characters: 1200, budget: 2000 },
          { name: 'forwarded', title: 'Forwarded', characters: 150, budget: 800 },
          { name: 'message', title: 'Your message', characters: 40 },
          { name: 'tool_results', title: 'Tool results', characters: 100 },
        ],
      },
    ]);
    for (const other of [messageId(99), 'x', '<@1>']) expect(await dataOf(`answers ${other}`)).toEqual([]);
    for (const words of ['answers', `answers ${id}`]) {
      const { data } = await give(words, dmPlace, { speakerId: bobId });
      expect(data).toEqual({ kind: 'answers', answers: [] });
    }
  });

  it('are told on the page alone [V2]', async () => {
    const { give, answered } = open();
    const id = await answered(publicPlace);
    for (const words of ['answers', `answers ${id}`])
      expect(await give(words)).toEqual({
        text: 'That is for you alone: use `/memory`, or ask me in our DM.',
      });
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
      work: { userId: aliceId },
    });
    expect(JSON.stringify(data)).toContain('`USER.md` (14 bytes)');
    expect(JSON.stringify(data)).not.toContain('boat');
  });
});
