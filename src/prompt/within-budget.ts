import { fitLines, renderSection } from '../core/section.ts';
import type { Section } from '../core/section.ts';

/** Readers keep their budgets; this holds them to it. A section that fits is returned as it is. */
export function withinBudget(section: Section): Section {
  return renderSection(section).length <= section.budget
    ? section
    : { ...section, lines: fitLines(section, section.lines) };
}
