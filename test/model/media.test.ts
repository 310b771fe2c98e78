import { describe, expect, it } from 'vitest';

import { ModelError } from '../../src/core/errors.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import { createMediaBudget, withMediaFallback } from '../../src/model/media.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { ScriptedModel } from '../support/scripted-model.ts';

const request: ModelRequest = {
  purpose: 'chat',
  userId: '100000000000000001',
  model: 'sonnet',
  system: [],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'cat.png:' },
        { type: 'image', title: 'cat.png', mediaType: 'image/png', data: 'AAAA' },
        { type: 'document', title: 'a.pdf', data: 'BBBB' },
        { type: 'text', text: 'look' },
      ],
    },
  ],
  maxTokens: 10,
};

function typesIn(asked: ModelRequest | undefined): readonly string[] {
  return asked?.messages.flatMap(({ content }) => content.map(({ type }) => type)) ?? [];
}

describe('a model that refuses a request with pictures or PDF files [Q2]', () => {
  it('is asked without them, in later requests too, and what was left out is told', async () => {
    const model = new ScriptedModel((asked) =>
      JSON.stringify(asked).includes('"BBBB"') ? new ModelError('Could not process', 'rejected') : 'ok',
    );
    const logger = new RecordingLogger();
    const told: string[] = [];
    const client = withMediaFallback(model, logger, (each) => told.push(...each));
    expect((await client.complete(request)).content).toEqual([{ type: 'text', text: 'ok' }]);
    await client.complete(request);
    const bare = ['text', 'text', 'text', 'text'];
    expect(model.requests.map(typesIn)).toEqual([['text', 'image', 'document', 'text'], bare, bare]);
    expect(JSON.stringify(model.requests[1])).toContain('(not given to you');
    expect(told).toEqual(['cat.png', 'a.pdf']);
    expect(logger.warnings).toHaveLength(1);
  });
});

describe('the data of files sent to the model [L1]', () => {
  const megabyte = 1024 * 1024;

  it('is at most 20 MB a turn and 60 MB a minute per person, and once over the limit no more is sent in that turn', () => {
    let now = 0;
    const budget = createMediaBudget(() => now);
    let over = 0;
    const turn = (userId = 'alice') => budget(userId, () => (over += 1));
    const take = turn();
    expect([7, 7, 7, 1].map((size) => take(size * megabyte))).toEqual([true, true, false, false]);
    expect(over).toBe(1);
    for (const _ of [1, 2]) expect(turn()(20 * megabyte)).toBe(true);
    // 54 MB by now.
    expect(turn()(7 * megabyte)).toBe(false);
    expect(turn('bob')(7 * megabyte)).toBe(true);
    now += 60_000;
    expect(turn()(20 * megabyte)).toBe(true);
  });
});
