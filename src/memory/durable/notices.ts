import { counted, quoted } from '../../core/text.ts';
import type { MemoryNotice } from '../../core/tool.ts';
import { undoButton } from '../undo.ts';
import { isPlainId } from './document.ts';
import type { ProposedItem } from './proposals.ts';
import type { RememberOutcome } from './remember-item.ts';

/** Characters of a text in a line under an answer. */
const noticedMaxChars = 200;

/**
 * What was stored, in the words that the speaker has just said here: whether the same was known before, perhaps from a narrower place, is not told. Said to
 * fewer readers than the answer has, it is told without them: `mayName`.
 */
export function rememberNotice(
  { item, superseded, evicted, undoId }: Stored,
  text: string,
  mayName: boolean,
): MemoryNotice {
  const verb = superseded === undefined ? '💾 Remembered' : '💾 Changed';
  const before = superseded === undefined ? '' : `, before: ${quoted(superseded.text, noticedMaxChars)}`;
  const room = evicted.length === 0 ? '' : ` · 🗑️ Let go to make room: ${counted(evicted.length, 'item')}`;
  const bareLine = `${verb}: 1 item${room}`;
  return {
    line: mayName ? `${verb}: ${quoted(text, noticedMaxChars)}${before}${room}` : bareLine,
    bareLine,
    buttons: [
      ...undoButton(undoId),
      ...(item.visibility === 'dm' || !isPlainId(item.id)
        ? []
        : [{ label: 'Only in DM', line: `memory hide ${item.id}` }]),
    ],
    ...(superseded === undefined && evicted.length === 0 ? { isQuiet: true as const } : {}),
  };
}

/** Asks the person whether an item may be remembered [K9]; `mayName` as above. */
export function proposalNotice({ id, item }: ProposedItem, mayName: boolean): MemoryNotice {
  const bareLine = '💭 May I remember something that you said? `!memory proposals` shows it';
  return {
    line: mayName ? `💭 May I remember: ${quoted(item.text, noticedMaxChars)}?` : bareLine,
    bareLine,
    buttons: [
      { label: '✅ Yes', line: `memory accept ${id}` },
      { label: '✏️ Edit', line: `memory proposals ${id}`, opensForm: true },
      { label: '❌ No', line: `memory decline ${id}` },
    ],
    isProposal: true,
  };
}

export type Stored = Exclude<RememberOutcome, { readonly outcome: 'refused' }>;

/** What was forgotten is not said again, only how much it was. */
export function forgetNotice(count: number, undoId: string | undefined): MemoryNotice {
  const line = `🗑️ Forgotten: ${counted(count, 'item')}`;
  return { line, bareLine: line, buttons: undoButton(undoId) };
}
