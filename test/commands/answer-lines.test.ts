import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { quoted, withoutFences } from '../../src/commands/answer-lines.ts';

it('never lets remembered words open a code block, and changes nothing else', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^(?:`{1,7}|\w| ){0,20}$/u), (text) => {
      const shown = withoutFences(text);
      expect(shown).not.toContain('```');
      expect(shown.replaceAll('\u2060', '')).toBe(text);
    }),
  );
  expect(withoutFences('use `code` and ``code``')).toBe('use `code` and ``code``');
  expect(quoted('a ``` b')).not.toContain('```');
});
