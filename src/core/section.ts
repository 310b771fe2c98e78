import { distinctSources, type MemorySource } from './memory-source.ts';
import type { ModelUsage } from './model.ts';
import { toSingleLine } from './text.ts';

/** Every tag of the prompt, in the order of sections [P2]; data can forge none of them [P3]. */
export const sectionNames = [
  'channel_context',
  'server_manner',
  'discord_actions',
  'user_profile',
  'facts',
  'notes',
  'durable_items',
  'overview',
  'conversation_summary',
  'notebook_index',
  'recent_elsewhere',
  'matching_items',
  'reminders',
  'turn_facts',
  'replied_to',
  'forwarded',
  'attached_file',
  'message',
  'previous_summary',
  'turns',
  'channel_messages',
] as const;

export type SectionName = (typeof sectionNames)[number];

/** How much of what a model is given is what, in characters. */
export interface PartSize {
  readonly name: SectionName | 'soul' | 'rules' | 'history' | 'tools' | 'tool_results';
  readonly characters: number;
  /** Absent where nothing but the whole bounds it. */
  readonly budget?: number | undefined;
}

/** How large what a model was given for one answer was, and what its calls took; none of its words [Y2a]. */
export interface AnswerSize {
  /** In the order of the request. */
  readonly parts: readonly PartSize[];
  /** Characters of all parts but the tools and what they gave, at most [P4]. */
  readonly maxChars: number;
  readonly usage: ModelUsage;
  /** US dollars; absent where a price is not known. */
  readonly cost?: number | undefined;
}

/**
 * Where a section stands [P2]: `channel` in the system prompt; `slow`, `items` and `fast` before history, by
 * how often they change; `last` in the turn's own message.
 */
export type SectionSlot = 'channel' | 'slow' | 'items' | 'fast' | 'last';

/** Without lines a section costs nothing. Its bytes change only when what it shows changes [P2]. */
export interface Section {
  readonly name: SectionName;
  readonly slot: SectionSlot;
  /** Tells the model what this is. */
  readonly title: string;
  /** Made by `dataLine` or `dataText`, or the layer's own words. */
  readonly lines: readonly string[];
  /** Characters of the rendered section: tags, title and lines. */
  readonly budget: number;
  /** For a conversation's summary, shown with the turns since; without lines before the first. */
  readonly summary?: SummaryFacts;
  /** Its lines may repeat other people's words, or a file's [M5a]. */
  readonly hasThirdPartyText?: boolean;
  /** The memory behind its lines: by line, or all of it whichever are shown [K7]. */
  readonly sources?: ReadonlyMap<string, MemorySource> | readonly MemorySource[];
}

export function sourcesOf(sections: readonly Section[]): readonly MemorySource[] {
  const found = sections.flatMap(({ lines, sources = [] }) => {
    if (lines.length === 0) return [];
    return 'get' in sources ? lines.flatMap((line) => sources.get(line) ?? []) : sources;
  });
  return distinctSources(found);
}

export interface SummaryFacts {
  /** How often a summary was withdrawn: no earlier one may be shown once it has grown [A4]. */
  readonly withdrawals: number;
  /** Whole turns that this summary does not hold. */
  readonly turnsSince: number;
}

/** `sections` must not write; if it throws, the turn goes on without them, with a warning [P1]. */
export interface SectionSource<Context> {
  readonly name: string;
  sections(context: Context): Promise<readonly Section[]>;
}

/** As the model sees it, ending in a line break; empty without lines. */
export function renderSection(section: Pick<Section, 'name' | 'title' | 'lines'>): string {
  if (section.lines.length === 0) return '';
  return `<${section.name}>\n${section.title}\n${section.lines.join('\n')}\n</${section.name}>\n`;
}

/** The lines, in order, that fit a section's budget; one that does not fit is skipped [D4]. */
export function fitLines(
  section: Pick<Section, 'name' | 'title' | 'budget'>,
  lines: Iterable<string>,
): readonly string[] {
  const fitting: string[] = [];
  let used = `<${section.name}>\n${section.title}\n</${section.name}>\n`.length;
  for (const line of lines) {
    if (used + line.length + 1 > section.budget) continue;
    used += line.length + 1;
    fitting.push(line);
  }
  return fitting;
}

/** Invisible characters, which a reader skips inside a tag. */
const unseen = String.raw`\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Cs}`;
/** What may stand between `<` and a tag's name. */
const beforeName = String.raw`[\s/${unseen}]*`;
const names = sectionNames.map((name) => Array.from(name).join(`[${unseen}]*`)).join('|');

/** A `<` that could open or close one of our tags, in linear time. */
const forgeable = new RegExp(`<(?=${beforeName}(?:${names})\\b)`, 'giu');

/** A `<` near the end, which following text could make a tag. */
const openEnd = new RegExp(`<(?=${beforeName}$)`, 'u');

/** Escapes our tags; line breaks stay. */
export function dataText(text: string): string {
  return text.replace(forgeable, '&lt;');
}

/** Text as data that forges no tag, not even together with the text after it [P3]. */
export function dataPiece(text: string): string {
  return dataText(text).replace(openEnd, '&lt;');
}

/** Remembered or quoted text as one line [P3]. */
export function dataLine(text: string): string {
  return dataText(toSingleLine(text));
}
