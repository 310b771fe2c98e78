import { expect, it } from 'vitest';

import { ReadMarks } from '../../../src/memory/notebook/read-marks.ts';
import { session } from '../../support/sessions.ts';

it('parts count as the whole only when none was skipped', () => {
  const marks = new ReadMarks();
  const knowledge = () => marks.knowledgeOf(session, 'k', '0123456789');
  expect(knowledge()).toBe('unread');
  marks.markPart(session, 'k', '0123456789', 6, 10);
  expect(knowledge()).toBe('partly');
  marks.markPart(session, 'k', '0123456789', 0, 6);
  expect(knowledge()).toBe('partly');
  marks.markPart(session, 'k', '0123456789', 4, 10);
  expect(knowledge()).toBe('whole');
  expect(marks.knowledgeOf(session, 'k', 'another')).toBe('changed');
  marks.markPart(session, 'k', 'another', 0, 3);
  expect(marks.knowledgeOf(session, 'k', 'another')).toBe('partly');
  expect(marks.knowledgeOf({ ...session, channelId: '200000000000000077' }, 'k', '0123456789')).toBe(
    'unread',
  );
});

it('what falls out of the bounded memory has to be read again', () => {
  const marks = new ReadMarks();
  for (let index = 0; index <= 5000; index += 1) marks.markWhole(session, `k${index}`, 'text');
  expect(marks.knowledgeOf(session, 'k0', 'text')).toBe('unread');
  expect(marks.knowledgeOf(session, 'k5000', 'text')).toBe('whole');
});
