import { describe, expect, it } from 'vitest';

import { withoutFence } from '../../../src/core/text/without-fence.ts';

describe('a structured answer', () => {
  it.each(['{"a": 1}', '```json\n{"a": 1}\n```', '```\n{"a": 1}\n```\n', ' ```json\n\n{"a": 1}\n```'])(
    'is read with and without a code fence: %j',
    (text) => expect(JSON.parse(withoutFence(text))).toEqual({ a: 1 }),
  );

  it('keeps fences inside it', () => {
    const text = JSON.stringify({ a: '```js\n1\n```' });
    expect(withoutFence(text)).toBe(text);
  });
});
