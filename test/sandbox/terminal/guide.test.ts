import { expect, it } from 'vitest';

import { createGuide } from '../../../src/sandbox/terminal/guide.ts';

const suggestions = [
  { lead: 'First:', line: 'remember that I like tea' },
  { lead: 'Then:', line: '!memory show' },
];

/** What somebody who types these lines is shown, a line a time. */
function shownFor(lines: readonly string[], all = suggestions): readonly string[] {
  const shown: string[] = [];
  const guide = createGuide(all, { note: (text) => shown.push(text) });
  guide.begin();
  for (const line of lines) if (guide.took(line)) guide.show();
  return shown;
}

it('shows the next when one was done, however it was written, and ends after the last', () => {
  expect(shownFor(['  Remember that I like tea. ', '', '!memory  show', '!memory show'])).toEqual([
    '→ First: remember that I like tea',
    '→ Then: !memory show',
    'That was all: /demo plays more, /help lists the rest.',
  ]);
});

it('says no more once something else was done three times', () => {
  expect(shownFor(['one', 'two', 'three', 'remember that I like tea'])).toHaveLength(1);
  expect(shownFor(['one', 'two', 'remember that I like tea', 'three', '!memory show'])).toEqual([
    '→ First: remember that I like tea',
    '→ Then: !memory show',
  ]);
});
