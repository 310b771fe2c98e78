import { expect, it } from 'vitest';

import { growthOf } from '../../../src/sandbox/terminal/interactive-chat.ts';

const first = { id: '1', text: 'so it is', isCorrection: false };
const { shown } = growthOf(undefined, first, false);

it('shows all of a message that is new, or that grows where it stands', () => {
  expect(growthOf(undefined, first, false)).toMatchObject({ text: 'so it is', isEdited: false });
  const grown = growthOf(shown, { ...first, text: 'so it is, then', isCorrection: true }, true);
  expect(grown).toMatchObject({ text: 'so it is, then', isEdited: false });
});

it('shows what came after the part that stands for good, again and again', () => {
  const more = growthOf(shown, { ...first, text: 'so it is, then', isCorrection: true }, false);
  expect(more).toMatchObject({ text: '… , then', isEdited: false });
  const evenMore = growthOf(more.shown, { ...first, text: 'so it is, then. Yes', isCorrection: true }, true);
  expect(evenMore).toMatchObject({ text: '… , then. Yes', isEdited: false });
});

it('shows all again, as edited, where what stands for good is not true any more', () => {
  for (const text of ['so it was', 'so it is']) {
    const edited = growthOf(shown, { ...first, text, isCorrection: true }, false);
    expect(edited).toMatchObject({ text, isEdited: true, shown: { prefix: '' } });
  }
  const other = growthOf(shown, { id: '2', text: 'old', isCorrection: true }, true);
  expect(other).toMatchObject({ text: 'old', isEdited: true });
});
