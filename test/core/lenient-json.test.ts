import { describe, expect, it } from 'vitest';

import { jsonIn } from '../../src/core/lenient-json.ts';

describe('the data of a structured answer [M9]', () => {
  it.each([
    '{"a":1}',
    '[{"a":1}]',
    '```json\n{"a":1}\n```',
    'Here you are:\n{"a":1}\nAnything else?',
    '<think>Hm.</think>{"a":1}',
    'see [1]: {a} {"a":1,}',
  ])('is found in %j', (text) => expect(jsonIn(text)).toEqual([{ a: 1 }]));

  it.each(['', 'They like tea.', '{"a":', 'a } b {', 'as said [1]'])('is not in %j', (text) =>
    expect(jsonIn(text)).toBeUndefined(),
  );
});
