import { localDateTime } from '../../core/time.ts';
import type { Place } from '../../core/place.ts';
import { reachOf, type Reach } from '../../core/visibility.ts';
import { cursorOfNote, parseNote, reachLines, readersIn } from '../log/kept-summary.ts';
import { summaryHoldsOthersWords } from '../log/session-state.ts';
import type { TreeFile } from './tree.ts';

/** Whether a file is the session's own working memory, which exists in every place, rather than part of a notebook. */
export function isOfSession({ part }: TreeFile): boolean {
  return part === 'overview.md' || part === 'detail';
}

/** A replaced summary in the session's `detail/` [R3]: the rolling summary's own, so that nobody else writes it. */
export function isKeptSummary({ part, name }: TreeFile): boolean {
  return part === 'detail' && cursorOfNote(`${name}.md`) !== undefined;
}

/** Whether others' words were folded into a kept summary [M5a]; one that was changed into something else does not say. */
export function noteHoldsOthersWords(stored: string): boolean {
  const note = parseNote(stored);
  return note === undefined || summaryHoldsOthersWords(note);
}

/**
 * Where a session's file may be used [V2]; `undefined` for one without a mark, which was written where all could read along and is opened in its own
 * conversation only. A kept summary says by itself where it is from, and one that does not is used in DMs only.
 */
export function reachOfSessionFile(file: TreeFile, stored: string): Reach | undefined {
  return isKeptSummary(file)
    ? (parseNote(stored) ?? { visibility: 'dm', homeId: '' })
    : readMark(stored).mark;
}

/**
 * What was written into a session's working memory in this place, as it is stored. Others can be let into a channel later, so what was
 * written while it was private bears a mark at its end that says so, and who could read it [V2a].
 */
export function withMark(text: string, place: Place): string {
  const reach = reachOf(place);
  if (reach.visibility === 'server') return text;
  return `${text.trimEnd()}\n\n<!--\nMETA:\n${reachLines(reach)}\n-->\n`;
}

const markAtEnd =
  /(?<!\n)\n*<!--\nMETA:\nvisibility: (?<visibility>here|dm)\nhome: (?<home>[0-9]{15,21})\n(?:guild: (?<guild>[0-9]{15,21})\n)?(?:readers:(?<readers>[ #+:0-9a-z@]*)\n)?-->\s*$/u;

/**
 * A session's file taken apart: the text that people and the model see, and where it may be used if it bears a mark. A mark that the text
 * itself brings along cannot widen anything: it would have to say less than `here`.
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
 * Where an overview from when the channel was private is kept, with its mark: in the session's `detail/`, so that a new one can be begun
 * where the public now reads along, and the old one is there when the channel is private again.
 */
export function archivedOverviewKey({ key }: TreeFile, now: Date, timeZone: string): string {
  const folder = key.slice(0, key.lastIndexOf('/'));
  const time = localDateTime(now, timeZone).replace(/[ :]/gu, '-');
  const milliseconds = String(now.getTime() % 60_000).padStart(5, '0');
  return `${folder}/detail/${time}-${milliseconds}-overview.md`;
}
