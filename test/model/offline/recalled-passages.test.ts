import { expect, it } from 'vitest';

import { recalledPassages } from '../../../src/model/offline/recalled-passages.ts';

const found = [
  'Found 3 result(s) for: "which tea?"',
  '[1] Source: messages\nLine: 4\nContent: [2026-01-15] alice: which tea?\nCitation: messages.jsonl#L4\nLink: https://discord.com/channels/@me/1/4',
  '[2] Source: messages\nLine: 2\nContent: [2026-01-15] alice: I like green tea\nCitation: messages.jsonl#L2\nLink: https://discord.com/channels/@me/1/2',
  '[3] Source: messages\nLine: 5\nContent: [2026-01-15] Discoclaw: I have nothing about that in memory.\nCitation: messages.jsonl#L5',
  '[4] Source: detail\nFile: detail/tea.md:10\nContent: Prefers green tea\nCitation: detail/tea.md#L10',
].join('\n\n');

it('tells what was found with where it is from, without the question itself and the stand-in’s own words', () => {
  expect(recalledPassages(found, 'Which tea?')).toEqual([
    '- [2026-01-15] alice: I like green tea (messages.jsonl#L2, <https://discord.com/channels/@me/1/2>)',
    '- Prefers green tea (detail/tea.md#L10)',
  ]);
  expect(recalledPassages('Found 0 result(s) for: "which tea?"', 'which tea?')).toEqual([]);
});
