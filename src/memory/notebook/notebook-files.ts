import { StoreError } from '../../core/errors.ts';
import { sessionOf } from '../../core/turn-context.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import { makeRoomForOverview } from './former-overview.ts';
import type { TreeContext, TreeFile, TreePart } from './notebook-tree.ts';
import { resolvePath, treeParts } from './notebook-tree.ts';
import { plainText } from './plain-text.ts';
import type { Knowledge, ReadMarks } from './read-marks.ts';
import { isKeptSummary, mayUseSessionFile, readMark, withMark } from './session-mark.ts';
import { sizeProblem } from './size-limits.ts';
import type { NotebookStore } from './staged-files.ts';
import { summaryOf } from './summary-header.ts';

export interface Refusal {
  readonly outcome: 'refused';
  /** A sentence for the model. */
  readonly reason: string;
}

export interface OpenedFile {
  readonly outcome: 'opened';
  readonly file: TreeFile;
  /** As people see it; `undefined` where there is no file, or none that may be used here. */
  readonly text: string | undefined;
}

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
) => { readonly outcome: 'formed'; readonly text: string } | Refusal;

/** The tree as tools and sections see it: every check of path, place, size and evidence stands behind these [M5]. `StoreError` rejects where the disk fails. */
export interface NotebookFiles {
  /** The files of some parts of the tree, by part and name; only those that may be used here. */
  list(
    context: TreeContext,
    parts: readonly TreePart[],
    options: { readonly summaries: boolean },
  ): Promise<readonly ListedFile[]>;
  open(path: string, context: TreeContext): Promise<OpenedFile | Refusal>;
  /** One change, all or nothing. */
  change(path: string, context: TurnContext, edit: FileEdit): Promise<WrittenFile | Refusal>;
}

/** A file as the store has it, and the text of it that may be used here. */
interface LoadedFile {
  readonly raw: string;
  readonly text: string | undefined;
}

export interface NotebookFilesOptions {
  readonly store: NotebookStore;
  /** The users' write queue [S3]. */
  readonly writes: KeyedQueue;
  readonly marks: ReadMarks;
  /** IANA. */
  readonly timeZone: string;
}

export function createNotebookFiles(options: NotebookFilesOptions): NotebookFiles {
  const { store, writes, marks, timeZone } = options;

  async function load(file: TreeFile, context: TreeContext): Promise<LoadedFile | undefined> {
    const raw = await store.readText(file.key);
    if (raw === undefined) return undefined;
    if (!isOfSession(file)) return { raw, text: plainText(raw) };
    const { place, speaker } = context;
    const isUsable = mayUseSessionFile(file, raw, place, speaker.id);
    return { raw, text: isUsable ? plainText(readMark(raw).text) : undefined };
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

  return {
    async list(context, parts, { summaries }) {
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
    },

    async open(path, context) {
      const resolved = resolvePath(path, context);
      if (resolved.outcome === 'refused') return resolved;
      return orRefusal(resolved.file, async () => ({
        outcome: 'opened',
        file: resolved.file,
        text: (await load(resolved.file, context))?.text,
      }));
    },

    async change(path, context, edit) {
      const resolved = resolvePath(path, context);
      if (resolved.outcome === 'refused') return resolved;
      if (context.hasThirdPartyText) return { outcome: 'refused', reason: thirdPartyTextReason };
      // A file takes the audience of the place that is written from: what was said before it widened must not go there [V1].
      if (context.saidIn !== undefined) return { outcome: 'refused', reason: becamePublicReason };
      const { file } = resolved;
      return writes.run(file.lane, () => orRefusal(file, () => changeFile(file, context, edit)));
    },
  };

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
    if (isHidden && file.part !== 'overview.md')
      return refused(`${file.path} is taken; choose another name.`);
    const text = present?.text;
    const knowledge = text === undefined ? 'whole' : marks.knowledgeOf(session, file.key, text);
    const edited = edit(text === undefined ? undefined : { text, knowledge }, file);
    if (edited.outcome === 'refused') return edited;
    const changed = plainText(edited.text);
    if (changed.trim() === '') return refused('The file would be empty. Nothing was written.');
    const stored = isOfSession(file) ? withMark(changed, context.place) : changed;
    const problem = await sizeProblem(store, file, stored);
    if (problem !== undefined) return refused(problem);
    if (isHidden) await makeRoomForOverview(store, { file, former: present.raw, now: context.now, timeZone });
    await store.writeText(file.key, stored);
    if (knowledge === 'whole') marks.markWhole(session, file.key, plainText(readMark(stored).text));
    return { outcome: 'written', file, bytes: Buffer.byteLength(stored), isNew: text === undefined };
  }
}

const thirdPartyTextReason =
  "Nothing was written: this conversation holds other people's text or attached files, so in this turn only remember_item and forget_item change memory. Do not try again in this turn.";

const becamePublicReason =
  'Nothing was written: this channel became visible to more people since the message was said. Do not try again in this turn.';

function isOfSession({ part }: TreeFile): boolean {
  return part === 'overview.md' || part === 'detail';
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

function refused(reason: string): Refusal {
  return { outcome: 'refused', reason };
}
