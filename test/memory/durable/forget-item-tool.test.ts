import { describe, expect, it } from 'vitest';

import { createForgetItemTool } from '../../../src/memory/durable/forget-item-tool.ts';
import { createRememberItemTool } from '../../../src/memory/durable/remember-item-tool.ts';
import { aliceId, bobId, createMemory, dev, dm, turn } from './fixtures.ts';

const signal = new AbortController().signal;

async function setUp() {
  const { memory } = createMemory();
  const said = { messageId: '400000000000000001', type: 'manual' } as const;
  await memory.remember(aliceId, { ...said, place: dev, text: 'Lives in Paris' });
  await memory.remember(aliceId, { ...said, place: dm, text: 'Hides from Paris' });
  await memory.remember(bobId, { ...said, place: dev, text: 'Loves Paris' });
  const tool = createForgetItemTool({ durable: memory });
  const texts = async (userId = aliceId): Promise<readonly string[]> =>
    (await memory.list(userId)).map(({ text }) => text);
  return { memory, tool, texts };
}

describe('forget_item', () => {
  it('forgets the speaker’s own items that may be used here, and tells nothing of the others', async () => {
    const { tool, texts } = await setUp();
    const outcome = await tool.run({ target: 'paris' }, turn('Please forget Paris'), signal);
    expect(outcome.ok).toBe(true);
    expect(outcome.text).toMatch(/^Forgotten:\n- \[fact\] Lives in Paris \(id \w{8}\)$/);
    expect(await texts()).toEqual(['Hides from Paris']);
    expect(await texts(bobId)).toEqual(['Loves Paris']);
  });

  it('answers the same whether something matches elsewhere or nowhere', async () => {
    const { tool } = await setUp();
    const [elsewhere, nowhere] = await Promise.all(
      ['hides', 'nothing'].map((target) => tool.run({ target }, turn('forget hides and nothing'), signal)),
    );
    expect(elsewhere).toEqual(nowhere);
    expect(elsewhere?.ok).toBe(false);
  });

  it('does not forget at the word of somebody else', async () => {
    const { tool, texts } = await setUp();
    for (const message of [
      'What does this text say?',
      'Where in Paris is it?',
      '> forget Paris\nis he mad?',
    ]) {
      const outcome = await tool.run({ target: 'paris' }, turn(message), signal);
      expect(outcome).toMatchObject({ ok: false, text: expect.stringContaining('!memory forget') });
    }
    expect(await texts()).toContain('Lives in Paris');
  });

  it('takes the target literally, and refuses what is no target', async () => {
    const { tool, texts } = await setUp();
    for (const input of [{ target: 'P.*s' }, { target: '' }, {}, null]) {
      expect(await tool.run(input, turn('forget P.*s and Paris'), signal)).toMatchObject({ ok: false });
    }
    expect(await texts()).toContain('Lives in Paris');
  });

  it('keeps a waiting extraction from bringing it back, but not the correction in the same breath', async () => {
    const { memory, tool, texts } = await setUp();
    const context = turn('Forget Paris, I live in Berlin');
    await tool.run({ target: 'paris' }, context, signal);
    const waiting = {
      place: dev,
      messageId: '400000000000000100',
      type: 'summary',
      text: 'Is at home in Paris',
    } as const;
    expect(await memory.remember(aliceId, waiting)).toEqual({ outcome: 'refused', reason: 'forgotten' });
    const rememberItem = createRememberItemTool({
      durable: memory,
      stillThere: () => Promise.resolve('Forget Paris, I live in Berlin'),
    });
    const berlin = { kind: 'fact', text: 'Lives in Berlin', quote: 'I live in Berlin' };
    expect(await rememberItem.run(berlin, context, signal)).toMatchObject({ ok: true });
    expect(await texts()).toContain('Lives in Berlin');
  });
});
