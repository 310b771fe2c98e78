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
  'notebook_index',
  'changes',
  'turn_facts',
  'discord_actions',
  'replied_to',
  'forwarded',
  'attached_file',
  'message',
  'previous_summary',
  'turns',
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
}

/** Whoever gives sections to the prompt. `sections` may throw: the turn then goes on without them, with a warning [P1]. It must not write. */
export interface SectionSource<Context> {
  /** For the log. */
  readonly name: string;
  sections(context: Context): Promise<readonly Section[]>;
}

/** The section as the model sees it, ending in a line break; the empty string where there are no lines. */
export function renderSection(section: Pick<Section, 'name' | 'title' | 'lines'>): string {
  if (section.lines.length === 0) return '';
  return `<${section.name}>\n${section.title}\n${section.lines.join('\n')}\n</${section.name}>\n`;
}

/**
 * The lines, in order, that fit a section's budget as rendered; one that does not fit is skipped, not a stop [D4].
 */
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

const forgeable = new RegExp(`<(?=\\s*/?\\s*(?:${sectionNames.join('|')})\\b)`, 'giu');

/** Text of several lines as data: our own tags cannot be opened or closed by it. Line breaks stay. */
export function dataText(text: string): string {
  return text.replace(forgeable, '&lt;');
}

/** Remembered or quoted text as one line of data [P3]. */
export function dataLine(text: string): string {
  return dataText(flatten(text));
}
