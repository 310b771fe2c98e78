import type { SessionKey } from '../../core/place.ts';
import type { Store } from '../../core/store.ts';
import type { Speaker } from '../../core/turn-context.ts';
import { createTimeSlice } from '../../core/time.ts';
import { isSameReach, narrower, pickReach, type Reach } from '../../core/visibility.ts';
import { reachOfItem, undated, type DurableItem, wordingOf } from '../durable/document.ts';
import { isFolder, nameProblem, notebookParts, readMark, type PartLocation } from '../notebook/tree.ts';
import { cursorOfNote, parseNote } from '../log/kept-summary.ts';
import { sessionFolder } from '../log/session-state.ts';
import type { SessionLog } from '../log/session-log.ts';
import {
  addUnit,
  createSegment,
  segmentOf,
  titleTerm,
  type RecallUnit,
  type Segment,
  type TextReaders,
} from './segments.ts';

/** A search's `scope` is one of them, or all [C1]. */
export const sourceNames = ['detail', 'messages', 'notebook', 'items'] as const;

export type SourceName = (typeof sourceNames)[number];

/** The bot's owner has the workspace as notebook [N1]. */
export type RecallPerson = Pick<Speaker, 'id' | 'isOwner'>;

export interface RecallSource {
  readonly name: SourceName;
  /** An index of one person's part, empty at first and droppable at any time. */
  open(person: RecallPerson, readers: TextReaders): PersonIndex;
}

/**
 * All that a source holds of one person now, oldest first, for one search at a time. Never older than the
 * last acknowledged write. Rejects as the store does.
 */
export type PersonIndex = () => Promise<readonly Segment[]>;

/** A person's active durable items. */
export function createItemSource(durable: {
  list(userId: string): Promise<readonly DurableItem[]>;
}): RecallSource {
  return {
    name: 'items',
    open: (person, readers) => async () => {
      const units = (await durable.list(person.id)).map(itemUnit);
      return units.map((unit) => segmentOf(unit.reach, [unit], readers));
    },
  };
}

function itemUnit(item: DurableItem): RecallUnit {
  return {
    text: wordingOf(item),
    author: '',
    ...(Date.parse(item.updatedAt) === Date.parse(undated) ? {} : { at: item.updatedAt }),
    isBot: false,
    hasThirdPartyText: false,
    reach: reachOfItem(item),
    stretch: 0,
    reference: { kind: 'item', id: item.id },
  };
}

/** A person's notebook [N1]; used in their DMs only [V3]. */
export function createNotebookSource(store: Pick<Store, 'list' | 'readText'>): RecallSource {
  async function filesOf({ part, key }: PartLocation) {
    if (!isFolder({ part })) return [{ key, path: part as string }];
    const files = await store.list(key);
    return files
      .filter(({ path }) => path.endsWith('.md') && nameProblem(path.slice(0, -3)) === undefined)
      .map(({ path }) => ({ key: `${key}/${path}`, path: `${part}/${path}` }));
  }

  return createFileSource('notebook', store, async (person) => {
    const reach: Reach = { visibility: 'dm', homeId: person.id };
    const files = await Promise.all(notebookParts(person).map(filesOf));
    return files.flat().map((file) => ({ ...file, reach: () => reach }));
  });
}

/** Notes and replaced summaries in a person's `detail/` folders [W2]; `messages` is searched first. */
export function createDetailSource(
  store: Pick<Store, 'list' | 'readText'>,
  log: Pick<SessionLog, 'sessionsOfPerson'>,
  messages: { readonly reachOf: (session: SessionKey) => Reach },
): RecallSource {
  async function filesOf(session: SessionKey): Promise<readonly RecallFile[]> {
    const folder = `${sessionFolder(session)}/detail`;
    const files = (await store.list(folder)).filter(({ path }) => path.endsWith('.md'));
    return files.map(({ path }) => ({
      key: `${folder}/${path}`,
      path: `detail/${path}`,
      channelId: session.channelId,
      reach(text) {
        const note = parseNote(text);
        // The program's own mark counts; nobody else writes kept summaries or file ends.
        const known = cursorOfNote(path) === undefined ? readMark(text).mark : note;
        if (known !== undefined) return pickReach(known);
        // A note without a mark can hold any of what was said, and the channel may have become public.
        const ofSession = messages.reachOf(session);
        return note === undefined ? ofSession : narrower(ofSession, note);
      },
    }));
  }

  return createFileSource('detail', store, async ({ id }) =>
    (await Promise.all((await log.sessionsOfPerson(id)).map(filesOf))).flat(),
  );
}

interface RecallFile {
  /** The store's key. */
  readonly key: string;
  /** As the memory tools name and cite it. */
  readonly path: string;
  /** Absent for files of no session. */
  readonly channelId?: string;
  /** Who may be told what it says. */
  reach(text: string): Reach;
}

/**
 * Files that people and model write: read at every search through the store's cache, indexed again when
 * changed [S5].
 */
function createFileSource(
  name: SourceName,
  store: Pick<Store, 'readText'>,
  files: (person: RecallPerson) => Promise<readonly RecallFile[]>,
): RecallSource {
  return {
    name,
    open(person, readers) {
      let indexed = new Map<string, IndexedFile>();
      const index = async (file: RecallFile): Promise<readonly IndexedFile[]> => {
        const text = await store.readText(file.key);
        if (text === undefined) return [];
        const reach = file.reach(text);
        const known = indexed.get(file.key);
        if (known?.text === text && isSameReach(known.reach, reach)) return [known];
        return [{ key: file.key, text, reach, segment: await fileSegment(readers, file, text, reach) }];
      };
      return async () => {
        const pause = createTimeSlice();
        const present: IndexedFile[] = [];
        for (const file of await files(person)) {
          present.push(...(await index(file)));
          await pause();
        }
        indexed = new Map(present.map((file) => [file.key, file]));
        return [...indexed.values()].map(({ segment }) => segment);
      };
    },
  };
}

interface IndexedFile {
  readonly key: string;
  readonly text: string;
  readonly reach: Reach;
  readonly segment: Segment;
}

async function fileSegment(
  readers: TextReaders,
  file: RecallFile,
  text: string,
  reach: Reach,
): Promise<Segment> {
  const { path, channelId } = file;
  const at = /^created: (?<at>\d{4}-\d{2}-\d{2}T\S+)$/mu.exec(text)?.groups?.['at'];
  const note = parseNote(text);
  const thirdPartyTextAt = note?.thirdPartyTextAt;
  const segment = createSegment(reach);
  const title = new Set(readers.terms.read(path.replace(/\.md$/u, '')).map(titleTerm));
  const pause = createTimeSlice();
  for (const { content, line } of contentLines(text)) {
    const unit: RecallUnit = {
      text: content,
      author: '',
      ...(at === undefined ? {} : { at }),
      isBot: false,
      hasThirdPartyText: thirdPartyTextAt !== undefined,
      thirdPartyTextAt,
      reach,
      stretch: 0,
      reference: { kind: 'line', path, line, ...(channelId === undefined ? {} : { channelId }) },
    };
    addUnit(segment, unit, readers, title);
    await pause();
  }
  return segment;
}

/** Line breaks stay. */
function withoutComments(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let start = text.indexOf('<!--'); start !== -1; start = text.indexOf('<!--', from)) {
    const end = text.indexOf('-->', start);
    if (end === -1) break;
    parts.push(text.slice(from, start), text.slice(start, end).replace(/[^\n]/gu, ''));
    from = end + '-->'.length;
  }
  return parts.join('') + text.slice(from);
}

/** Numbered from 1, without comments, which hold META, and empty lines. */
function contentLines(text: string) {
  return withoutComments(text)
    .split('\n')
    .flatMap((content, index) => {
      const said = content.trim();
      return said === '' ? [] : [{ content: said, line: index + 1 }];
    });
}
