import { describe, expect, it } from 'vitest';

import type { ToolUseBlock } from '../../src/core/model.ts';
import type { Tool } from '../../src/core/tool.ts';
import { runToolCall } from '../../src/model/tool-loop.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { aliceContext } from './alice-context.ts';

const call: ToolUseBlock = { type: 'tool_use', id: 'a', name: 'note', input: { text: 'tea' } };
const logger = recordingLogger();

function options(run: Tool['run'], signal = new AbortController().signal): Parameters<typeof runToolCall>[1] {
  const tool = { definition: { name: 'note', description: 'Notes', inputSchema: { type: 'object' } }, run };
  return { tools: [tool], context: aliceContext, signal, logger };
}

const echo: Tool['run'] = (input, context) =>
  Promise.resolve({ ok: true, text: `${JSON.stringify(input)} of ${context.speaker.name}` });

const pinning =
  (what: string): Tool['run'] =>
  () =>
    Promise.resolve({ ok: false, text: 'Not done.', offer: { what, carryOut: () => Promise.resolve('') } });

const pinned: Tool['run'] = () => Promise.resolve({ ok: true, text: 'Pinned.', note: '📌 pinned' });

describe('a tool call', () => {
  it('shows people what the tool reports to them, and the model only what is meant for the model', async () => {
    const notes: string[] = [];
    const result = await runToolCall(call, { ...options(pinned), onNote: (each) => notes.push(each) });
    await runToolCall(call, { ...options(echo), onNote: (each) => notes.push(each) });
    expect(notes).toEqual(['📌 pinned']);
    expect(result.text).toBe('Pinned.');
  });

  it('puts what the tool offers before the person, and tells the model that nothing was done and what they see [M8]', async () => {
    const taken: string[] = [];
    const offered = await runToolCall(call, {
      ...options(pinning('Pin this message.')),
      onOffer: ({ what }) => taken.push(what) > 0,
    });
    expect(taken).toEqual(['Pin this message.']);
    expect(offered).toMatchObject({
      isError: true,
      text: expect.stringMatching(
        /^Not done\. Nothing was done\. .*button that would do this: Pin this message\./u,
      ),
    });
  });

  it('tells the model that nothing can be offered if nobody can answer, too much was offered already, or it would be cut', async () => {
    const nobody = await runToolCall(call, options(pinning('Pin this message.')));
    const full = await runToolCall(call, { ...options(pinning('Pin it.')), onOffer: () => false });
    const long = await runToolCall(call, {
      ...options(pinning('x'.repeat(1900))),
      onOffer: () => expect.unreachable(),
    });
    for (const { text } of [nobody, full, long]) expect(text).toMatch(/^Not done\. It cannot be offered/u);
  });

  it.each(['Note', 'functions.note', 'functions.note:0', 'note<|channel|>json'])(
    'runs the tool that is called %s [M14]',
    async (name) => {
      expect(await runToolCall({ ...call, name }, options(echo))).toMatchObject({ isError: false });
    },
  );

  it('lists the tools to a model that calls an unknown one', async () => {
    for (const name of ['fly', 'note.fly', 'footnote', 'note pad', '']) {
      const result = await runToolCall(
        { ...call, name },
        options(() => Promise.reject(new Error('never run'))),
      );
      expect(result).toMatchObject({ text: 'There is no such tool. The tools are: note', isError: true });
    }
  });

  it('logs what is wrong inside a tool, and tells the model only that it failed', async () => {
    const result = await runToolCall(
      call,
      options(() => {
        throw new Error('secret path');
      }),
    );

    expect(result.isError).toBe(true);
    expect(result.text).not.toContain('secret path');
    expect(logger.lines.at(-1)).toMatchObject({
      event: 'tool failed',
      data: { tool: 'note', error: { message: 'secret path' } },
    });
  });

  it('passes on at most 8,000 characters and splits none', async () => {
    const result = await runToolCall(
      call,
      options(() => Promise.resolve({ ok: true, text: `x${'🍵'.repeat(5_000)}` })),
    );

    expect(result.text).toHaveLength(7_999);
    expect(result.text.endsWith('🍵')).toBe(true);
  });
});
