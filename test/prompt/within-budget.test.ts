import { describe, expect, it } from 'vitest';
import { renderSection } from '../../src/core/section.ts';
import { withinBudget } from '../../src/prompt/within-budget.ts';
import { section } from './samples.ts';

describe('withinBudget', () => {
  it('returns a section that fits as it is', () => {
    const fitting = section();
    expect(withinBudget(fitting)).toBe(fitting);
  });

  it('takes the lines that do not fit from a section that its reader made too long', () => {
    const held = withinBudget(section({ lines: ['short', 'x'.repeat(500), 'also short'], budget: 120 }));
    expect(held.lines).toEqual(['short', 'also short']);
    expect(renderSection(held).length).toBeLessThanOrEqual(120);
  });
});
