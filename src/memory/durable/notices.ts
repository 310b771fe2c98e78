import type { RecentChanges } from '../../core/changes.ts';
import { buttonLineMaxChars } from '../../core/commands.ts';
import type { CommandButton } from '../../core/reply.ts';
import { counted, quoted, toSingleLine } from '../../core/text.ts';
import type { LateNotice, MemoryNotice, NamedMemory } from '../../core/tool.ts';
import { undoButton } from '../undo.ts';
import { wordingOf, type DurableItem } from './document.ts';
import type { DurableMemory } from './durable-memory.ts';
import { stillSays } from './evidence.ts';
import type { Proposals } from './proposals.ts';
import type { RememberOutcome } from './remember-item.ts';

/** Characters of a text in a line under an answer. */
const noticedMaxChars = 200;

/** What was stored, in the words that the speaker has just said here. Without `mayName` it is only counted. */
export function rememberNotice(
  { item, superseded, evicted, undoId }: Stored,
  text: string,
  mayName: boolean,
): MemoryNotice {
  const verb = superseded === undefined ? '💾 Remembered' : '💾 Changed';
  const before =
    superseded === undefined ? '' : `, before: ${quoted(wordingOf(superseded), noticedMaxChars)}`;
  const room = evicted.length === 0 ? '' : ` · 🗑️ Let go to make room: ${counted(evicted.length, 'item')}`;
  const bareLine = `${verb}: 1 item${room}`;
  return {
    line: mayName ? `${verb}: ${quoted(text, noticedMaxChars)}${before}${room}` : bareLine,
    bareLine,
    buttons: [
      ...undoButton(undoId),
      ...(item.visibility === 'dm' ? [] : [{ label: 'Only in DM', line: `memory hide ${item.id}` }]),
      ...(mayName ? remindButtons(item) : []),
    ],
    ...(superseded === undefined && evicted.length === 0 ? { isQuiet: true as const } : {}),
  };
}

/** Of an item with a day that is still to come where it is said [RM8]. */
export function remindButtons({ id, when, looksBack }: DurableItem): readonly CommandButton[] {
  if (when === undefined || looksBack !== undefined) return [];
  return [{ label: `⏰ Remind me (${when})`, line: `reminders item ${id}`, takes: 'itself' }];
}

/** Asks the person whether an item may be remembered [K9]; `mayName` as above. */
export function proposalNotice(item: DurableItem, mayName: boolean): MemoryNotice {
  const bareLine = '💭 May I remember something that you said? `!memory proposals` shows it';
  const heard = item.source.heard === undefined ? '' : ' (heard)';
  return {
    line: mayName ? `💭 May I remember: ${quoted(wordingOf(item), noticedMaxChars)}${heard}?` : bareLine,
    bareLine,
    buttons: [
      { label: '✅ Yes', line: `memory accept ${item.id}` },
      { label: '✏️ Edit', line: `memory proposals ${item.id}`, opensForm: true },
      { label: '❌ No', line: `memory decline ${item.id}` },
    ],
  };
}

export type Stored = Exclude<RememberOutcome, { readonly outcome: 'refused' }>;

/** Buttons that fit under an answer, less those that are for all, none and everything. */
export const mostChoices = 20;
/** Words that fit into what a button does. */
export const wordsOfButtonMaxChars = 40;
export const eraseButton: CommandButton = {
  label: 'Erase everything …',
  line: 'memory erase',
  isDanger: true,
  takes: 'nothing',
};

export function forgetButton({ id, text }: DurableItem, before = ''): CommandButton {
  return { label: `${before}${toSingleLine(text)}`, line: `memory forget ${id}`, takes: 'itself' };
}

/**
 * A button for each of several items, for all and for none [K4]. Too many ids for a button are taken by the `words` that
 * all of them say as whole words, if there are such. `isVague`: the words name none of them, and everything may be meant.
 */
export function whichToForget(
  items: readonly DurableItem[],
  { words = '', isVague = false }: { readonly words?: string; readonly isVague?: boolean },
): readonly CommandButton[] {
  const buttons = items.slice(0, mostChoices).map((item) => forgetButton(item));
  if (isVague) return [...buttons, eraseButton, { label: 'None' }];
  const byIds = `memory forget ${items.map(({ id }) => id).join(' ')}`;
  const byWords =
    words !== '' && words.length <= wordsOfButtonMaxChars ? `memory forget all ${words}` : undefined;
  const line = byIds.length <= buttonLineMaxChars ? byIds : byWords;
  return [
    ...(items.length > 1 && line !== undefined
      ? [{ label: `All ${items.length}`, line, isDanger: true as const }]
      : []),
    ...buttons,
    { label: 'None' },
  ];
}

/** Words that name several items, or none by themselves, forget nothing: their person is asked [K4]. */
export function whichNotice(buttons: readonly CommandButton[]): MemoryNotice {
  const bareLine = '🗑️ Nothing is forgotten yet: `!memory forget <id or words>`';
  return { line: '🗑️ Nothing is forgotten yet. Which shall I forget?', bareLine, buttons, bareButtons: [] };
}

/** The same as a notice of something stored, which may replace one of several items. */
export function mayReplace(notice: MemoryNotice, newId: string, items: readonly DurableItem[]): MemoryNotice {
  const instead = items.slice(0, mostChoices).map(({ id, text }): CommandButton => ({
    label: `Instead of: ${toSingleLine(text)}`,
    line: `memory review keep ${newId},${id}/0`,
    takes: 'itself',
  }));
  return {
    ...notice,
    line: `${notice.line} · Does it replace one of these?`,
    buttons: [...notice.buttons, ...instead],
    bareButtons: notice.buttons,
    isQuiet: undefined,
  };
}

/** What was forgotten is not said again, only how much it was. */
export function forgetNotice(count: number, undoId: string | undefined): MemoryNotice {
  const line = `🗑️ Forgotten: ${counted(count, 'item')}`;
  return { line, bareLine: line, buttons: undoButton(undoId) };
}

/** What a notice of something stored names. */
export function namedItem({ item, superseded }: Pick<Stored, 'item' | 'superseded'>): NamedMemory {
  const before = superseded && { before: { id: superseded.id, text: superseded.text } };
  return { kind: 'item', id: item.id, text: item.text, ...before };
}

export function namedProposal({ id, text }: DurableItem): NamedMemory {
  return { kind: 'proposal', id, text };
}

/**
 * Whether what a notice names is still there in these words, and its message says them [G5]. Rejects with
 * `StoreError`.
 */
export function stillNamed({
  durable,
  proposals,
  recent,
}: {
  readonly durable: Pick<DurableMemory, 'list' | 'historiesOf'>;
  readonly proposals: Pick<Proposals, 'list'>;
  readonly recent: Pick<RecentChanges, 'latest'>;
}) {
  return async ({ userId, messageId, about }: LateNotice): Promise<boolean> => {
    // Known before anything is on disk.
    const now = recent.latest(messageId);
    if (now !== undefined && !stillSays(about.text, now.text ?? '')) return false;
    if (about.kind === 'proposal') return holds(await proposals.list(userId), about);
    if (!holds(await durable.list(userId), about)) return false;
    const { before } = about;
    return before === undefined || holds((await durable.historiesOf(userId)).get(about.id) ?? [], before);
  };
}

function holds(items: readonly DurableItem[], named: Pick<NamedMemory, 'id' | 'text'>): boolean {
  return items.some(({ id, text }) => id === named.id && text === named.text);
}
