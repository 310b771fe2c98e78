import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { blockEvents, eventText, messageEvents } from '../../support/model-answer.ts';
import { clientOf, request } from './client-under-test.ts';
import { runs } from '../../support/runs.ts';

const said = '„Tee“ 🍵 & 茶';
const call = { type: 'tool_use', id: 'a', name: 'look_up', input: { query: said } };
const json = JSON.stringify(call.input);
const events = messageEvents(
  [
    ...blockEvents(0, { type: 'text', text: '' }, [
      { type: 'text_delta', text: said },
      { type: 'text_delta', text: '!' },
    ]),
    ...blockEvents(1, { ...call, input: {} }, [
      { type: 'input_json_delta', partial_json: json.slice(0, 5) },
      { type: 'input_json_delta', partial_json: json.slice(5) },
    ]),
  ],
  'tool_use',
);
const text = events.map(eventText).join('');

/** What a client makes of a stream that comes in these pieces. */
async function understood(pieces: readonly Uint8Array[]) {
  const { client, server } = await clientOf(() => ({ events: pieces.map((bytes) => ({ bytes })) }));
  const streamed: string[] = [];
  const { content, usage } = await client.complete(request(), { onText: (piece) => streamed.push(piece) });
  await server.close();
  return { content, usage, streamed };
}

const whole = {
  content: [{ type: 'text', text: `${said}!` }, call],
  usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 3, cacheWriteTokens: 2, cacheHourTokens: 0 },
  streamed: [said, '!'],
};

describe('a stream of events [M7]', () => {
  it('is understood however its bytes are cut, whatever ends its lines', async () => {
    const lineEnds = fc.constantFrom('\n', '\r\n');
    const cuts = fc.uniqueArray(fc.nat(2 * text.length), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(lineEnds, cuts, async (lineEnd, places) => {
        const bytes = Buffer.from(text.replaceAll('\n', lineEnd));
        const ends = [
          ...places.filter((place) => place < bytes.length).toSorted((a, b) => a - b),
          bytes.length,
        ];
        const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        expect(await understood(pieces.filter(({ length }) => length > 0))).toEqual(whole);
      }),
      { numRuns: runs(60) },
    );
  });

  it.each([
    [
      'events without names, and an end that other vendors write',
      `${text.replaceAll(/^event: .*\n/gmu, '')}data: [DONE]\n\n`,
    ],
    [
      'an end that is not JSON before its own',
      text.replace('event: message_stop', 'data: [DONE]\n\nevent: message_stop'),
    ],
    ['pings that are not JSON', `event: ping\ndata: still here\n\n${text}`],
  ])('may have %s', async (_, form) => {
    expect(await understood([Buffer.from(form)])).toEqual(whole);
  });
});
