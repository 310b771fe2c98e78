import { describe, expect, it } from 'vitest';

import { ModelError } from '../../src/core/errors.ts';
import type { ModelClient } from '../../src/core/model.ts';
import type { Tool, ToolOutcome } from '../../src/core/tool.ts';
import { runToolLoop, type LoopResult, type ToolLoopOptions } from '../../src/model/tool-loop.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { aliceContext } from './alice-context.ts';
import { failureOf } from './failure-of.ts';
import { calls, hangsAfter, RoundsModel, says, usage, type Answer } from './rounds-model.ts';
import { ownMark } from '../../src/core/turn-context.ts';

const request: ToolLoopOptions['request'] = {
  purpose: 'chat',
  userId: '100000000000000001',
  model: 'sonnet',
  system: [{ type: 'text', text: 'Rules' }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  maxTokens: 100,
};

function tool(name: string, run: Tool['run']): Tool {
  return { definition: { name, description: name, inputSchema: { type: 'object' } }, run };
}

function answering(outcome: ToolOutcome): Tool['run'] {
  return () => Promise.resolve(outcome);
}

const note = tool('note', answering({ ok: true, text: 'noted' }));

/** Calls a tool two times in one round. */
const callsTwice: Answer = async () => ({
  content: [1, 2].map((number) => ({
    type: 'tool_use',
    id: `${number}`,
    name: 'slow',
    input: { number },
  })),
  stop: 'tool_use',
  usage,
});

/** Calls a tool five times in one round. */
const callsFiveTimes: Answer = async (_request, _options, round) => ({
  content: Array.from({ length: 5 }, (_, index) => ({
    type: 'tool_use' as const,
    id: `${round}-${index}`,
    name: 'long',
    input: {},
  })),
  stop: 'tool_use',
  usage,
});

/** Takes back its text and starts over. */
const restarts: Answer = async (_, { onText, onRestart }) => {
  onText?.('It is cof');
  onRestart?.();
  onText?.('It is tea.');
  return { content: [{ type: 'text', text: 'It is tea.' }], stop: 'end', usage };
};

/** Breaks off. */
const fails: Answer = (_, { onText }) => {
  onText?.('It is');
  return Promise.reject(new ModelError('gone', 'overloaded', { partialText: 'It is' }));
};

function loop(client: ModelClient, changes: Partial<ToolLoopOptions> = {}): Promise<LoopResult> {
  return runToolLoop({
    client,
    request,
    tools: [note],
    context: aliceContext,
    deadlineMs: 5_000,
    logger: recordingLogger(),
    ...changes,
  });
}

describe('the tool loop', () => {
  it('accepts an answer without text if only the tools matter', async () => {
    const model = new RoundsModel(calls('note'), says(''));
    expect(await loop(model, { mayBeSilent: true })).toMatchObject({ text: '', stop: 'end' });
    const silent = new RoundsModel(calls('note'), says(''));
    expect(await failureOf(loop(silent))).toMatchObject({ failure: 'empty' });
    const busy = new RoundsModel(calls('note'));
    expect(await loop(busy, { mayBeSilent: true, maxRounds: 5 })).toMatchObject({ stop: 'rounds' });
  });

  it('accepts one where a tool has done what was asked [M15]', async () => {
    const done = tool('note', answering({ ok: true, text: 'stored', note: '💾 Stored' }));
    const model = new RoundsModel(calls('note'), says(''));
    expect(await loop(model, { tools: [done] })).toMatchObject({ text: '', stop: 'end' });
    expect(model.requests.map(({ mayBeEmpty }) => mayBeEmpty)).toEqual([false, true]);
  });

  it('has the vendor keep what a further round will send again, up to the last result of each [P2]', async () => {
    const slow = tool('slow', answering({ ok: true, text: 'slept' }));
    const model = new RoundsModel(callsTwice, callsTwice, says('Done'));
    await loop(model, { tools: [slow] });
    const marks = model.requests.map(({ messages }) =>
      messages.map(({ content }) => content.map((block) => ('cache' in block ? block.cache : '-')).join()),
    );
    expect(marks).toEqual([['-'], ['-', '-,-', '-,5m'], ['-', '-,-', '-,5m', '-,-', '-,5m']]);
  });

  it('sends the whole exchange every round, with the same tools [M3][P2]', async () => {
    const thought = { type: 'reasoning' as const, vendor: { signature: 'signed' } };
    const first: Answer = async () => ({
      content: [thought, { type: 'tool_use', id: 'a', name: 'note', input: { text: 'tea' } }],
      stop: 'tool_use',
      usage,
    });
    const model = new RoundsModel(first, calls('note'), says('Done'));

    const result = await loop(model);

    const [, second, third] = model.requests;
    expect(second?.messages).toEqual([
      ...request.messages,
      {
        role: 'assistant',
        content: [thought, { type: 'tool_use', id: 'a', name: 'note', input: { text: 'tea' } }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', toolUseId: 'a', text: 'noted', isError: false, cache: '5m' }],
      },
    ]);
    expect(third?.messages.slice(0, 3)).toEqual(second?.messages);
    expect(model.requests.map(({ tools }) => tools)).toEqual(
      Array.from({ length: 3 }, () => [note.definition]),
    );
    expect(result).toMatchObject({ text: 'Done', stop: 'end' });
  });

  it('runs the calls of a round one after the other, with input, context and signal', async () => {
    const log: string[] = [];
    const slow = tool('slow', async (input, given, signal) => {
      log.push(`begin ${JSON.stringify(input)}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
      log.push(`end ${String(given === aliceContext)} ${String(signal.aborted)}`);
      return { ok: true, text: '' };
    });
    await loop(new RoundsModel(callsTwice, says('Done')), { tools: [slow] });

    expect(log).toEqual(['begin {"number":1}', 'end true false', 'begin {"number":2}', 'end true false']);
  });
});

describe('after the last round [M6]', () => {
  it('the model is told to answer now, tools are not run, and its answer is taken', async () => {
    let runs = 0;
    const counted = tool('note', async () => ({ ok: true, text: `${(runs += 1)}` }));
    const model = new RoundsModel(calls('note'), calls('note'), calls('note'), says('As far as I got'));

    const result = await loop(model, { tools: [counted], maxRounds: 2 });

    expect(runs).toBe(2);
    expect(model.results(3)[0]).toMatchObject({ isError: true });
    expect(model.results(3)[0]?.text).toContain('Answer now');
    expect(result).toMatchObject({ text: 'As far as I got', stop: 'rounds' });
    expect([1, 2, 3].map((round) => model.results(round)[0]?.isError)).toEqual([false, false, true]);
  });

  it('of eight, the model may call no more', async () => {
    let runs = 0;
    const counted = tool('note', async () => ({ ok: true, text: `${(runs += 1)}` }));
    const model = new RoundsModel(...Array.from({ length: 9 }, () => calls('note')), says('Enough'));
    expect(await loop(model, { tools: [counted] })).toMatchObject({ text: 'Enough', stop: 'rounds' });
    expect(runs).toBe(8);
  });
});

describe('the text', () => {
  it('is that of all rounds, streamed as it stands in the result', async () => {
    const pieces: string[] = [];
    const model = new RoundsModel(
      calls('note', {}, 'Let me see.\n'),
      calls('note', {}, ' \n'),
      says('It is tea.'),
    );

    const { text } = await loop(model, { onText: (piece) => pieces.push(piece) });

    expect(text).toBe('Let me see.\n\nIt is tea.');
    expect(pieces.join('')).toBe(text);
  });

  it('of earlier rounds is given again after a restart', async () => {
    let shown = '';
    const { text } = await loop(new RoundsModel(calls('note', {}, 'Let me see.'), restarts), {
      onText: (piece) => (shown += piece),
      onRestart: () => (shown = ''),
    });

    expect(text).toBe('Let me see.\n\nIt is tea.');
    expect(shown).toBe(text);
  });
});

describe('a failing model', () => {
  it('fails the loop, with the text of all rounds', async () => {
    const failure = await failureOf(loop(new RoundsModel(calls('note', {}, 'Let me see.'), fails)));

    expect(failure).toMatchObject({
      failure: 'overloaded',
      message: 'gone',
      partialText: 'Let me see.\n\nIt is',
    });
  });
});

describe('time', () => {
  it('that is up during an answer leaves what was said', async () => {
    const result = await loop(new RoundsModel(hangsAfter('As far as')), { deadlineMs: 50 });

    expect(result).toMatchObject({ text: 'As far as', stop: 'timeout' });
  });
});

describe('giving up', () => {
  it('ends a running tool at once', async () => {
    const endless = tool('endless', () => new Promise(() => {}));
    const run = loop(new RoundsModel(calls('endless')), {
      tools: [endless],
      signal: AbortSignal.timeout(30),
    });

    expect(await failureOf(run)).toMatchObject({ failure: 'aborted' });
  });
});

/** Calls several tools in one round. */
const callsAll: Answer = async () => ({
  content: ['ask', 'show', 'ask'].map((name, index) => ({
    type: 'tool_use',
    id: `${index}`,
    name,
    input: {},
  })),
  stop: 'tool_use',
  usage,
});

describe('a tool that shows what is not the speaker’s [M5a]', () => {
  it('is reported, and the tools after it know, in the same round and later', async () => {
    const known: boolean[] = [];
    const marks: string[] = [];
    const shows = tool('show', answering({ ok: true, text: 'Mallory said so', thirdPartyMark: ownMark }));
    const asks = tool('ask', (_, context) => {
      known.push(context.hasThirdPartyText);
      return Promise.resolve({ ok: true, text: 'asked' });
    });
    await loop(new RoundsModel(callsAll, calls('ask', {}), says('done')), {
      tools: [shows, asks],
      context: { ...aliceContext, hasThirdPartyText: false },
      onThirdPartyText: (mark) => marks.push(mark),
    });
    expect(known).toEqual([false, true, true]);
    expect(marks).toEqual([ownMark]);
  });
});

describe('the tool results that a loop sends [P4]', () => {
  it('have at most 40,000 characters together, however many calls there are; what was done is reported all the same', async () => {
    const long = tool('long', answering({ ok: true, text: 'Stored. '.padEnd(8_000, 'x') }));
    const model = new RoundsModel(callsFiveTimes, callsFiveTimes, callsFiveTimes, says('done'));

    await loop(model, { tools: [long] });

    const texts = model.requests
      .at(-1)
      ?.messages.flatMap(({ content }) =>
        content.flatMap((block) => (block.type === 'tool_result' ? [block.text] : [])),
      );
    expect(texts).toHaveLength(15);
    expect(texts?.slice(0, 5).every((text) => text.length === 8_000)).toBe(true);
    for (const text of texts?.slice(5) ?? []) {
      expect(text.length).toBeLessThanOrEqual(300);
      expect(text).toMatch(/^Stored\. .*\(cut: /su);
    }
  });
});

/** Of a request that has all of it. */
const withoutMuch: Answer = async () => ({
  content: [{ type: 'text', text: 'Hello' }],
  stop: 'end',
  usage,
  leftOut: ['tools', 'pictures', 'documents', 'cache marks'],
});

describe('a model whose server refuses tools or files [M9]', () => {
  it('is known to have had none, and people are told what it cannot see', async () => {
    const notes: string[] = [];
    const result = await runToolLoop({
      client: new RoundsModel(withoutMuch),
      request,
      tools: [note],
      context: aliceContext,
      deadlineMs: 60_000,
      onNote: (text) => notes.push(text),
      logger: recordingLogger(),
    });
    expect(result).toMatchObject({ text: 'Hello', hadNoTools: true });
    expect(notes).toEqual([
      '📎 The model that I use cannot see pictures',
      '📎 The model that I use cannot open PDF files',
    ]);
  });
});
