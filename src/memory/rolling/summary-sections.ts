import { localDateTime } from '../../core/time.ts';
import { dataText, renderSection } from '../../core/section.ts';
import type { Section } from '../../core/section.ts';
import { clipAtSentence, flatten } from '../../core/text.ts';
import type { StoredSummary } from '../log/session-state.ts';

/**
 * The summary for the prompt, with an absolute time so that the bytes stay the same [R5][P2]. `maxChars` bounds its text, which is clipped at a
 * sentence where it is longer, as after the limit was lowered; only this copy is [R2].
 */
export function summarySection(
  summary: Pick<StoredSummary, 'text' | 'updatedAt'>,
  { maxChars, timeZone }: { readonly maxChars: number; readonly timeZone: string },
): Section {
  const name = 'conversation_summary';
  const when = localDateTime(new Date(summary.updatedAt), timeZone);
  const title = `Summary of this conversation until ${when} (${timeZone}):`;
  const lines = summary.text.split('\n').map(flatten).filter(Boolean).join('\n');
  const text = clipAtSentence(dataText(lines), maxChars);
  return {
    name,
    slot: 'fast',
    title,
    lines: text === '' ? [] : text.split('\n'),
    budget: renderSection({ name, title, lines: [''] }).length + maxChars,
  };
}

const turnFactsBudget = 200;

/** How many turns the summary does not know of yet [R5]; rides in the last message, since it changes with each. */
export function turnsSinceSection(turns: number): Section {
  const came = turns === 1 ? '1 turn came' : `${turns} turns came`;
  return {
    name: 'turn_facts',
    slot: 'last',
    title: 'About this turn:',
    lines: turns === 0 ? [] : [`${came} since the summary.`],
    budget: turnFactsBudget,
  };
}
