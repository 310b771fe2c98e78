import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

import { StoreError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';
import { hasUnknownReaders, sessionName, type SessionKey } from '../../core/place.ts';
import type { Store } from '../../core/store.ts';
import { sessionOf, type TurnContext } from '../../core/turn-context.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import { plainText, summaryOf, type FormattedText } from './format.ts';
import {
  archivedOverviewKey,
  isKeptSummary,
  isOfSession,
  mayUseSessionFile,
  noteHoldsOthersWords,
  readMark,
  withMark,
} from './session-files.ts';
import {
  refused,
  resolvePath,
  treeParts,
  type Refusal,
  type TreeContext,
  type TreeFile,
  type TreePart,
} from './tree.ts';

/** What a notebook's tools and readers use of a store. */
export type NotebookStore = Pick<Store, 'readText' | 'writeText' | 'list'>;

export interface ListedFile {
  readonly file: TreeFile;
  readonly bytes: number;
  /** One line, empty where nothing is told. */
  readonly summary: string;
}

export interface WrittenFile {
  readonly outcome: 'written';
  readonly file: TreeFile;
  readonly bytes: number;
  /** Whether there was a file before. */
  readonly isNew: boolean;
}

/** What a tool makes of a file: its new text, or a refusal. Runs while nobody else changes the person's notebook. */
export type FileEdit = (
  present: { readonly text: string; readonly knowledge: Knowledge } | undefined,
  file: TreeFile,
) => FormattedText;

export type NotebookFiles = ReturnType<typeof createNotebookFiles>;

/**
 * The tree as tools and sections see it: every check of path, place, size and evidence stands behind these [M5]. Changes are ordered by
 * `writes`, the users' write queue [S3]; `timeZone` is IANA. `StoreError` rejects where the disk fails.
 */
export function createNotebookFiles(store: NotebookStore, writes: KeyedQueue, timeZone: string) {
  const marks = new ReadMarks();

  /** The files of some parts of the tree, by part and name; only those that may be used here. */
  async function list(
    context: TreeContext,
    parts: readonly TreePart[],
    { summaries }: { readonly summaries: boolean },
  ): Promise<readonly ListedFile[]> {
    const locations = treeParts(context).filter(({ part }) => parts.includes(part));
    const found = await Promise.all(
      locations.map(async ({ part, key, isFolder }) => {
        const paths = isFolder
          ? (await store.list(key)).map(({ path, bytes }) => ({ path: `${part}/${path}`, bytes }))
          : [{ path: part, bytes: undefined }];
        const listed = paths.map(async ({ path, bytes }): Promise<readonly ListedFile[]> => {
          const resolved = resolvePath(path, context);
          if (resolved.outcome === 'refused') return [];
          const { file } = resolved;
          return summaries || bytes === undefined || isOfSession(file)
            ? describe(file, bytes, context)
            : [{ file, bytes, summary: '' }];
        });
        return (await Promise.all(listed)).flat();
      }),
    );
    return found.flat();
  }

  async function describe(
    file: TreeFile,
    listedBytes: number | undefined,
    context: TreeContext,
  ): Promise<readonly ListedFile[]> {
    const loaded = await orRefusal(file, () => load(file, context));
    if (loaded === undefined || 'outcome' in loaded || loaded.text === undefined) return [];
    const bytes = listedBytes ?? Buffer.byteLength(loaded.raw);
    return [{ file, bytes, summary: summaryOf(loaded.text) }];
  }

  /** A file's text as people see it; `undefined` where there is no file, or none that may be used here. */
  async function open(
    path: string,
    context: TreeContext,
  ): Promise<
    | {
        readonly outcome: 'opened';
        readonly file: TreeFile;
        readonly text: string | undefined;
        /** A kept summary into which others' words were folded [M5a]. */
        readonly hasThirdPartyText: boolean;
      }
    | Refusal
  > {
    const resolved = resolvePath(path, context);
    if (resolved.outcome === 'refused') return resolved;
    const { file } = resolved;
    return orRefusal(file, async () => {
      const loaded = await load(file, context);
      const hasThirdPartyText = isKeptSummary(file) && noteHoldsOthersWords(loaded?.raw ?? '');
      return { outcome: 'opened', file, text: loaded?.text, hasThirdPartyText };
    });
  }

  /** A file as the store has it, and the text of it that may be used here. */
  async function load(
    file: TreeFile,
    { place, speaker }: TreeContext,
  ): Promise<{ readonly raw: string; readonly text: string | undefined } | undefined> {
    const raw = await store.readText(file.key);
    if (raw === undefined) return undefined;
    if (!isOfSession(file)) return { raw, text: plainText(raw) };
    const isUsable = mayUseSessionFile(file, raw, place, speaker.id);
    return { raw, text: isUsable ? plainText(readMark(raw).text) : undefined };
  }

  /** The model was given the characters of an opened file from `from` up to `to`, by default all. */
  function markRead(context: TreeContext, file: TreeFile, text: string, from?: number, to?: number): void {
    marks.mark(sessionOf(context), file.key, text, from, to);
  }

  /** One change, all or nothing. */
  async function change(path: string, context: TurnContext, edit: FileEdit): Promise<WrittenFile | Refusal> {
    const resolved = resolvePath(path, context);
    if (resolved.outcome === 'refused') return resolved;
    if (context.hasThirdPartyText) return refused(thirdPartyReason);
    // A file takes the readers of the place that is written from: what was said before others were let in must not go there [V1].
    if (context.saidIn !== undefined) return refused(moreReadersReason);
    if (hasUnknownReaders(context.place)) return refused(unknownReadersReason);
    const { file } = resolved;
    return writes.run(file.queueKey, () => orRefusal(file, () => changeFile(file, context, edit)));
  }

  async function changeFile(
    file: TreeFile,
    context: TurnContext,
    edit: FileEdit,
  ): Promise<WrittenFile | Refusal> {
    const session = sessionOf(context);
    if (isKeptSummary(file)) {
      return refused(`${file.path} is named as the kept summaries are, which can be read, not written.`);
    }
    const present = await load(file, context);
    const isHidden = present !== undefined && present.text === undefined;
    if (isHidden && file.part !== 'overview.md') {
      return refused(`${file.path} is taken; choose another name.`);
    }
    const text = present?.text;
    const knowledge = text === undefined ? 'whole' : marks.knowledgeOf(session, file.key, text);
    const edited = edit(text === undefined ? undefined : { text, knowledge }, file);
    if (edited.outcome === 'refused') return edited;
    const changed = plainText(edited.text);
    if (changed.trim() === '') return refused('The file would be empty. Nothing was written.');
    const stored = isOfSession(file) ? withMark(changed, context.place) : changed;
    const problem = await sizeProblem(store, file, stored);
    if (problem !== undefined) return refused(problem);
    if (isHidden) await store.writeText(archivedOverviewKey(file, context.now, timeZone), present.raw);
    await store.writeText(file.key, stored);
    if (knowledge === 'whole') marks.mark(session, file.key, plainText(readMark(stored).text));
    return { outcome: 'written', file, bytes: Buffer.byteLength(stored), isNew: text === undefined };
  }

  return { list, open, markRead, change };
}

const thirdPartyReason =
  "Nothing was written: this conversation holds other people's text or attached files, so in this turn only remember_item and forget_item change memory. Do not try again in this turn.";

const unknownReadersReason =
  'Nothing was written: who can read this channel cannot be told right now. Do not try again in this turn.';

const moreReadersReason =
  'Nothing was written: this channel became visible to more people since the message was said. Do not try again in this turn.';

/** Bytes that all facts files together stay under [N6]. */
const factsMaxBytes = 15_360;
/** Bytes that any other file stays under [N6]. */
const fileMaxBytes = 64 * 1024;

/** Why a file must not become this text, or `undefined` where it may; sizes are in bytes of UTF-8, marks included [N6]. */
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

/** What the store refuses for another reason than a failing disk, such as a symbolic link, is told [M5]. */
async function orRefusal<T>(file: TreeFile, work: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError) || error.cause !== undefined) throw error;
    return refused(`${error.message.split(file.key).join(file.path)}. Nothing was written.`);
  }
}

/** What the model knows of a file: nothing; a part; all of it; or all of a former state [M4]. */
export type Knowledge = 'unread' | 'partly' | 'changed' | 'whole';

/** Files remembered as read, over all sessions; one that falls out has to be read again. */
const maxReadMarks = 5000;

/** Which state of each file the model has seen in a session, and how many characters from its beginning. */
export class ReadMarks {
  readonly #marks = new LRUCache<string, { readonly hash: string; readonly upTo: number }>({
    max: maxReadMarks,
  });

  /** The model was given these characters, or wrote them. What was skipped before them stays unread. */
  mark(session: SessionKey, key: string, text: string, from = 0, to = text.length): void {
    const name = `${sessionName(session)} ${key}`;
    const hash = hashOf(text);
    const earlier = this.#marks.get(name);
    const before = earlier?.hash === hash ? earlier.upTo : 0;
    this.#marks.set(name, { hash, upTo: from <= before ? Math.max(before, to) : before });
  }

  knowledgeOf(session: SessionKey, key: string, text: string): Knowledge {
    const mark = this.#marks.get(`${sessionName(session)} ${key}`);
    if (mark === undefined) return 'unread';
    if (mark.hash !== hashOf(text)) return 'changed';
    return mark.upTo >= text.length ? 'whole' : 'partly';
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
