import { oncePer } from './limits.ts';
import { distinctSources, type MemorySource } from './memory-source.ts';
import { flatten } from './text.ts';

/** Every tag that the prompt uses; data can forge none of them [P3]. */
export const sectionNames = [
  'channel_context',
  'user_profile',
  'facts',
  'notes',
  'durable_items',
  'recent_elsewhere',
  'overview',
  'conversation_summary',
  'matching_items',
  'channel_notes',
  'notebook_index',
  'changes',
  'turn_facts',
  'discord_actions',
  'replied_to',
  'forwarded',
  'attached_file',
  'message',
  'previous_summary',
  'others_words',
  'turns',
  'channel_messages',
] as const;

export type SectionName = (typeof sectionNames)[number];

/**
 * Where a section stands [P2]: `channel` in the system prompt's second part; `slow` and `fast` in the snapshot, which
 * keeps its bytes while nothing was withdrawn; `last` in the message of the turn itself.
 */
export type SectionSlot = 'channel' | 'slow' | 'fast' | 'last';

/** What a layer gives to the prompt. No lines means that the section costs not one character. */
export interface Section {
  readonly name: SectionName;
  readonly slot: SectionSlot;
  /** One line that tells the model what this is. */
  readonly title: string;
  /** Safe lines: made by `dataLine` or `dataText`, or the layer's own words. */
  readonly lines: readonly string[];
  /** Characters at most for the section as rendered: tags, title and lines. */
  readonly budget: number;
  /**
   * Lines that may be in an older snapshot and still stand, though `lines` does not show them now (for want of budget). A snapshot
   * line that is in neither was withdrawn, so the snapshot is retaken at once [P2]. Default: `lines`.
   */
  readonly standing?: ReadonlySet<string>;
  /** For the summary of a conversation, which is shown with how many turns came since; without lines where nothing was said yet. */
  readonly summary?: SummaryFacts;
  /** Its lines may repeat what is not the speaker's: other people's words, or a file's [M5a]. */
  readonly hasThirdPartyText?: boolean;
  /** What of memory its lines are: by line, or all of it whichever lines are shown [K7]. Absent where they are none. */
  readonly sources?: ReadonlyMap<string, MemorySource> | readonly MemorySource[];
}

/** What of memory sections show, by the lines that they have [K7]. */
export function sourcesOf(sections: readonly Section[]): readonly MemorySource[] {
  const found = sections.flatMap(({ lines, sources = [] }) => {
    if (lines.length === 0) return [];
    return isByLine(sources) ? lines.flatMap((line) => sources.get(line) ?? []) : sources;
  });
  return distinctSources(found);
}

/** The sources of some lines, which stand in any of these sections. */
export function sourcesOfLines(
  lines: readonly string[],
  sections: readonly Section[],
): ReadonlyMap<string, MemorySource> {
  const maps = sections.flatMap(({ sources = [] }) => (isByLine(sources) ? [sources] : []));
  const found = lines.map((line) => [line, maps.find((each) => each.has(line))?.get(line)] as const);
  return new Map(found.flatMap(([line, source]) => (source === undefined ? [] : [[line, source] as const])));
}

function isByLine(sources: NonNullable<Section['sources']>): sources is ReadonlyMap<string, MemorySource> {
  return sources instanceof Map;
}

export interface SummaryFacts {
  /** The same for summaries of which the later only add turns to the earlier: while history shows what was added, an earlier one may stand [P2]. */
  readonly lineage: string;
  /** Whole turns that this summary does not hold. */
  readonly turnsSince: number;
}

/** Whoever gives sections to the prompt. `sections` may throw: the turn then goes on without them, with a warning [P1]. It must not write. */
export interface SectionSource<Context> {
  /** For the log. */
  readonly name: string;
  sections(context: Context): Promise<readonly Section[]>;
}

/** The section as the model sees it, ending in a line break; the empty string where there are no lines. */
export const renderSection = oncePer((section: Pick<Section, 'name' | 'title' | 'lines'>): string => {
  if (section.lines.length === 0) return '';
  return `<${section.name}>\n${section.title}\n${section.lines.join('\n')}\n</${section.name}>\n`;
});

/** The lines, in order, that fit a section's budget as rendered; one that does not fit is skipped, not a stop [D4]. */
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

/** What nobody sees: between a tag's letters it is read over. */
const unseen = String.raw`\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Cs}`;
/** What may stand between `<` and a tag's name, for whoever reads over what is not seen. */
const beforeName = String.raw`[\s/${unseen}]*`;
const names = sectionNames.map((name) => Array.from(name).join(`[${unseen}]*`)).join('|');

/**
 * A `<` that could open or close one of our tags. Each run of what is read over is looked at once for each name, so that it takes time in proportion to the text.
 * Other brackets and slashes, such as `＜` and `⁄`, look like a tag's at most, and make none.
 */
const forgeable = new RegExp(`<(?=${beforeName}(?:${names})\\b)`, 'giu');

/** A `<` near the very end, which the beginning of whatever follows could make a tag. */
const openEnd = new RegExp(`<(?=${beforeName}$)`, 'u');

/** Text of several lines as data: our own tags cannot be opened or closed by it. Line breaks stay. */
export function dataText(text: string): string {
  return text.replace(forgeable, '&lt;');
}

/** A piece of text as data that forges no tag, not even together with what comes after it [P3]. */
export function dataPiece(text: string): string {
  return dataText(text).replace(openEnd, '&lt;');
}

/** Remembered or quoted text as one line of data [P3]. */
export function dataLine(text: string): string {
  return dataText(flatten(text));
}
