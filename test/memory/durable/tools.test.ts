import { describe, expect, it } from 'vitest';

import type { ToolOutcome } from '../../../src/core/tool.ts';
import type { TurnContext } from '../../../src/core/turn-context.ts';
import { createForgetItemTool, createRememberItemTool } from '../../../src/memory/durable/tools.ts';
import { aliceId, bobId, createMemory, dev, dm, turn } from './fixtures.ts';
import { unconditional } from '../../../src/core/writes.ts';

const work = unconditional(aliceId);

const signal = new AbortController().signal;

function setUp(
  present: (text: string | undefined) => string | undefined = (text) => text,
  answer?: string,
  maxItems = 3,
) {
  const { memory, store } = createMemory({ maxItems });
  let context = turn('');
  const tool = createRememberItemTool({
    durable: memory,
    proposals: memory,
    sessionLog: {
      message: (_session, id) =>
        Promise.resolve(present(context.messages.find((message) => message.id === id)?.text)),
      answerBefore: () => Promise.resolve(answer),
    },
  });
  const run = (input: unknown, said: string | TurnContext): Promise<ToolOutcome> => {
    context = typeof said === 'string' ? turn(said) : said;
    return tool.run(input, context, signal);
  };
  const texts = async (): Promise<readonly string[]> => (await memory.list(aliceId)).map(({ text }) => text);
  return { memory, store, run, texts };
}

const rust = { kind: 'preference', quote: 'I prefer Rust' };
/** With somebody else's words in the context. */
const amongOthers = { hasThirdPartyText: true };

/** The same turn, but a proxy posted its message. */
function proxied(context: TurnContext): TurnContext {
  return {
    ...context,
    messages: context.messages.map((message) => ({ ...message, isProxied: true as const })),
  };
}

const askedFirst = [
  ['while others’ words are in view [M5a]', (text: string) => turn(text, amongOthers)],
  ['in a turn that a proxy posted [G2a]', (text: string) => proxied(turn(text))],
] as const;

describe('remember_item', () => {
  it('keeps the question that the words answer, which is shown, found and forgotten with them [D1a]', async () => {
    const { run, memory } = setUp(undefined, 'Nice to meet you! Where do you live?');
    const porto = { kind: 'fact', quote: 'Porto' };
    expect(await run(porto, 'Porto')).toMatchObject({
      text: expect.stringContaining('[fact] Porto (asked: Where do you live?)'),
      notice: { line: '💾 Remembered: "Porto (asked: Where do you live?)"' },
    });
    expect(await memory.list(aliceId)).toMatchObject([{ text: 'Porto', question: 'Where do you live?' }]);
    const { forgotten } = await memory.forget(work, 'do you live', dev, '400000000000000900');
    expect(forgotten).toMatchObject([{ text: 'Porto' }]);
    expect(await run(porto, 'Porto')).toMatchObject({ ok: false });
  });

  it('keeps no more than 100 characters of a question, none of an answer that ends otherwise, and no secret', async () => {
    const long = setUp(undefined, `Which ${'very '.repeat(40)}long road?`);
    await long.run({ kind: 'fact', quote: 'Elm Street' }, 'Elm Street');
    const [{ question } = {}] = await long.memory.list(aliceId);
    expect(question?.length).toBeGreaterThan(90);
    expect(question?.length).toBeLessThanOrEqual(100);
    const plain = setUp(undefined, 'What a day? Noted.');
    await plain.run({ kind: 'fact', quote: 'Porto' }, 'Porto');
    expect(await plain.memory.list(aliceId)).not.toMatchObject([{ question: expect.anything() }]);
    const secret = setUp(undefined, 'Is your key still sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa?');
    expect(await secret.run({ kind: 'fact', quote: 'Yes, it is' }, 'Yes, it is')).toMatchObject({
      ok: false,
    });
  });

  it('stores what the speaker said, with the message it was said in', async () => {
    const { run, memory } = setUp();
    const outcome = await run(rust, 'Hey, I prefer Rust!');
    expect(outcome.ok).toBe(true);
    const [item] = await memory.list(aliceId);
    expect(outcome.text).toBe(`Remembered: [preference] Hey, I prefer Rust! (id ${item?.id})`);
    expect(item).toMatchObject({
      kind: 'preference',
      visibility: 'server',
      source: { type: 'discord', messageId: '400000000000000100' },
    });
  });

  it.each([
    ['the words of somebody else', rust, 'What do you think about that article?'],
    ['a quote of somebody else', rust, '> I prefer Rust\nwhat about him?'],
    ['a question', rust, 'Do you think I prefer Rust?'],
    ['a sentence that is too long', rust, `I prefer Rust${' and Zig'.repeat(100)}`],
    ['an empty quote', { ...rust, quote: '' }, 'I prefer Rust'],
    ['another kind', { ...rust, kind: 'secret' }, 'I prefer Rust'],
    ['no input', null, 'I prefer Rust'],
  ])('refuses %s', async (_name, input, message) => {
    const { run, texts } = setUp();
    expect(await run(input, message)).toMatchObject({
      ok: false,
      text: expect.stringMatching(/^Not stored: /),
    });
    expect(await texts()).toEqual([]);
  });

  it('keeps what was said in private as private as it was, though the channel has become public since [V1]', async () => {
    const { run, memory } = setUp();
    const outcome = await run(rust, {
      ...turn('I prefer Rust'),
      originalPlace: { ...dev, audience: 'private', readers: [] },
    });
    expect(outcome.text).toBe('Remembered: I prefer Rust');
    expect(outcome.notice?.line).toBe('💾 Remembered: 1 item');
    expect(await memory.list(aliceId)).toMatchObject([{ visibility: 'here' }]);
  });

  it('stores nothing from a message that was deleted or changed meanwhile', async () => {
    for (const present of [undefined, 'I prefer Go']) {
      const { run, texts } = setUp(() => present);
      expect(await run(rust, 'I prefer Rust')).toMatchObject({ ok: false });
      expect(await texts()).toEqual([]);
    }
  });

  it.each([
    ['three items of one message', ' ', 3],
    ['ten of a list', '\n', 10],
  ])('stores %s at most, so that no message empties the memory [D3]', async (_, between, most) => {
    const { run, texts, memory } = setUp(undefined, undefined, 20);
    const earlier = Array.from({ length: 20 }, (__, index) => `I own boat ${index}.`);
    for (const [index, text] of earlier.entries())
      await memory.remember(work, {
        text,
        place: dev,
        messageId: `${index + 1}`,
        type: 'summary',
      });
    const said = Array.from({ length: 60 }, (__, index) => `I own teapot ${index}.`);
    const outcomes: ToolOutcome[] = [];
    for (const quote of said) outcomes.push(await run({ kind: 'fact', quote }, said.join(between)));
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(most);
    expect(outcomes[most]?.text).toMatch(/^Not stored: enough of this message is stored already/u);
    expect((await texts()).filter((text) => text.includes('boat'))).toHaveLength(20 - most);
    // What is known already is confirmed, and another message has items of its own.
    expect(await run({ kind: 'fact', quote: said[0] }, said.join(between))).toMatchObject({ ok: true });
    const next = turn('I own a kite.');
    const messages = next.messages.map((message) => ({ ...message, id: '400000000000000101' }));
    expect(await run({ kind: 'fact', quote: 'a kite' }, { ...next, messages })).toMatchObject({ ok: true });
  });

  it('corrects an item named by id or by its words', async () => {
    const { run, texts, memory } = setUp();
    await run({ kind: 'fact', quote: 'I live in Paris' }, 'I live in Paris');
    const berlin = { kind: 'fact', quote: 'I live in Berlin', replaces: 'i live in paris' };
    expect((await run(berlin, 'I live in Berlin')).text).toContain('It replaces: [fact] I live in Paris');
    expect(await texts()).toEqual(['I live in Berlin']);
    const [item] = await memory.list(aliceId);
    await run({ kind: 'fact', quote: 'moved to Rome', replaces: item?.id }, 'I moved to Rome');
    expect(await texts()).toEqual(['I moved to Rome']);
  });

  it.each(askedFirst)('asks by a button before it replaces anything %s', async (_, said) => {
    const { run, texts } = setUp();
    await run(rust, 'I prefer Rust');
    const tea = { kind: 'fact', quote: 'I drink tea', replaces: 'Rust' };
    const { ok, offer } = await run(tea, said('I drink tea'));
    expect(ok).toBe(false);
    expect(offer).toMatchObject({
      what: 'Remember the first line instead of the second:',
      words: 'I drink tea\nI prefer Rust',
    });
    expect(await texts()).toEqual(['I prefer Rust']);
    expect(await offer?.carryOut(signal)).toMatchObject({
      text: 'Remembered.',
      buttons: [{ label: 'Undo' }],
    });
    expect(await texts()).toEqual(['I drink tea']);
    expect(await offer?.carryOut(signal)).toContain('Not remembered');
  });

  it.each([
    ['fits several', 'rust', ['Instead of: Writes Rust', 'Instead of: Prefers Rust']],
    [
      'has no word with content',
      'that',
      ['Instead of: Drinks tea', 'Instead of: Writes Rust', 'Instead of: Prefers Rust'],
    ],
  ])(
    'replaces nothing where `replaces` %s: what was said is stored, and buttons ask [K4]',
    async (_, replaces, labels) => {
      const { run, memory, texts } = setUp(undefined, undefined, 9);
      const said = { place: dev, messageId: '400000000000000001', type: 'manual' } as const;
      for (const text of ['Prefers Rust', 'Writes Rust', 'Drinks tea'])
        await memory.remember(work, { ...said, text });
      for (const context of [turn('I prefer Go'), turn('I prefer Zig', amongOthers)]) {
        const before = (await texts()).length;
        const quote = context.messages[0]?.text ?? '';
        const { ok, offer, notice } = await run({ kind: 'preference', quote, replaces }, context);
        expect({ ok, offer }).toEqual({ ok: true, offer: undefined });
        expect(notice?.line).toContain(`💾 Remembered: "${quote}" · Does it replace`);
        expect(notice?.buttons.map(({ label }) => label)).toEqual(expect.arrayContaining(labels));
        expect(await texts()).toHaveLength(before + 1);
      }
    },
  );

  it('names nothing in a guild that belongs into the DM', async () => {
    const { run, memory } = setUp();
    const secret = { place: dm, messageId: '400000000000000001', type: 'manual' } as const;
    for (const text of ['Secret one', 'Secret two', 'I prefer Rust']) {
      await memory.remember(work, { ...secret, text });
    }
    const [item] = await memory.list(aliceId);
    expect((await run({ ...rust, replaces: 'secret one' }, 'I prefer Rust')).text).toContain('names no item');
    const known = await run(rust, 'I prefer Rust');
    expect(known).toMatchObject({ ok: true, text: 'Remembered: I prefer Rust' });
    expect(item?.visibility).toBe('dm');
    expect(known.notice?.line).toBe('💾 Remembered: "I prefer Rust"');
    expect(known.notice?.buttons.map(({ label }) => label)).not.toContain('Only in DM');
    const evicting = await run({ kind: 'fact', quote: 'I drink tea' }, 'I drink tea');
    expect(evicting.text).toContain('An older item is no longer kept');
    expect(evicting.notice?.line).toBe('💾 Remembered: "I drink tea" · 🗑️ Let go to make room: 1 item');
    expect(evicting.notice?.isQuiet).toBeUndefined();
    expect(evicting.text).not.toContain('Secret');
  });

  it('refuses what another bot says about itself', async () => {
    const { run, texts } = setUp();
    const said = turn('I prefer Rust');
    const outcome = await run(rust, { ...said, speaker: { ...said.speaker, isBot: true } });
    expect(outcome.ok).toBe(false);
    expect(await texts()).toEqual([]);
  });
});

async function setUpForgetting() {
  const { memory } = createMemory();
  const said = { messageId: '400000000000000001', type: 'manual' } as const;
  await memory.remember(work, { ...said, place: dev, text: 'Lives in Paris' });
  await memory.remember(work, { ...said, place: dm, text: 'Hides from Paris' });
  await memory.remember(unconditional(bobId), { ...said, place: dev, text: 'Loves Paris' });
  const tool = createForgetItemTool({ durable: memory });
  const texts = async (userId = aliceId): Promise<readonly string[]> =>
    (await memory.list(userId)).map(({ text }) => text);
  return { memory, tool, texts };
}

describe('forget_item', () => {
  it('forgets the speaker’s own items that may be used here, and tells nothing of the others', async () => {
    const { tool, texts } = await setUpForgetting();
    const outcome = await tool.run({ target: 'paris' }, turn('Please forget Paris'), signal);
    expect(outcome.ok).toBe(true);
    expect(outcome.text).toMatch(/^Forgotten:\n- \[fact\] Lives in Paris \(id \w{8}\)$/);
    expect(await texts()).toEqual(['Hides from Paris']);
    expect(await texts(bobId)).toEqual(['Loves Paris']);
  });

  it('answers the same whether something matches elsewhere or nowhere', async () => {
    const { tool } = await setUpForgetting();
    const [elsewhere, nowhere] = await Promise.all(
      ['hides', 'nothing'].map((target) => tool.run({ target }, turn('forget hides and nothing'), signal)),
    );
    expect(elsewhere).toEqual(nowhere);
    expect(elsewhere?.ok).toBe(false);
  });

  it.each(askedFirst)('forgets by a button that shows the item %s', async (_, said) => {
    const { tool, texts } = await setUpForgetting();
    const { ok, offer } = await tool.run({ target: 'paris' }, said('What does this text say?'), signal);
    expect(ok).toBe(false);
    expect(offer).toMatchObject({ what: 'Forget this:', words: 'Lives in Paris' });
    expect(await texts()).toContain('Lives in Paris');
    expect(await offer?.carryOut(signal)).toMatchObject({ text: 'Forgotten.', buttons: [{ label: 'Undo' }] });
    expect(await texts()).toEqual(['Hides from Paris']);
    expect(await offer?.carryOut(signal)).toBe('Not forgotten: it has changed in the meantime.');
  });

  it.each([
    ['words that fit several items', 'paris', ['All 2', 'Has a sister in Paris', 'Lives in Paris', 'None']],
    ['ids of several items', undefined, ['All 2', 'Has a sister in Paris', 'Lives in Paris', 'None']],
    [
      'a word without content, though one item alone has it',
      'a',
      ['Has a sister in Paris', 'Lives in Paris'],
    ],
    ['such words in another language', 'это всё', ['Has a sister in Paris', 'Lives in Paris']],
    [
      'such words for everything',
      'everything you know about me',
      ['Has a sister in Paris', 'Lives in Paris'],
    ],
  ])(
    'touches nothing by %s, and shows buttons, also where others have spoken [K4]',
    async (_, words, labels) => {
      const { memory, tool, texts } = await setUpForgetting();
      const said = { place: dev, messageId: '400000000000000002', type: 'manual' } as const;
      await memory.remember(work, { ...said, text: 'Has a sister in Paris' });
      const own = (await memory.list(aliceId)).filter(({ visibility }) => visibility !== 'dm');
      const target = words ?? own.map(({ id }) => id).join(' ');
      for (const context of [turn('I do not like Paris any more'), turn('forget Paris', amongOthers)]) {
        const { ok, text, offer, notice } = await tool.run({ target }, context, signal);
        expect({ ok, offer }).toEqual({ ok: true, offer: undefined });
        expect(text).toContain('Nothing forgotten yet');
        const shown = notice?.buttons ?? [];
        expect(shown.map(({ label }) => label)).toEqual(
          labels.length > 2 ? labels : [...labels, 'Erase everything …', 'None'],
        );
        expect(shown.find(({ label }) => label === 'Lives in Paris')?.line).toBe(
          `memory forget ${own[1]?.id}`,
        );
        // Those who joined since read none of it.
        expect(JSON.stringify([notice?.bareLine, notice?.bareButtons])).not.toMatch(/paris/iu);
      }
      expect(await texts()).toHaveLength(3);
    },
  );

  it('takes a word without content that an item says as a whole, or an id of one', async () => {
    const { memory, tool, texts } = await setUpForgetting();
    const said = { place: dev, messageId: '400000000000000002', type: 'manual' } as const;
    await memory.remember(work, { ...said, text: 'The Who' });
    expect(await tool.run({ target: 'the who' }, turn('forget The Who'), signal)).toMatchObject({
      notice: { line: '🗑️ Forgotten: 1 item' },
    });
    expect(await texts()).not.toContain('The Who');
  });

  it('takes the target literally, and refuses an empty or unknown one', async () => {
    const { tool, texts } = await setUpForgetting();
    for (const input of [{ target: 'P.*s' }, { target: '' }, {}, null]) {
      expect(await tool.run(input, turn('forget P.*s and Paris'), signal)).toMatchObject({ ok: false });
    }
    expect(await texts()).toContain('Lives in Paris');
  });

  it('keeps a waiting extraction from bringing it back, but not the correction in the same breath', async () => {
    const { memory, tool, texts } = await setUpForgetting();
    const context = turn('Forget Paris, I live in Berlin');
    await tool.run({ target: 'paris' }, context, signal);
    const waiting = {
      place: dev,
      messageId: '400000000000000100',
      type: 'summary',
      text: 'Is at home in Paris',
    } as const;
    expect(await memory.remember(work, waiting)).toEqual({
      outcome: 'refused',
      reason: 'forgotten',
    });
    const rememberItem = createRememberItemTool({
      durable: memory,
      proposals: memory,
      sessionLog: {
        message: () => Promise.resolve('Forget Paris, I live in Berlin'),
        answerBefore: () => Promise.resolve(undefined),
      },
    });
    const berlin = { kind: 'fact', quote: 'I live in Berlin' };
    expect(await rememberItem.run(berlin, context, signal)).toMatchObject({ ok: true });
    expect(await texts()).toContain('Forget Paris, I live in Berlin');
  });
});
