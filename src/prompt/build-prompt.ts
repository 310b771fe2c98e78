import type { OpenedFile } from '../core/chat.ts';
import type { MemorySource } from '../core/memory-source.ts';
import type { CacheLife, MediaBlock, ModelMessage, TextBlock } from '../core/model.ts';
import {
  renderSection,
  sectionNames,
  sourcesOf,
  type PartSize,
  type Section,
  type SectionSlot,
} from '../core/section.ts';
import { fitPrompt, renderSoul, soulPartMaxChars, withinBudget, type PromptDraft } from './budget.ts';
import { renderHistory, type HistoryWindow } from './history.ts';
import { label, renderFile, renderMessage, type FilePiece, type PromptMessage } from './quoted.ts';
import type { Snapshot } from './snapshot.ts';

export interface PromptInput {
  readonly soul: string;
  /** The same for everyone. */
  readonly rules: string;
  /** For a model without tools [M9]. Default: the same. */
  readonly rulesWithoutTools?: string;
  /** Sections of slot `channel`: the owner's words about the channel [N8]. */
  readonly channel: readonly Section[];
  readonly snapshot: Snapshot;
  readonly history: Pick<HistoryWindow, 'entries' | 'stableUpTo'>;
  /** In characters, as the window keeps to it. */
  readonly historyBudget?: number;
  /** Sections of slot `last`, with the changes since the snapshot. */
  readonly last: readonly Section[];
  readonly message: PromptMessage;
  /** For the last message only; pictures and documents are bounded where they are opened. */
  readonly files: readonly OpenedFile[];
  /** Characters of system and messages [P4]. */
  readonly promptMaxChars: number;
  /** How long the vendor is to keep the prompt's parts; without, nothing is marked. */
  readonly keep: KeptParts;
}

export interface KeptParts {
  /** Of the common beginning. Never shorter than the session's: the vendor wants longer lives first. */
  readonly shared: CacheLife | undefined;
  readonly session: CacheLife | undefined;
}

/** End to end, the parts are the whole text of system and messages, without pictures and documents. */
export interface PromptPart extends PartSize {
  readonly slot: SectionSlot | 'system' | 'history';
}

export interface Prompt {
  readonly system: readonly TextBlock[];
  readonly messages: readonly ModelMessage[];
  readonly parts: readonly PromptPart[];
  /** Characters of all parts at most. */
  readonly maxChars: number;
  /** Files that people are told are not shown whole, each with the reason. */
  readonly leftOut: readonly string[];
  /** The person's memory in it, no more and no less [K7]. */
  readonly sources: readonly MemorySource[];
}

/**
 * The model's input for one turn, in the order of [P0]: what changes least comes first, with cache marks
 * after the rules, each part of the snapshot, and history. The system prompt holds only the owner's words;
 * memory stands in user turns. Equal input gives equal bytes.
 */
export function buildPrompt(input: PromptInput): Prompt {
  const draft = fitPrompt(draftOf(input), input.promptMaxChars);
  const soul = renderSoul(draft.soul);
  const channel = renderSlot(draft, 'channel');
  const slow = renderSlot(draft, 'slow');
  const fast = renderSlot(draft, 'fast');
  const toolless = { ...draft, sections: draft.sections.flatMap(withoutToolWords) };
  const instead = (slot: 'slow' | 'fast', { text }: { readonly text: string }) => {
    const bare = renderSlot(toolless, slot).text;
    return text === bare ? {} : { withoutTools: bare === '' ? noActions : bare };
  };
  const last = renderSlot(draft, 'last');
  const files = draft.files.flatMap(({ pieces }) => pieces);
  // It begins with a date, a user's line: the Messages API wants a user turn first.
  const history = renderHistory(draft.history);
  const mark = marked(input.keep.session);

  return {
    system: [
      {
        type: 'text',
        text: `${soul}${draft.rules}`,
        ...marked(input.keep.shared),
        ...(input.rulesWithoutTools === undefined
          ? {}
          : { withoutTools: `${soul}${input.rulesWithoutTools}` }),
      },
      ...(channel.text === '' ? [] : [{ type: 'text', text: channel.text } as const]),
    ],
    messages: renderTurns([
      { role: 'user', text: slow.text, ...mark, ...instead('slow', slow) },
      { role: 'user', text: fast.text, ...mark, ...instead('fast', fast) },
      ...history.map(({ role, text, messageId }) => ({
        role,
        text,
        ...(messageId !== undefined && messageId === input.history.stableUpTo ? mark : {}),
      })),
      ...withFiles(last.text, files, draft.message),
    ]),
    parts: [
      part('soul', 'system', soul, soulPartMaxChars),
      part('rules', 'system', draft.rules),
      ...channel.parts,
      ...slow.parts,
      ...fast.parts,
      part('history', 'history', history.map(({ text }) => text).join(''), input.historyBudget),
      ...last.parts,
      ...files.flatMap((piece) => ('text' in piece ? [part('attached_file', 'last', piece.text)] : [])),
      part('message', 'last', draft.message),
    ].filter(({ characters }) => characters > 0),
    maxChars: input.promptMaxChars,
    leftOut: input.files.flatMap((file) => leftOutOf(file, draft.files) ?? []),
    sources: sourcesOf(draft.sections),
  };
}

function leftOutOf(file: OpenedFile, shown: PromptDraft['files']): string | undefined {
  const fitted = shown.find((each) => each.file === file);
  if (file.kind === 'unopened' && file.isOverLimit !== true) return undefined;
  if (file.kind !== 'unopened' && fitted?.isCut === false) return undefined;
  const name = label(file.name);
  if (file.kind === 'unopened') return `${name} (not opened: ${file.reason})`;
  return fitted === undefined ? `${name} (no room for it)` : `${name} (only its beginning)`;
}

function draftOf(input: PromptInput): PromptDraft {
  const last = input.last.map((section) => withoutRepeats(section, input.snapshot));
  const sections = [...input.channel, ...input.snapshot.sections, ...last].map(withinBudget);
  return {
    soul: input.soul,
    rules: input.rules,
    sections: sections.toSorted((a, b) => sectionNames.indexOf(a.name) - sectionNames.indexOf(b.name)),
    history: input.history.entries,
    files: input.files.map((file) => ({ file, pieces: renderFile(file), isCut: false })),
    message: renderMessage(input.message),
  };
}

/** A matching item that the snapshot shows already is not repeated. */
function withoutRepeats(section: Section, { sections }: Snapshot): Section {
  if (section.name !== 'matching_items') return section;
  const isShown = (line: string): boolean => sections.some(({ lines }) => lines.includes(line));
  return { ...section, lines: section.lines.filter((line) => !isShown(line)) };
}

/** Keeps the first turn a user's where a part has nothing else. */
const noActions = '(Nothing can be done on Discord here.)\n';

/** What a model without tools is shown of a section that speaks of tools [M9]. */
function withoutToolWords(section: Section): readonly Section[] {
  if (section.name === 'discord_actions') return [];
  if (section.name !== 'notebook_index') return [section];
  const lines = section.lines.filter((line) => !line.endsWith(': memory_list'));
  return [{ ...section, title: 'Files of the notebook, by their names only:', lines }];
}

function renderSlot(
  draft: Pick<PromptDraft, 'sections'>,
  slot: SectionSlot,
): { text: string; parts: readonly PromptPart[] } {
  const rendered = draft.sections
    .filter((section) => section.slot === slot)
    .map((section) => ({ ...section, text: renderSection(section) }));
  return {
    text: rendered.map(({ text }) => text).join(''),
    parts: rendered.map(({ name, text, budget }) => part(name, slot, text, budget)),
  };
}

/** The turn's own message as one text block, parted only by pictures and documents. */
function withFiles(
  before: string,
  files: readonly FilePiece[],
  message: string,
): readonly (TurnText | TurnMedia)[] {
  const pieces: (TurnText | TurnMedia)[] = [];
  let text = before;
  for (const piece of files) {
    if ('text' in piece) {
      text += piece.text;
      continue;
    }
    pieces.push({ role: 'user', text }, { role: 'user', media: piece.media });
    text = '';
  }
  return [...pieces, { role: 'user', text: `${text}${message}` }];
}

function marked(life: CacheLife | undefined): { readonly cache?: CacheLife } {
  return life === undefined ? {} : { cache: life };
}

function part(name: PromptPart['name'], slot: PromptPart['slot'], text: string, budget?: number): PromptPart {
  return { name, slot, characters: text.length, budget };
}

/** One side's text, perhaps the last that the vendor should cache. */
interface TurnText {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly cache?: CacheLife;
  readonly withoutTools?: string;
}

interface TurnMedia {
  readonly role: 'user';
  readonly media: MediaBlock;
}

type Turn =
  | { readonly role: 'user'; readonly content: (TextBlock | MediaBlock)[] }
  | { readonly role: 'assistant'; readonly content: TextBlock[] };

/**
 * Texts as alternating turns. Each keeps a block of its own, since a cache mark covers whole blocks: a longer
 * history only adds blocks. Empty texts vanish.
 */
export function renderTurns(pieces: readonly (TurnText | TurnMedia)[]): readonly ModelMessage[] {
  const turns: Turn[] = [];
  for (const piece of pieces) {
    const open = turns.at(-1);
    if ('media' in piece) {
      if (open?.role === 'user') open.content.push(piece.media);
      else turns.push({ role: 'user', content: [piece.media] });
      continue;
    }
    const { role, ...said } = piece;
    if (said.text === '') continue;
    const block: TextBlock = { type: 'text', ...said };
    if (open?.role === role) open.content.push(block);
    else turns.push({ role, content: [block] });
  }
  return turns;
}
