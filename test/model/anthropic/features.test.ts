import { APIError } from '@anthropic-ai/sdk';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import type { ModelFeature, ModelRequest } from '../../../src/core/model.ts';
import { createRefusals } from '../../../src/model/anthropic/learnt.ts';
import { requestBody } from '../../../src/model/anthropic/request-body.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { everything } from './everything.ts';

function errorOf(status: number, body: unknown): APIError {
  return APIError.generate(status, Object(body), undefined, new Headers());
}

function learnt(status: number, body: unknown, sent: ModelRequest = everything): ModelFeature | undefined {
  const refusals = createRefusals(recordingLogger());
  const isLearnt = refusals.learn({ request: sent, leftOut: [] }, errorOf(status, body));
  expect(isLearnt).toBe(refusals.found.length === 1);
  return refusals.found[0]?.feature;
}

const vendors = (message: string) => ({ type: 'error', error: { type: 'invalid_request_error', message } });
const plain = (message: string) => ({ error: { message, type: 'server_error', code: 500 } });
const pydantic = (loc: readonly (string | number)[], msg = 'Extra inputs are not permitted') => ({
  detail: [{ type: 'extra_forbidden', loc, msg, input: { content: 'tools are not supported' } }],
});

describe('the refused feature is read from the error [M9]', () => {
  it.each<[ModelFeature, number, unknown]>([
    ['schema keywords', 400, plain('Unsupported schema keyword "pattern"')],
    ['schema keywords', 400, vendors('tools.0.custom.input_schema: additionalProperties is not supported')],
    ['schema keywords', 500, plain('Failed to initialize samplers: failed to parse grammar')],
    ['tools', 400, vendors('registry.ollama.ai/library/gemma3:4b does not support tools')],
    ['tools', 500, plain('tools param requires --jinja flag')],
    ['tools', 501, { error: { message: 'Function calling is not implemented', param: null } }],
    ['thinking', 400, vendors('"gemma3:4b" does not support thinking')],
    ['thinking', 400, vendors('messages.1.content.0.thinking.signature: Field required')],
    ['thinking', 400, vendors('output_config.effort: Extra inputs are not permitted')],
    ['structured output', 400, vendors('output_config: Extra inputs are not permitted')],
    ['structured output', 422, pydantic(['body', 'output_config', 'format'])],
    ['hour-long cache', 400, vendors('system.0.cache_control.ttl: Extra inputs are not permitted')],
    ['cache marks', 400, vendors('system.0.cache_control: Extra inputs are not permitted')],
    [
      'pictures',
      500,
      plain('image input is not supported - hint: if this is unexpected, provide the mmproj'),
    ],
    ['documents', 400, { error: { type: 'not_supported_error', message: 'PDFs are not supported' } }],
  ])('%s, by %i %j', (feature, status, body) => {
    expect(learnt(status, body)).toBe(feature);
  });

  it.each<[number, unknown]>([
    [400, vendors('prompt is too long: 213462 tokens > 200000 maximum')],
    [400, vendors('messages.1: `tool_use` ids were found without `tool_result` blocks immediately after')],
    [
      400,
      vendors(
        'messages.1.content.0.type: Expected `thinking`, but found `text`. When thinking is enabled, …',
      ),
    ],
    [400, vendors('messages.0.content.1.image.source.base64.data: Could not process image')],
    [400, vendors('Unsupported image format: image/gif')],
    [400, vendors('Encrypted PDFs are not supported')],
    [400, vendors("messages.0.content.0: unknown type, should be 'text', 'image' or 'tool_use'")],
    [401, vendors('tools are not allowed')],
    [429, vendors('tools are not available now')],
  ])('an error that says nothing of it is none: %i %j', (status, body) => {
    expect(learnt(status, body)).toBeUndefined();
  });

  it('ignores an error about a feature that the request did not use', () => {
    const { tools: _, ...bare } = everything;
    const text = { ...bare, messages: bare.messages.slice(0, 1) };
    expect(learnt(400, vendors('gemma3 does not support tools'), text)).toBeUndefined();
  });
});

describe('what was refused [M9]', () => {
  it('is stored once, by model: another one of the server may have it', () => {
    const refusals = createRefusals(recordingLogger());
    const refuse = (model: string, message: string) =>
      refusals.learn({ request: { ...everything, model }, leftOut: [] }, errorOf(400, vendors(message)));
    for (const model of ['small', 'large', 'small']) refuse(model, 'tools are not supported');
    refuse('small', 'cache_control is not supported');
    expect(refusals.found).toEqual([
      { feature: 'tools', model: 'small' },
      { feature: 'tools', model: 'large' },
      { feature: 'cache marks', model: 'small' },
    ]);
    expect(refusals.leftOut({ ...everything, model: 'third' })).toEqual([]);
  });

  it('is replaced by the next best way: JSON requested in the text, words for files, rules without tools', () => {
    const refusals = createRefusals(recordingLogger());
    for (const message of ['output_config', 'tools', 'images', 'documents', 'thinking'])
      refusals.learn(
        { request: everything, leftOut: [] },
        errorOf(400, vendors(`${message}: not supported`)),
      );
    const leftOut = refusals.leftOut(everything);
    expect(leftOut).toEqual(['structured output', 'tools', 'thinking', 'pictures', 'documents']);
    const { system, tools, messages } = requestBody(everything, leftOut);
    expect(system).toMatchObject([
      { text: 'You have no tools.' },
      { text: expect.stringContaining('{"type":"object","title":"answer"}') },
    ]);
    expect(tools).toBeUndefined();
    expect(messages.map(({ content }) => content)).toEqual([
      [
        { type: 'text', text: 'Look:', cache_control: { type: 'ephemeral', ttl: '1h' } },
        { type: 'text', text: '(you cannot see pictures; say so)\n' },
        { type: 'text', text: '(you cannot open PDF files; say so)\n' },
      ],
      [{ type: 'text', text: 'One moment.' }],
      [{ type: 'text', text: '(a tool gave: found)\n' }],
    ]);
  });

  it('is left out for an hour, then tried again', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const refusals = createRefusals(recordingLogger());
    refusals.learn({ request: everything, leftOut: [] }, errorOf(400, vendors('tools: not supported')));
    const known = () => [refusals.leftOut(everything), refusals.found.map(({ feature }) => feature)];
    vi.advanceTimersByTime(3_600_000);
    expect(known()).toEqual([['tools'], ['tools']]);
    vi.advanceTimersByTime(1);
    expect(known()).toEqual([[], []]);
  });

  it('of the keywords of a schema is all but the plain ones, in tools and answers', () => {
    const list = { type: 'array', items: { type: 'string', enum: ['a'] }, description: 'What' };
    const plainOne = { type: 'object', required: ['title'], properties: { title: list, pattern: {} } };
    const items = { ...list.items, pattern: 'a' };
    const properties = { title: { ...list, items, minItems: 1 }, pattern: { anyOf: [] } };
    const inputSchema = { ...plainOne, title: 'Wish', properties, additionalProperties: false };
    const tools = [{ name: 'look_up', description: 'Looks up', inputSchema }];
    const body = requestBody({ ...everything, tools, outputSchema: inputSchema }, ['schema keywords']);
    expect(body.tools).toMatchObject([{ input_schema: plainOne }]);
    expect(JSON.stringify(body)).not.toMatch(/minItems|anyOf|Wish|additionalProperties|"pattern":"/u);
    expect(body.output_config?.format?.schema).toEqual(plainOne);
  });

  it('of a grammar is its keywords, then the schema of an answer, then tools', () => {
    const refusals = createRefusals(recordingLogger());
    const error = errorOf(400, plain('failed to parse grammar'));
    while (refusals.learn({ request: everything, leftOut: refusals.leftOut(everything) }, error));
    const order = refusals.found.map(({ feature }) => feature);
    expect(order).toEqual(['schema keywords', 'structured output', 'tools']);
  });

  it('ends a reflection, which is useless without tools', () => {
    const refusals = createRefusals(recordingLogger());
    const reflection = { ...everything, purpose: 'reflection' } as const;
    refusals.learn({ request: reflection, leftOut: [] }, errorOf(400, vendors('no tools: not supported')));
    expect(() => refusals.leftOut(reflection)).toThrow('A reflection needs tools');
  });
});
