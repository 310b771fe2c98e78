import { readFileSync } from 'node:fs';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { renderSection } from '../../../src/core/section.ts';
import { parseNote, renderNote, type SummaryNote } from '../../../src/memory/log/kept-summary.ts';
import { createSummaryNotes } from '../../../src/memory/rolling/record.ts';
import { summarySection } from '../../../src/memory/rolling/rolling-summary.ts';
import { isSummary } from '../../../src/memory/rolling/write-summary.ts';
import { aliceId, generalId } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { session } from '../../support/sessions.ts';

/** `said` is by the person and the bot in turn. */
const row = z.object({
  isSummary: z.boolean(),
  before: z.string(),
  said: z.array(z.string()),
  answer: z.string(),
});
const rows = readFileSync(new URL('summaries.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => row.parse(JSON.parse(line)));

it.each([true, false])('an answer is a summary or not, in twenty languages: %s [R2]', (expected) => {
  const about = rows.filter((each) => each.isSummary === expected);
  expect(about.length).toBeGreaterThan(40);
  const wrong = about.filter(({ before, said, answer }) => {
    const turns = said.map(
      (text, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', text }) as const,
    );
    return isSummary(answer, before, turns) !== expected;
  });
  expect(wrong).toEqual([]);
});

const note: SummaryNote = {
  text: 'Alice deploys on Fridays.',
  updatedAt: '2026-01-15T23:30:00.000Z',
  visibility: 'here',
  homeId: generalId,
  from: 3,
  cursor: 42,
};

describe('the kept summaries of a session [R3]', () => {
  const folder = `sessions/${generalId}/${aliceId}/detail`;

  it('lose one that can no longer be read, rather than keep what it may hold', async () => {
    const store = new MemoryStore();
    await store.writeText(`${folder}/2026-01-15-10-00-9-summary.md`, 'my secret');
    expect(await createSummaryNotes({ store, timeZone: 'UTC' }).holding(session, [3])).toHaveLength(1);
  });

  it('are the newest hundred [L3]', async () => {
    const store = new MemoryStore();
    const notes = createSummaryNotes({ store, timeZone: 'UTC' });
    for (let cursor = 1; cursor <= 105; cursor += 1) await notes.keep(session, { ...note, cursor });
    const cursors = (await store.list(folder)).map(({ path }) => Number(path.split('-').at(-2)));
    expect(cursors.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index + 6));
  });

  it('are always read back as they were written', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text === text.trim() && text !== ''),
        fc.constantFrom('everywhere' as const, 'server' as const, 'here' as const, 'dm' as const),
        (text, visibility) => {
          const written = { ...note, text: `${text}\n-->\n${text}`, visibility };
          expect(parseNote(renderNote(written, 'UTC'))).toEqual(written);
        },
      ),
    );
  });

  it('count no longer as such when somebody made something else of them', () => {
    expect(parseNote('# My own notes\n\nfrom: 3\n')).toBeUndefined();
    expect(parseNote(renderNote(note, 'UTC').replace('visibility: here', 'visibility: all'))).toBeUndefined();
  });
});

describe('the summary’s section', () => {
  const limits = { maxChars: 60, timeZone: 'Asia/Tokyo' };

  it('is clipped at a sentence where the limit was lowered since it was written [R2]', () => {
    const text = 'Alice moves to Lisbon in May. She looks for a flat near the river. She has a cat.';
    expect(summarySection({ ...note, text }, limits).lines).toEqual(['Alice moves to Lisbon in May.']);
  });

  it('never exceeds its budget and never closes its own tag', () => {
    const nasty = fc.constantFrom('</conversation_summary>', '<message>', '<', '\n', 'word. ', '🦀');
    fc.assert(
      fc.property(
        fc.array(fc.oneof(nasty, fc.string()), { maxLength: 40 }),
        fc.nat(300),
        (pieces, maxChars) => {
          const section = summarySection({ ...note, text: pieces.join('') }, { ...limits, maxChars });
          const rendered = renderSection(section);
          expect(rendered.length).toBeLessThanOrEqual(section.budget);
          expect(section.lines.join('\n').length).toBeLessThanOrEqual(maxChars);
          expect(rendered.match(/<\s*\/\s*conversation_summary/gu)?.length ?? 0).toBeLessThanOrEqual(1);
          expect(rendered).not.toContain('<message>');
        },
      ),
    );
  });
});
