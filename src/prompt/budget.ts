import { fitLines, renderSection, type Section, type SectionName } from '../core/section.ts';
import { clip } from '../core/text.ts';
import type { HistoryEntry } from './history.ts';

/** All that a prompt is made of, before it becomes blocks and turns. */
export interface PromptDraft {
  readonly soul: string;
  readonly rules: string;
  readonly sections: readonly Section[];
  readonly history: readonly HistoryEntry[];
  /** The current message, rendered. */
  readonly message: string;
}

/** Characters of SOUL.md at most [P4]. */
const soulMaxChars = 8_000;

/** What gives way first when the whole is too long [P4]. The rules and the message are not here: they never do. */
const shrinkOrder = [
  'recent_elsewhere',
  'notebook_index',
  'history',
  'durable_items',
  'changes',
  'matching_items',
  'overview',
  'conversation_summary',
  'notes',
  'user_profile',
  'forwarded',
  'replied_to',
  'turn_facts',
  'discord_actions',
  'channel_context',
  'soul',
] as const satisfies readonly (SectionName | 'history' | 'soul')[];

/** SOUL.md as the system prompt begins with it: the empty string where there is none. */
export function renderSoul(soul: string): string {
  return soul === '' ? '' : `${soul}\n\n`;
}

/**
 * The draft within `max` characters of system and messages: sections lose their last lines, history its oldest messages, in
 * the order of the table. If rules and message alone are longer than `max`, they go in whole all the same.
 */
export function fitPrompt(draft: PromptDraft, max: number): PromptDraft {
  let fitted: PromptDraft = { ...draft, soul: clip(draft.soul.trim(), soulMaxChars).trim() };
  for (const name of shrinkOrder) {
    const excess = lengthOf(fitted) - max;
    if (excess <= 0) break;
    fitted = shrink(fitted, name, excess);
  }
  return fitted;
}

function lengthOf(draft: PromptDraft): number {
  return (
    renderSoul(draft.soul).length +
    draft.rules.length +
    draft.sections.reduce((sum, section) => sum + renderSection(section).length, 0) +
    draft.history.reduce((sum, entry) => sum + entry.text.length, 0) +
    draft.message.length
  );
}

function shrink(draft: PromptDraft, name: (typeof shrinkOrder)[number], excess: number): PromptDraft {
  if (name === 'history') return { ...draft, history: withoutOldest(draft.history, excess) };
  if (name === 'soul') return { ...draft, soul: clip(draft.soul, draft.soul.length - excess).trim() };
  return { ...draft, sections: withoutLastLines(draft.sections, name, excess) };
}

function withoutOldest(history: readonly HistoryEntry[], excess: number): readonly HistoryEntry[] {
  let freed = 0;
  let dropped = 0;
  for (const entry of history) {
    if (freed >= excess) break;
    freed += entry.text.length;
    dropped += 1;
  }
  return history.slice(dropped);
}

function withoutLastLines(
  sections: readonly Section[],
  name: SectionName,
  excess: number,
): readonly Section[] {
  let left = excess;
  return sections.map((section) => {
    if (section.name !== name || left <= 0) return section;
    const before = renderSection(section).length;
    let shorter = section;
    while (shorter.lines.length > 0 && before - renderSection(shorter).length < left) {
      shorter = { ...shorter, lines: shorter.lines.slice(0, -1) };
    }
    left -= before - renderSection(shorter).length;
    return shorter;
  });
}

/** Readers keep their budgets; this holds them to it. A section that fits is returned as it is. */
export function withinBudget(section: Section): Section {
  return renderSection(section).length <= section.budget
    ? section
    : { ...section, lines: fitLines(section, section.lines) };
}
