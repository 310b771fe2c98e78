import type { OpenedFile } from '../core/message.ts';
import { renderSection, type Section, type SectionName } from '../core/section.ts';
import { clip } from '../core/text.ts';
import { charsOf, newestWithin, type HistoryEntry } from './history.ts';
import { renderFile, type FilePiece } from './quoted.ts';

/** A prompt before it becomes blocks and turns. */
export interface PromptDraft {
  readonly soul: string;
  readonly rules: string;
  readonly sections: readonly Section[];
  readonly history: readonly HistoryEntry[];
  /** Attached files, as the last message shows them. */
  readonly files: readonly PromptFile[];
  /** The current message, rendered. */
  readonly message: string;
}

export interface PromptFile {
  readonly file: OpenedFile;
  readonly pieces: readonly FilePiece[];
  /** Only the beginning of a text is shown. */
  readonly isCut: boolean;
}

/** [P4] */
const soulMaxChars = 8_000;

/** Attached files keep so many before anything remembered gives way to them. */
const filesFirstKeep = 8_000;

/** `long_files`: attached texts, the longest first, down to 8,000 characters of all files. */
type Shrinkable = SectionName | 'history' | 'soul' | 'files' | 'long_files';

/**
 * What gives way first when the whole is too long [P4]; before it, sections that are not listed here. Rules and
 * message never give way; intake bounds the message [L1].
 */
const shrinkOrder: readonly Shrinkable[] = [
  'long_files',
  'recent_elsewhere',
  'notebook_index',
  'history',
  'durable_items',
  'matching_items',
  'overview',
  'conversation_summary',
  'notes',
  'user_profile',
  'files',
  'forwarded',
  'replied_to',
  'turn_facts',
  'discord_actions',
  'server_manner',
  'channel_context',
  'soul',
];

const afterSoul = '\n\n';
export const soulPartMaxChars = soulMaxChars + afterSoul.length;

/** Empty without a SOUL.md. */
export function renderSoul(soul: string): string {
  return soul === '' ? '' : soul + afterSoul;
}

/**
 * Fits the draft into `max` characters: sections lose their last lines, history its oldest messages, in the
 * table's order. Rules and message always stay whole.
 */
export function fitPrompt(draft: PromptDraft, max: number): PromptDraft {
  let fitted: PromptDraft = { ...draft, soul: clip(draft.soul.trim(), soulMaxChars).trim() };
  const unlisted = draft.sections.map(({ name }) => name).filter((name) => !shrinkOrder.includes(name));
  for (const name of [...unlisted, ...shrinkOrder]) {
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
    charsOf(draft.history) +
    draft.files.reduce((sum, file) => sum + charactersOf(file), 0) +
    draft.message.length
  );
}

function shrink(draft: PromptDraft, name: Shrinkable, excess: number): PromptDraft {
  if (name === 'history') return { ...draft, history: withoutOldest(draft.history, excess) };
  if (name === 'soul') return { ...draft, soul: clip(draft.soul, draft.soul.length - excess).trim() };
  if (name === 'long_files') return { ...draft, files: shorterFiles(draft.files, excess, filesFirstKeep) };
  if (name === 'files') return { ...draft, files: shorterFiles(draft.files, excess, 0) };
  return { ...draft, sections: withoutLastLines(draft.sections, name, excess) };
}

/**
 * Files in fewer characters, at least `keep`: texts lose their ends, the longest first, then the last files
 * go.
 */
function shorterFiles(files: readonly PromptFile[], excess: number, keep: number): readonly PromptFile[] {
  const total = files.reduce((sum, file) => sum + charactersOf(file), 0);
  const room = Math.max(keep, total - excess);
  const texts = files.filter(({ file }) => file.kind === 'text').map(charactersOf);
  const most = evenShare(texts, room - total + texts.reduce((sum, length) => sum + length, 0));
  let left = room;
  return files
    .map((each) =>
      each.file.kind === 'text' && charactersOf(each) > most
        ? { ...each, pieces: renderFile(each.file, most), isCut: true }
        : each,
    )
    .filter((each) => (left -= charactersOf(each)) >= 0);
}

/** The cap for each of several lengths so that together they have `room`. */
function evenShare(lengths: readonly number[], room: number): number {
  let left = room;
  let among = lengths.length;
  for (const length of lengths.toSorted((a, b) => a - b)) {
    if (length > left / among) break;
    left -= length;
    among -= 1;
  }
  return among === 0 ? Number.POSITIVE_INFINITY : Math.max(0, Math.floor(left / among));
}

function charactersOf({ pieces }: PromptFile): number {
  return pieces.reduce((sum, piece) => sum + ('text' in piece ? piece.text.length : 0), 0);
}

function withoutOldest(history: readonly HistoryEntry[], excess: number): readonly HistoryEntry[] {
  return newestWithin(history, charsOf(history) - excess, new Set(history.map(({ message }) => message.id)));
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
