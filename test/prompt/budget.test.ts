import { describe, expect, it } from 'vitest';

import { renderSection, type SectionName } from '../../src/core/section.ts';
import { fitPrompt, renderSoul, type PromptDraft } from '../../src/prompt/budget.ts';
import { historyEntry, renderHistory } from '../../src/prompt/history.ts';
import { chatMessage, section } from './samples.ts';

const sections = [
  section({ name: 'channel_context', slot: 'channel' }),
  section({ name: 'user_profile' }),
  section({ name: 'notes' }),
  section({ name: 'durable_items', slot: 'items' }),
  section({ name: 'recent_elsewhere', slot: 'fast' }),
  section({ name: 'overview', slot: 'fast' }),
  section({ name: 'conversation_summary', slot: 'fast' }),
  section({ name: 'matching_items', slot: 'last' }),
  section({ name: 'notebook_index', slot: 'fast' }),
  section({ name: 'turn_facts', slot: 'last' }),
  section({ name: 'discord_actions' }),
];

const draft: PromptDraft = {
  soul: 'I am Discoclaw.',
  rules: 'Rules.',
  sections,
  history: ['one', 'two', 'three'].flatMap((text, index) => historyEntry(chatMessage(index, text)) ?? []),
  files: [],
  message: '<message>hello</message>',
};

function length(fitted: PromptDraft): number {
  return [
    renderSoul(fitted.soul),
    fitted.rules,
    ...fitted.sections.map(renderSection),
    ...renderHistory(fitted.history).map(({ text }) => text),
    fitted.message,
  ].join('').length;
}

function linesOf(fitted: PromptDraft, name: SectionName): readonly string[] {
  return fitted.sections.find((each) => each.name === name)?.lines ?? [];
}

describe('fitPrompt [P4]', () => {
  it('lets short-term memory give way first, its last line before the whole', () => {
    const fitted = fitPrompt(draft, length(draft) - 1);
    expect(linesOf(fitted, 'recent_elsewhere')).toEqual(section().lines.slice(0, 1));
    expect({ ...fitted, sections: [] }).toEqual({ ...draft, sections: [] });
  });

  it('then history, its oldest message first, before any durable item', () => {
    const sheds = ['recent_elsewhere', 'notebook_index'].map(
      (name) =>
        sections
          .filter((each) => each.name === name)
          .map(renderSection)
          .join('').length,
    );
    const fitted = fitPrompt(draft, length(draft) - sheds.reduce((a, b) => a + b, 0) - 1);
    expect(fitted.history).toEqual(draft.history.slice(1));
    expect(linesOf(fitted, 'durable_items')).toEqual(section().lines);
  });

  it('sends rules and message whole even where they alone are too long', () => {
    const fitted = fitPrompt(draft, 10);
    expect(fitted.rules).toBe(draft.rules);
    expect(fitted.message).toBe(draft.message);
    expect(length(fitted)).toBe(draft.rules.length + draft.message.length);
  });

  it('clips SOUL.md at 8,000 characters however much room there is', () => {
    expect(fitPrompt({ ...draft, soul: 'x'.repeat(9000) }, 100_000).soul).toHaveLength(8000);
  });
});
