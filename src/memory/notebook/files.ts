import { StoreError } from '../../core/errors.ts';
import { lruCache, limits } from '../../core/limits.ts';
import { hasUnknownReaders, sessionName } from '../../core/place.ts';
import { maskNewSecrets } from '../../core/secrets.ts';
import type { Store } from '../../core/store.ts';
import { withoutInvisible } from '../../core/text.ts';
import { sessionOf, type TurnContext } from '../../core/turn-context.ts';
import { mayUse } from '../../core/visibility.ts';
import type { Writes } from '../../core/writes.ts';
import type { SessionLog } from '../log/session-log.ts';
import { summaryOf, type FormattedText } from './format.ts';
import {
  filesIn,
  isKeptSummary,
  isOfSession,
  reachOfSessionFile,
  readMark,
  refused,
  withMark,
  resolvePath,
  treeParts,
  type Refusal,
  type TreeContext,
  type TreeFile,
  type TreePart,
} from './tree.ts';
import { hashOf, readWithheld, withWithheldLines } from '../withheld.ts';
import type { UndoableNotes } from './undoable.ts';

export type NotebookStore = Pick<Store, 'read' | 'readText' | 'writeText' | 'list'>;

interface LoadedFile {
  readonly raw: string;
  /** Whether it may be used here. */
  readonly isUsable: boolean;
  readonly content: string | undefined;
}

export interface ListedFile {
  readonly file: TreeFile;
  readonly bytes: number;
  /** One line; empty for none. */
  readonly summary: string;
}

export interface WrittenFile {
  readonly outcome: 'written';
  readonly file: TreeFile;
  readonly bytes: number;
  /** Whether there was no file before. */
  readonly isNew: boolean;
  /** Whether a likely secret was masked [K14]. */
  readonly isMasked: boolean;
  /** What undoes it [K5]; absent where nothing can. */
  readonly undoId: string | undefined;
}

/** Makes a file's new text, or a refusal. Runs while nobody else changes the notebook. */
export type FileEdit = (
  present: { readonly text: string; readonly knowledge: Knowledge } | undefined,
  file: TreeFile,
) => FormattedText;

export type NotebookFiles = ReturnType<typeof createNotebookFiles>;

/** The tree as tools and sections use it, behind every check of path, place, size and evidence [M5]. */
export function createNotebookFiles(
  store: NotebookStore,
  writes: Pick<Writes, 'run' | 'runInWorkspace'>,
  {
    log,
    undoable,
  }: {
    readonly log?: Pick<SessionLog, 'isUnchanged'>;
    readonly undoable?: Pick<UndoableNotes, 'change'> | undefined;
  } = {},
) {
  /** By session and file, a hash of the text that the model has seen; of one that falls out it has to be read again. */
  const readMarks = lruCache<string, string>(maxReadMarks);

  /** The files of some parts of the tree, usable here or not. */
  async function names(context: TreeContext, parts: readonly TreePart[]): Promise<readonly TreeFile[]> {
    const locations = treeParts(context).filter(({ part }) => parts.includes(part));
    return (await filesIn(store, locations)).flatMap(({ path }) => {
      const resolved = resolvePath(path, context);
      return resolved.outcome === 'refused' ? [] : [resolved.file];
    });
  }

  /** With their content; only those usable here. */
  async function list(context: TreeContext, parts: readonly TreePart[]): Promise<readonly ListedFile[]> {
    const described = (await names(context, parts)).map(async (file): Promise<readonly ListedFile[]> => {
      const loaded = await orRefusal(file, () => load(file, context));
      if (loaded === undefined || 'outcome' in loaded || loaded.content === undefined) return [];
      return [{ file, bytes: Buffer.byteLength(loaded.raw), summary: summaryOf(loaded.content) }];
    });
    return (await Promise.all(described)).flat();
  }

  /** `content` is the text as people see it; `undefined` where there is no file usable here. */
  async function open(
    path: string,
    context: TreeContext,
  ): Promise<
    { readonly outcome: 'opened'; readonly file: TreeFile; readonly content: string | undefined } | Refusal
  > {
    const resolved = resolvePath(path, context);
    if (resolved.outcome === 'refused') return resolved;
    const { file } = resolved;
    return orRefusal(file, async () => {
      const loaded = await load(file, context);
      return { outcome: 'opened', file, content: loaded?.content };
    });
  }

  /** A file as stored, and its content where usable here, without what is withheld. */
  async function load(file: TreeFile, { place, speaker }: TreeContext): Promise<LoadedFile | undefined> {
    const raw = await store.readText(file.key);
    if (raw === undefined) return undefined;
    const { note } = await readWithheld(store, speaker.id);
    const reach = isOfSession(file) ? reachOfSessionFile(file, raw) : undefined;
    const isUsable = reach === undefined || mayUse({ ownerId: speaker.id, ...reach }, place, speaker.id);
    const visible = isUsable ? note(file.key, isOfSession(file) ? readMark(raw).text : raw) : undefined;
    return { raw, isUsable, content: visible && withoutInvisible(visible) };
  }

  /** The model was given, or wrote, all of a file. */
  function markRead(context: TreeContext, file: TreeFile, content: string): void {
    readMarks.set(markName(context, file), hashOf(content));
  }

  function knowledgeOf(context: TreeContext, file: TreeFile, content: string): Knowledge {
    const mark = readMarks.get(markName(context, file));
    if (mark === undefined) return 'unread';
    return mark === hashOf(content) ? 'whole' : 'changed';
  }

  /** One change, all or nothing; by hand it may leave nothing, and the model has not seen what it made. */
  async function change(
    path: string,
    context: TurnContext,
    edit: FileEdit,
    isByHand = false,
  ): Promise<WrittenFile | Refusal> {
    const resolved = resolvePath(path, context);
    if (resolved.outcome === 'refused') return resolved;
    if (context.hasThirdPartyText) return refused(thirdPartyReason);
    // A file takes its place's readers: what was said before others joined must not go there [V1].
    if (context.originalPlace !== undefined) return refused(moreReadersReason);
    if (hasUnknownReaders(context.place)) return refused(unknownReadersReason);
    const { file } = resolved;
    const job = () => orRefusal(file, () => changeFile(file, context, edit, isByHand));
    // As a job of the person's, so that their open page is told.
    return writes.run(context.work, file.queueKey === 'workspace' ? () => writes.runInWorkspace(job) : job);
  }

  async function changeFile(
    file: TreeFile,
    context: TurnContext,
    edit: FileEdit,
    isByHand: boolean,
  ): Promise<WrittenFile | Refusal> {
    // A withdrawn message brings nothing into the notes any more [A4].
    if ((await log?.isUnchanged(context)) === false) return refused(changedReason);
    if (isKeptSummary(file)) {
      return refused(`${file.path} is named as the kept summaries are, which can be read, not written.`);
    }
    const present = await load(file, context);
    const content = present?.content;
    const isHidden = present?.isUsable === false;
    if (isHidden && file.part !== 'overview.md') {
      return refused(`${file.path} is taken; choose another name.`);
    }
    const knowledge = content === undefined ? 'whole' : knowledgeOf(context, file, content);
    const edited = edit(content === undefined ? undefined : { text: content, knowledge }, file);
    if (typeof edited !== 'string') return edited;
    const newText = withoutInvisible(edited);
    // What a person has written into the file by hand stays.
    const masked = maskNewSecrets(newText, content ?? '');
    if (masked.trim() === '' && !isByHand) return refused('The file would be empty. Nothing was written.');
    const { hasLine } = await readWithheld(store, context.speaker.id);
    const isWithheld = (line: string): boolean => hasLine(file.key, line);
    const raw = isHidden ? '' : (present?.raw ?? '');
    const before = isOfSession(file) ? readMark(raw).text : raw;
    const whole = withWithheldLines(before, masked, isWithheld);
    const stored = isOfSession(file) ? withMark(whole, context.place) : whole;
    const written = {
      outcome: 'written',
      file,
      bytes: Buffer.byteLength(stored),
      isMasked: masked !== newText,
    } as const;
    if (stored === present?.raw) return { ...written, isNew: false, undoId: undefined };
    const problem = await sizeProblem(store, file, stored);
    if (problem !== undefined) return refused(problem);
    const write = () => store.writeText(file.key, stored);
    const changed = [{ key: file.key, before: present?.raw, after: stored }];
    const undoId = await (undoable?.change(context.speaker.id, changed, write) ?? write());
    if (knowledge === 'whole' && !isByHand) {
      const visible = (await load(file, context))?.content;
      if (visible !== undefined) markRead(context, file, visible);
    }
    return { ...written, isNew: content === undefined, undoId: undoId ?? undefined };
  }

  return { names, list, open, markRead, change };
}

const changedReason =
  'Nothing was written: the message that you answer could not be saved, or something that this person had said was edited, deleted or forgotten meanwhile. Do not try again in this turn.';

const thirdPartyReason =
  "Nothing was written: this conversation holds other people's text or attached files, so in this turn only remember_item and forget_item change memory. Do not try again in this turn.";

const unknownReadersReason =
  'Nothing was written: who can read this channel cannot be visible right now. Do not try again in this turn.';

const moreReadersReason =
  'Nothing was written: this channel became visible to more people since the message was said. Do not try again in this turn.';

/** Of all facts files together [N6]. */
const factsMaxBytes = 15_360;
/** Of any other file [N6]. */
export const fileMaxBytes = 64 * 1024;

/** Why a file must not become this text, or `undefined`; sizes are in bytes of UTF-8, marks included [N6]. */
async function sizeProblem(store: NotebookStore, file: TreeFile, text: string): Promise<string | undefined> {
  const bytes = Buffer.byteLength(text);
  if (file.part !== 'facts' && bytes >= fileMaxBytes)
    return `${file.path} would have ${bytes} bytes; a file stays under ${fileMaxBytes}. Nothing was written.`;
  if (file.path === file.part) return undefined;
  const folder = file.key.slice(0, file.key.lastIndexOf('/'));
  const listed = await store.list(folder);
  const others = listed.filter(({ path }) => `${folder}/${path}` !== file.key);
  const total = others.reduce((sum, other) => sum + other.bytes, bytes);
  if (file.part === 'facts' && total >= factsMaxBytes)
    return `The facts files would have ${total} bytes together; they stay under ${factsMaxBytes}. Nothing was written. Shorten them, or move what is less essential to topics/.`;
  // The workspace is the operator's own; of daily logs the oldest give way [L3].
  if (file.queueKey === 'workspace') return undefined;
  const isOneMore = others.length === listed.length && file.part !== 'daily';
  const isFull = (isOneMore && others.length >= limits.noteFolder.files) || total > limits.noteFolder.bytes;
  return isFull
    ? `${file.part}/ is full: it holds ${limits.noteFolder.files} files and ${limits.noteFolder.bytes} bytes at most. Nothing was written. Add to a file that is there, or shorten some.`
    : undefined;
}

/** Tells what the store refuses while the disk works, such as a symbolic link [M5]. */
async function orRefusal<T>(file: TreeFile, work: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError) || error.cause !== undefined) throw error;
    return refused(`${error.message.split(file.key).join(file.path)}. Nothing was written.`);
  }
}

/** What the model knows of a file: nothing, all of it, or all of a former state [M4]. */
export type Knowledge = 'unread' | 'changed' | 'whole';

/** Over all sessions. */
const maxReadMarks = 5000;

function markName(context: TreeContext, { key }: TreeFile): string {
  return `${sessionName(sessionOf(context))} ${key}`;
}
