import { localDateTime } from '../../core/time.ts';
import type { Place } from '../../core/place.ts';
import { reachOf, type Reach } from '../../core/visibility.ts';
import { cursorOfNote, parseNote, reachLines, readersIn } from '../log/kept-summary.ts';
import { summaryHoldsOthersWords } from '../log/session-state.ts';
import type { TreeFile } from './tree.ts';

/** Whether it is the session's own working memory, which exists in every place, and no notebook's. */
export function isOfSession({ part }: TreeFile): boolean {
  return part === 'overview.md' || part === 'detail';
}

/** A replaced summary in `detail/` [R3], which only the rolling summary writes. */
export function isKeptSummary({ part, name }: TreeFile): boolean {
  return part === 'detail' && cursorOfNote(`${name}.md`) !== undefined;
}

/** Whether others' words were folded into a kept summary [M5a]; not known of one that was changed. */
export function noteHoldsOthersWords(stored: string): boolean {
  const note = parseNote(stored);
  return note === undefined || summaryHoldsOthersWords(note);
}

/**
 * Where a session's file may be used [V2]; `undefined` without a mark: it was written where all read along,
 * and is opened in its own conversation only. A kept summary tells by itself, or is for DMs only.
 */
export function reachOfSessionFile(file: TreeFile, stored: string): Reach | undefined {
  return isKeptSummary(file)
    ? (parseNote(stored) ?? { visibility: 'dm', homeId: '' })
    : readMark(stored).mark;
}

/**
 * A session's file as stored. What was written in private ends in a mark that says so and names its readers,
 * since others can be let in later [V2a].
 */
export function withMark(text: string, place: Place): string {
  const reach = reachOf(place);
  if (reach.visibility === 'server') return text;
  return `${text.trimEnd()}\n\n<!--\nMETA:\n${reachLines(reach)}\n-->\n`;
}

const markAtEnd =
  /(?<!\n)\n*<!--\nMETA:\nvisibility: (?<visibility>here|dm)\nhome: (?<home>[0-9]{15,21})\n(?:guild: (?<guild>[0-9]{15,21})\n)?(?:readers:(?<readers>[ #+:0-9a-z@]*)\n)?-->\s*$/u;

/**
 * Separates the visible text from its mark. A mark in the text itself cannot widen anything: it would have to
 * say less than `here`.
 */
export function readMark(file: string): { readonly text: string; readonly mark?: Reach } {
  const found = markAtEnd.exec(file);
  const { visibility, home, guild, readers } = found?.groups ?? {};
  if (found === null || visibility === undefined || home === undefined) return { text: file };
  return {
    text: `${file.slice(0, found.index)}\n`,
    mark: {
      visibility: visibility === 'dm' ? 'dm' : 'here',
      homeId: home,
      ...(guild === undefined ? {} : { guildId: guild }),
      ...(readers === undefined ? {} : { readers: readersIn(readers) }),
    },
  };
}

/**
 * Where an overview from a private time is kept, with its mark, while the public reads along: in the
 * session's `detail/`.
 */
export function archivedOverviewKey({ key }: TreeFile, now: Date, timeZone: string): string {
  const folder = key.slice(0, key.lastIndexOf('/'));
  const time = localDateTime(now, timeZone).replace(/[ :]/gu, '-');
  const milliseconds = String(now.getTime() % 60_000).padStart(5, '0');
  return `${folder}/detail/${time}-${milliseconds}-overview.md`;
}
