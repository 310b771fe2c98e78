import { describe, expect, it } from 'vitest';

import { visiblePart } from '../../../src/discord/replies/visible-part.ts';

describe('what can be shown of a growing text', () => {
  it.each(['`', '``', '```', '```typ', '  ```js', '~', '~~~', '~~~py'])(
    'leaves out a last line that may become a fence: %s',
    (line) => {
      expect(visiblePart(`Look:\n${line}`)).toBe('Look:\n');
    },
  );

  it.each(['`code` is', '```x``` is inline', '~~gone~~', 'a ``', '```js\n', 'plain'])(
    'holds back nothing that is decided: %s',
    (text) => {
      expect(visiblePart(text)).toBe(text);
    },
  );

  it('leaves out half a character', () => {
    expect(visiblePart('Hi 👋'.slice(0, -1))).toBe('Hi ');
  });
});
