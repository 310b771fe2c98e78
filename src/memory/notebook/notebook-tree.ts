import { assertSnowflake } from '../../core/snowflake.ts';
import { sessionOf } from '../../core/turn-context.ts';
import type { Speaker, TurnContext } from '../../core/turn-context.ts';
import { sessionFolder } from '../session-log/session-keys.ts';
import { nameProblem } from './file-name.ts';

/** Whose memory is looked at, and where. */
export type TreeContext = Pick<TurnContext, 'speaker' | 'place'>;

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
  /** The key of the write queue that orders changes to this part: the user's own, or one for the workspace that owners share. */
  readonly lane: string;
}

/** A part of the tree as the store has it: a file's or a folder's key. */
export interface PartLocation {
  readonly part: TreePart;
  readonly key: string;
  readonly isFolder: boolean;
}

export type ResolvedPath =
  | { readonly outcome: 'file'; readonly file: TreeFile }
  | { readonly outcome: 'refused'; readonly reason: string };

/** The parts that exist in the place: the session's everywhere, the person's notebook in DMs only [V3]. */
export function treeParts(context: TreeContext): readonly PartLocation[] {
  const session = sessionFolder(sessionOf(context));
  const parts: PartLocation[] = [
    { part: 'overview.md', key: `${session}/overview.md`, isFolder: false },
    { part: 'detail', key: `${session}/detail`, isFolder: true },
  ];
  return context.place.audience === 'dm' ? [...parts, ...notebookParts(context.speaker)] : parts;
}

/** The parts of a person's notebook, wherever they speak from. */
export function notebookParts(person: Pick<Speaker, 'id' | 'isOwner'>): readonly PartLocation[] {
  const root = notebookRoot(person);
  const inRoot = (part: TreePart, isFolder: boolean): PartLocation => ({
    part,
    key: `${root}/${person.isOwner && part === 'daily' ? 'memory' : part}`,
    isFolder,
  });
  return [
    inRoot('USER.md', false),
    inRoot('MEMORY.md', false),
    inRoot('facts', true),
    inRoot('episodes', true),
    inRoot('topics', true),
    inRoot('daily', true),
  ];
}

/**
 * The one way from a path that a model gives to a key of the store [M5]. Whatever is not exactly the path of a file that can be in
 * the tree of this person and place is refused, with the reason; SOUL.md and channels/ are in nobody's.
 */
export function resolvePath(path: string, context: TreeContext): ResolvedPath {
  const problem = formProblem(path);
  if (problem !== undefined) return refused(path, problem);
  const [head = '', file, ...deeper] = path.split('/');
  const part = partNamed(head);
  if (part === undefined) return refused(path, unknownPart(head));
  const location = treeParts(context).find((each) => each.part === part);
  if (location === undefined) {
    return refused(path, 'outside a direct message there are only overview.md and files in detail/');
  }
  const lane = location.key.startsWith('workspace/') ? 'workspace' : context.speaker.id;
  if (!location.isFolder) {
    if (file !== undefined) return refused(path, `${head} is a file, not a folder`);
    return { outcome: 'file', file: { path, part, name: head.slice(0, -3), key: location.key, lane } };
  }
  if (file === undefined) return refused(path, `${head} is a folder; name a file in it`);
  if (deeper.length > 0) return refused(path, `${head}/ has no folders in it`);
  if (!file.endsWith('.md')) return refused(path, 'files end in .md');
  const name = file.slice(0, -3);
  const wrongName = nameProblem(name) ?? formOfNames[part]?.(name);
  if (wrongName !== undefined) return refused(path, wrongName);
  return { outcome: 'file', file: { path, part, name, key: `${location.key}/${file}`, lane } };
}

const pathMaxChars = 120;

/** What is wrong with a path whatever it should name. */
function formProblem(path: string): string | undefined {
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

const formOfNames: Partial<Readonly<Record<TreePart, (name: string) => string | undefined>>> = {
  episodes: (name) =>
    /^\d{4}-(?:0[1-9]|1[0-2])$/u.test(name)
      ? undefined
      : 'episodes are files by month, such as episodes/2026-01.md',
  daily: (name) => (isDay(name) ? undefined : 'daily logs are files by day, such as daily/2026-01-15.md'),
};

/** Whether a text is a day of the calendar, as `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/u.test(text)) return false;
  const noon = new Date(`${text}T12:00:00Z`);
  return !Number.isNaN(noon.getTime()) && noon.toISOString().startsWith(text);
}

function partNamed(head: string): TreePart | undefined {
  return [...singleFiles, ...folders].find((part) => part === head);
}

function unknownPart(head: string): string {
  const otherCase = [...singleFiles, ...folders].find((part) => part.toLowerCase() === head.toLowerCase());
  if (otherCase !== undefined) return `it is written ${otherCase}`;
  return `there is no ${JSON.stringify(head)}: files are ${singleFiles.join(', ')} and those in ${folders.map((folder) => `${folder}/`).join(', ')}`;
}

/** The folder of a person's notebook; the owners' is the workspace, which they share [N1]. */
function notebookRoot({ id, isOwner }: Pick<Speaker, 'id' | 'isOwner'>): string {
  return isOwner ? 'workspace' : `users/${assertSnowflake(id)}/notebook`;
}

function refused(path: string, reason: string): ResolvedPath {
  return {
    outcome: 'refused',
    reason: `${JSON.stringify(path.slice(0, 80).toWellFormed())} is no path here: ${reason}.`,
  };
}
