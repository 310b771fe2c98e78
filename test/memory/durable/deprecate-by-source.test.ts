import { expect, it } from 'vitest';

import { deprecateBySource } from '../../../src/memory/durable/deprecate-by-source.ts';
import { documentOf, item, minutesLater, source } from './fixtures.ts';

const later = minutesLater(60);
const messageId = '400000000000000007';
const manual = item({ id: '1', source: source({ type: 'manual', messageId }) });
const byTool = item({ id: '2', text: 'two', source: source({ type: 'discord', messageId }) });
const extracted = item({ id: '3', text: 'three', source: source({ type: 'summary', messageId }) });
const other = item({ id: '4', text: 'four', source: source({ type: 'summary' }) });

it('takes what was extracted from the messages out of use, never what the person asked to remember', () => {
  const before = documentOf(manual, byTool, extracted, other);
  const { document, result } = deprecateBySource(before, [messageId], () => false, later);
  expect(result.map(({ id }) => id)).toEqual(['2', '3']);
  expect(document.items.map(({ status }) => status)).toEqual([
    'active',
    'deprecated',
    'deprecated',
    'active',
  ]);
});

it('marks what lost its message, so that it may be said again', () => {
  const { document } = deprecateBySource(
    documentOf(manual, extracted, other),
    [messageId],
    () => false,
    later,
  );
  expect(document.items.map(({ retracted }) => retracted)).toEqual([undefined, true, undefined]);
});

it('takes what was corrected meanwhile out of sight too', () => {
  const corrected = item({ ...extracted, status: 'deprecated', supersededBy: other.id });
  const { document } = deprecateBySource(documentOf(corrected, other), [messageId], () => false, later);
  expect(document.items[0]).not.toHaveProperty('supersededBy');
});

it('keeps what the edited message still supports', () => {
  const { result } = deprecateBySource(
    documentOf(byTool, extracted),
    [messageId],
    ({ id }) => id === '3',
    later,
  );
  expect(result.map(({ id }) => id)).toEqual(['2']);
});

it('changes nothing for other messages', () => {
  const before = documentOf(manual, extracted);
  expect(deprecateBySource(before, ['400000000000000999'], () => false, later).document).toBe(before);
});
