import type { Place } from '../../core/place.ts';
import { assertSnowflake } from '../../core/snowflake.ts';
import type { Store } from '../../core/store.ts';
import { sessionOf, type Speaker, type TurnContext } from '../../core/turn-context.ts';
import { isCalendarDay } from '../../core/time.ts';
import { reachOf, visibilitySchema, type Reach } from '../../core/visibility.ts';
import { cursorOfNote, parseNote, reachLines, readersIn } from '../log/kept-summary.ts';
import { sessionFolder } from '../log/session-state.ts';

/** Whose memory is looked at, and where. */
export type TreeContext = Pick<TurnContext, 'speaker' | 'place' | 'now'>;

/** The parts of the tree that are single files, and those that are folders. */
const singleFiles = ['overview.md', 'USER.md', 'MEMORY.md'] as const;
const folders = ['detail', 'facts', 'episodes', 'topics', 'daily'] as const;
export type TreePart = (typeof singleFiles)[number] | (typeof folders)[number];

/** A file of the tree, which need not exist. */
export interface TreeFile {
  /** As the model names it: `facts/user.md`. */
  readonly path: string;
  readonly part: TreePart;
  /** Without folder and ending. */
  readonly name: string;
  /** Where the store has it. */
  readonly key: string;
  /** The write queue that orders its changes: the user's own, or the owners' workspace. */
  readonly queueKey: string;
}

/** The key of a file or folder. */
export interface PartLocation {
  readonly part: TreePart;
  readonly key: string;
}

function isFolder({ part }: Pick<PartLocation, 'part'>): boolean {
  return !part.endsWith('.md');
}

/** Why something is not done: a sentence for the model. */
export interface Refusal {
  readonly outcome: 'refused';
  readonly reason: string;
}

export function refused(reason: string): Refusal {
  return { outcome: 'refused', reason };
}

/** The parts that exist in the place: the session's everywhere, the person's notebook in DMs only [V3]. */
export function treeParts(context: TreeContext): readonly PartLocation[] {
  const session = sessionFolder(sessionOf(context));
  const parts = (['overview.md', 'detail'] as const).map((part) => ({ part, key: `${session}/${part}` }));
  return context.place.audience === 'dm' ? [...parts, ...notebookParts(context.speaker)] : parts;
}

/** A person's notebook wherever they speak; the owners share the workspace [N1]. */
export function notebookParts({ id, isOwner }: Pick<Speaker, 'id' | 'isOwner'>): readonly PartLocation[] {
  const root = isOwner ? 'workspace' : `users/${assertSnowflake(id)}/notebook`;
  return (['USER.md', 'MEMORY.md', 'facts', 'episodes', 'topics', 'daily'] as const).map((part) => ({
    part,
    key: `${root}/${part === 'daily' && isOwner ? 'memory' : part}`,
  }));
}

/** The files of some parts, those that somebody put there by hand included: as the model names them, and the store's key. */
export async function filesIn(
  store: Pick<Store, 'list'>,
  parts: readonly PartLocation[],
): Promise<readonly { readonly path: string; readonly key: string }[]> {
  const found = parts.map(async ({ part, key }) =>
    isFolder({ part })
      ? (await store.list(key)).map(({ path }) => ({ path: `${part}/${path}`, key: `${key}/${path}` }))
      : [{ path: part, key }],
  );
  return (await Promise.all(found)).flat();
}

type ResolvedPath = { readonly outcome: 'file'; readonly file: TreeFile } | Refusal;

/** The one way from a model's path to a key of the store [M5]; SOUL.md and channels/ are in nobody's tree. */
export function resolvePath(path: string, context: TreeContext): ResolvedPath {
  const problem = pathProblem(path);
  if (problem !== undefined) return noPath(path, problem);
  const [head = '', file, ...deeper] = path.split('/');
  const part = [...singleFiles, ...folders].find((each) => each === head);
  if (part === undefined) return noPath(path, unknownPart(head));
  const location = treeParts(context).find((each) => each.part === part);
  if (location === undefined) {
    return noPath(path, 'outside a direct message there are only overview.md and files in detail/');
  }
  const queueKey = location.key.startsWith('workspace/') ? 'workspace' : context.speaker.id;
  if (!isFolder(location)) {
    if (file !== undefined) return noPath(path, `${head} is a file, not a folder`);
    return { outcome: 'file', file: { path, part, name: head.slice(0, -3), key: location.key, queueKey } };
  }
  if (file === undefined) return noPath(path, `${head} is a folder; name a file in it`);
  if (deeper.length > 0) return noPath(path, `${head}/ has no folders in it`);
  if (!file.endsWith('.md')) return noPath(path, 'files end in .md');
  const name = file.slice(0, -3);
  const wrongName = nameProblem(name) ?? dateProblem(part, name);
  if (wrongName !== undefined) return noPath(path, wrongName);
  return { outcome: 'file', file: { path, part, name, key: `${location.key}/${file}`, queueKey } };
}

const pathMaxChars = 120;

/** What is wrong with a path whatever it should name. */
function pathProblem(path: string): string | undefined {
  if (path === '') return 'it is empty';
  if (path.length > pathMaxChars) return 'it is too long';
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(path)) return 'it holds a control character';
  if (path.includes('\\')) return 'it holds a backslash';
  if (/^[a-z]:/iu.test(path)) return 'it names a drive';
  if (/^[/~]/u.test(path)) return 'it is absolute; paths begin in the notebook';
  const segments = path.split('/');
  if (segments.some((segment) => /^\.*$/u.test(segment))) return 'it holds "..", "." or an empty part';
  if (path.includes('%')) return 'it is encoded; write it in plain letters';
  if (path !== path.normalize('NFKC') || /\p{Default_Ignorable_Code_Point}|\p{Cs}/u.test(path)) {
    return 'it holds invisible characters, or such as look like others';
  }
  return undefined;
}

function unknownPart(head: string): string {
  const otherCase = [...singleFiles, ...folders].find((part) => part.toLowerCase() === head.toLowerCase());
  if (otherCase !== undefined) return `it is written ${otherCase}`;
  return `there is no ${JSON.stringify(head)}: files are ${singleFiles.join(', ')} and those in ${folders.map((folder) => `${folder}/`).join(', ')}`;
}

/** Episodes are named after months and daily logs after days. */
function dateProblem(part: TreePart, name: string): string | undefined {
  if (part === 'episodes' && !/^\d{4}-(?:0[1-9]|1[0-2])$/u.test(name)) {
    return 'episodes are files by month, such as episodes/2026-01.md';
  }
  if (part === 'daily' && !isCalendarDay(name))
    return 'daily logs are files by day, such as daily/2026-01-15.md';
  return undefined;
}

/** Without its ending. */
const nameMaxChars = 80;
/** So that a backup's or a temporary file's name fits every file system. */
const nameMaxBytes = 200;

const latin = /\p{Script=Latin}/u;
/** Alphabets with letters that pass for others; scripts such as Han cannot. */
const otherAlphabet =
  /(?!\p{Script=Latin}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Script=Bopomofo}|\p{Script=Common}|\p{Script=Inherited})[\p{L}\p{N}]/u;
const cyrillic = /\p{Script=Cyrillic}/u;
const greek = /\p{Script=Greek}/u;

/** Why a text cannot name a file [M5]. Within one script, two names that look alike are never both good. */
export function nameProblem(name: string): string | undefined {
  if (name.length > nameMaxChars || Buffer.byteLength(name) > nameMaxBytes) return 'its name is too long';
  if (name !== name.toLowerCase()) return 'its name is not in lower case';
  if (!/^[\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*$/u.test(name)) {
    return 'a name is made of letters, numbers, "_" and "-" and begins with a letter or number';
  }
  const mixesAlphabets =
    (latin.test(name) && otherAlphabet.test(name)) || (cyrillic.test(name) && greek.test(name));
  if (mixesAlphabets) return 'its name mixes letters of alphabets that look alike';
  return undefined;
}

function noPath(path: string, reason: string): Refusal {
  return refused(`${JSON.stringify(path.slice(0, 80).toWellFormed())} is not a path here: ${reason}.`);
}

/** Whether it is the session's own working memory, which exists in every place, and no notebook's. */
export function isOfSession({ part }: TreeFile): boolean {
  return part === 'overview.md' || part === 'detail';
}

/** A replaced summary in `detail/` [R3], which only the rolling summary writes. */
export function isKeptSummary({ part, name }: TreeFile): boolean {
  return part === 'detail' && cursorOfNote(`${name}.md`) !== undefined;
}

/** Where a session's file may be used [V2]; `undefined` for one that somebody put there by hand. */
export function reachOfSessionFile(file: TreeFile, stored: string): Reach | undefined {
  return isKeptSummary(file)
    ? (parseNote(stored) ?? { visibility: 'dm', homeId: '' })
    : readMark(stored).mark;
}

/** It ends in a mark that names its readers, since others can be let in later [V2a]. */
export function withMark(text: string, place: Place): string {
  return `${text.trimEnd()}\n\n<!--\nMETA:\n${reachLines(reachOf(place))}\n-->\n`;
}

const markAtEnd =
  /(?<!\n)\n*<!--\nMETA:\nvisibility: (?<visibility>server|here|dm)\nhome: (?<home>[0-9]{15,21})\n(?:guild: (?<guild>[0-9]{15,21})\n)?(?:readers:(?<readers>[ #+:0-9a-z@]*)\n)?-->\s*$/u;

/** A mark in the text itself cannot widen anything: the program's own stands behind it. */
export function readMark(file: string): { readonly text: string; readonly mark?: Reach } {
  const found = markAtEnd.exec(file);
  const { visibility, home, guild, readers } = found?.groups ?? {};
  if (found === null || visibility === undefined || home === undefined) return { text: file };
  return {
    text: `${file.slice(0, found.index)}\n`,
    mark: {
      visibility: visibilitySchema.parse(visibility),
      homeId: home,
      guildId: guild,
      readers: readers === undefined ? undefined : readersIn(readers),
    },
  };
}
