import { describe, expect, it } from 'vitest';

import { tellingTerms, withoutWithdrawnLines } from '../../../src/memory/notebook/withdrawn-lines.ts';

const gone = new Set(tellingTerms('axolotls'));

describe('a note whose messages were taken back', () => {
  it('loses the lines with their words, and no other', () => {
    const note = '## Current Task\n- Build a tank\n- Breeds axolotls\n- Wants tea\n';
    expect(withoutWithdrawnLines(note, { gone })).toBe('## Current Task\n- Build a tank\n- Wants tea\n');
  });

  it('stays the very same where it has none of them', () => {
    const note = '## Axioms\n- Wants tea\n';
    expect(withoutWithdrawnLines(note, { gone })).toBe(note);
  });

  it('is no more where only headings would be left', () => {
    const note = '# Axolotls\n> Summary: what they eat\n\n## Known Context\n- An axolotl eats worms\n';
    expect(withoutWithdrawnLines(note, { gone })).toBeUndefined();
  });

  it('keeps the overview’s own headings, dates and the mark of its audience', () => {
    const words = new Set(tellingTerms('the task of 2026 is here, and so is the home'));
    const note =
      '## Current Task\n- Date: 2026-01-15\n- Wants tea\n\n<!--\nMETA:\nvisibility: here\nhome: 200000000000000001\n-->\n';
    expect(withoutWithdrawnLines(note, { gone: words })).toBe(note);
  });

  it('keeps what is about something else where a person may have written it', () => {
    const mostlyOf = new Set(tellingTerms('I breed axolotls in my project'));
    const lines = [
      '- Project Apollo: deadline in May, with Bob',
      '- The axolotl tank of the museum in Riga is open on Mondays',
    ];
    const told = ['- Breeds axolotls', '- Alice breeds her axolotls'];
    const note = [...lines, ...told].join('\n');
    expect(withoutWithdrawnLines(note, { gone, mostlyOf })).toBe(lines.join('\n'));
    const hers = new Set(tellingTerms('project'));
    expect(withoutWithdrawnLines(lines.join('\n'), { gone: hers, mostlyOf })).toBe(lines.join('\n'));
  });
});
