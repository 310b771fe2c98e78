import type { OpenedFile } from '../core/message.ts';
import type { MemorySource } from '../core/memory-source.ts';
import type { CacheLife, MediaBlock, ModelMessage, TextBlock } from '../core/model.ts';
import {
  fitLines,
  renderSection,
  sectionNames,
  sourcesOf,
  type PartSize,
  type Section,
  type SectionSlot,
} from '../core/section.ts';
import { fitPrompt, renderSoul, soulPartMaxChars, type PromptDraft } from './budget.ts';
import { renderHistory, type HistoryEntry } from './history.ts';
import { label, renderFile, renderMessage, type FilePiece, type PromptMessage } from './quoted.ts';

export interface PromptInput {
  readonly soul: string;
  /** The same for everyone. */
  readonly rules: string;
  /** For a model without tools [M9]. Default: the same. */
  readonly rulesWithoutTools?: string;
  /** In any order. */
  readonly sections: readonly Section[];
  readonly history: readonly HistoryEntry[];
  /** In characters, as the window keeps to it. */
  readonly historyBudget?: number;
  readonly message: PromptMessage;
  /** For the last message only; pictures and documents are bounded where they are opened. */
  readonly files: readonly OpenedFile[];
  /** Characters of system and messages [P4]. */
  readonly promptMaxChars: number;
  /** How long the vendor is to keep the conversation; the rules, which others share, in any case. */
  readonly cacheLife: CacheLife | undefined;
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
 * The model's input for one turn [P2]: what changes least comes first, with cache marks after the rules, after
 * what changes seldom, after the items and after history. The system prompt holds only the owner's words;
 * memory stands in user turns. Equal input gives equal bytes.
 */
export function buildPrompt(input: PromptInput): Prompt {
  const draft = fitPrompt(draftOf(input), input.promptMaxChars);
  const soul = renderSoul(draft.soul);
  const channel = renderSlot(draft, 'channel');
  const slow = renderSlot(draft, 'slow');
  const items = renderSlot(draft, 'items');
  const fast = renderSlot(draft, 'fast');
  const toolless = { sections: draft.sections.flatMap(withoutToolWords) };
  const withoutTools = (slot: SectionSlot) => renderSlot(toolless, slot).text;
  const last = renderSlot(draft, 'last');
  const files = draft.files.flatMap(({ pieces }) => pieces);
  // It begins with a date, a user's line: the Messages API wants a user turn first.
  const history = renderHistory(draft.history);
  const mark = input.cacheLife === undefined ? {} : { cache: input.cacheLife };

  return {
    system: [
      {
        type: 'text',
        text: `${soul}${draft.rules}`,
        cache: input.cacheLife ?? '5m',
        withoutTools: input.rulesWithoutTools && `${soul}${input.rulesWithoutTools}`,
      },
      ...(channel.text === '' ? [] : [{ type: 'text', text: channel.text } as const]),
    ],
    messages: renderTurns([
      { role: 'user', text: slow.text, ...mark, withoutTools: withoutTools('slow') },
      { role: 'user', text: items.text, ...mark },
      { role: 'user', text: fast.text, withoutTools: withoutTools('fast') },
      ...history.map((line, index) => (index === history.length - 1 ? { ...line, ...mark } : line)),
      ...withFiles(last.text, files, draft.message),
    ]),
    parts: [
      part('soul', 'system', soul, soulPartMaxChars),
      part('rules', 'system', draft.rules),
      ...channel.parts,
      ...slow.parts,
      ...items.parts,
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
  const sections = input.sections.map((each) => ({ ...each, lines: fitLines(each, each.lines) }));
  return {
    soul: input.soul,
    rules: input.rules,
    sections: sections.toSorted((a, b) => sectionNames.indexOf(a.name) - sectionNames.indexOf(b.name)),
    history: input.history,
    files: input.files.map((file) => ({ file, pieces: renderFile(file), isCut: false })),
    message: renderMessage(input.message),
  };
}

/** What a model without tools is shown of a section that speaks of tools [M9]. */
export function withoutToolWords(section: Section): readonly Section[] {
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

function part(name: PromptPart['name'], slot: PromptPart['slot'], text: string, budget?: number): PromptPart {
  return { name, slot, characters: text.length, budget };
}

/** One side's text, perhaps the last that the vendor should cache. */
interface TurnText {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly cache?: CacheLife;
  readonly withoutTools?: string | undefined;
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
function renderTurns(pieces: readonly (TurnText | TurnMedia)[]): readonly ModelMessage[] {
  const turns: Turn[] = [];
  for (const piece of pieces) {
    const open = turns.at(-1);
    if ('media' in piece) {
      if (open?.role === 'user') open.content.push(piece.media);
      else turns.push({ role: 'user', content: [piece.media] });
      continue;
    }
    const { role, ...content } = piece;
    if (content.text === '') continue;
    const block: TextBlock = { type: 'text', ...content };
    if (open?.role === role) open.content.push(block);
    else turns.push({ role, content: [block] });
  }
  return turns;
}
