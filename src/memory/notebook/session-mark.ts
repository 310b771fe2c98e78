import type { Place } from '../../core/place.ts';
import { mayUse, visibilityOf } from '../../core/visibility.ts';
import type { Visibility } from '../../core/visibility.ts';
import { cursorOfNote, parseNote } from '../rolling/summary-note.ts';
import type { TreeFile } from './notebook-tree.ts';

/** A session's file as the store has it, taken apart. */
export interface MarkedText {
  /** The text that people and the model see. */
  readonly text: string;
  /** Where it may be used; absent where the file bears no mark. */
  readonly mark?: { readonly visibility: Visibility; readonly homeId: string };
}

const markAtEnd = /\n*<!--\nMETA:\nvisibility: (?<visibility>here|dm)\nhome: (?<home>[0-9]{15,21})\n-->\s*$/u;

/**
 * What was written into a session's working memory in this place, as it is stored. A channel can become public later, so what was
 * written while it was private bears a mark at its end that says so [V1].
 */
export function withMark(text: string, place: Place): string {
  const visibility = visibilityOf(place.audience);
  if (visibility === 'everywhere') return text;
  return `${text.trimEnd()}\n\n<!--\nMETA:\nvisibility: ${visibility}\nhome: ${place.homeId}\n-->\n`;
}

/** A mark that the text itself brings along cannot widen anything: it would have to say less than `here`. */
export function readMark(file: string): MarkedText {
  const found = markAtEnd.exec(file);
  const { visibility, home } = found?.groups ?? {};
  if (found === null || visibility === undefined || home === undefined) return { text: file };
  return {
    text: `${file.slice(0, found.index)}\n`,
    mark: { visibility: visibility === 'dm' ? 'dm' : 'here', homeId: home },
  };
}

/**
 * Whether a session's file may be used in the session's place as it is now [V2]. Without a mark it was written where all could read along; a
 * kept summary says by itself where it is from, and one that does not is used in DMs only.
 */
export function mayUseSessionFile(file: TreeFile, stored: string, place: Place, speakerId: string): boolean {
  const fallback = isKeptSummary(file) ? 'dm' : 'everywhere';
  const origin = isKeptSummary(file) ? parseNote(stored) : readMark(stored).mark;
  const { visibility = fallback, homeId = place.homeId } = origin ?? {};
  return mayUse({ ownerId: speakerId, visibility, homeId }, place, speakerId);
}

/** A replaced summary in the session's `detail/` [R3]: the rolling summary's own, so that nobody else writes it. */
export function isKeptSummary({ part, name }: TreeFile): boolean {
  return part === 'detail' && cursorOfNote(`${name}.md`) !== undefined;
}
