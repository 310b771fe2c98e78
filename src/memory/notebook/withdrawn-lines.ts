import { terms } from '../../core/text.ts';
import { stopTerms } from '../../core/stop-words.ts';
import { overviewParts } from './overview-parts.ts';

/** What is to go from a note. */
export interface LineRule {
  /** Words that nobody says any more in the conversation, stemmed. */
  readonly gone: ReadonlySet<string>;
  /**
   * In notes that a person may have written too, a line goes only if it is about the withdrawn words: all its words are among these,
   * or at least two that make half of it.
   */
  readonly mostlyOf?: ReadonlySet<string>;
}

/**
 * A note without the lines that say what was taken back; the very same text where there is none, and `undefined` where only headings would
 * be left. Comments, where marks stand, the overview's own headings and dates stay.
 */
export function withoutWithdrawnLines(text: string, rule: LineRule): string | undefined {
  let isInComment = false;
  let hasContent = false;
  const lines = text.split('\n');
  const kept = lines.filter((line) => {
    const isComment = isInComment || line.includes('<!--');
    isInComment = isComment && !line.includes('-->');
    if (isComment) return true;
    if (goes(line, rule)) return false;
    hasContent ||= line.trim() !== '' && !/^(?:#|> Summary:)/u.test(line);
    return true;
  });
  if (kept.length === lines.length) return text;
  return hasContent ? kept.join('\n') : undefined;
}

/** The words by which a line of a note can be told to be from a message: numbers of one or two digits stand everywhere. */
export function tellingTerms(line: string): readonly string[] {
  const content = line.replace(/^\s*(?:[-*>]\s*)?(?:Summary|Date):/u, '').replace(/\d{4}-\d{2}-\d{2}/gu, '');
  return terms(content).filter((term) => !stopTerms.has(term) && !/^\d{1,2}$/u.test(term));
}

function goes(line: string, { gone, mostlyOf }: LineRule): boolean {
  const said = tellingTerms(line);
  if (isOwnHeading(line) || !said.some((term) => gone.has(term))) return false;
  if (mostlyOf === undefined) return true;
  const shared = said.filter((term) => mostlyOf.has(term)).length;
  return shared === said.length || (shared >= 2 && shared * 2 >= said.length);
}

function isOwnHeading(line: string): boolean {
  const title = /^#+\s+(?<title>.+?)\s*$/u.exec(line)?.groups?.['title'];
  return title !== undefined && overviewParts.has(title);
}
