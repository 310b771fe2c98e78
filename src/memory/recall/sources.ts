import { type SessionKey, sessionName } from '../../core/place.ts';
import type { Store } from '../../core/store.ts';
import { createTimeSlice } from '../../core/time.ts';
import type { Speaker } from '../../core/turn-context.ts';
import { isSameReach, pickReach, type Reach } from '../../core/visibility.ts';
import { type DurableItem, reachOfItem, undated, wordingOf } from '../durable/document.ts';
import { cursorOfNote, parseNote } from '../log/kept-summary.ts';
import { type LoggedMessage, markOf } from '../log/records.ts';
import type { SessionLog } from '../log/session-log.ts';
import { sessionFolder } from '../log/session-state.ts';
import { filesIn, nameProblem, notebookParts, readMark } from '../notebook/tree.ts';
import { readWithheld, type Withheld } from '../withheld.ts';
import {
  addUnit,
  createSegment,
  type RecallUnit,
  type Segment,
  segmentOf,
  type TextReaders,
} from './segments.ts';
import { titleTerm } from './words.ts';

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
 * All that a source holds of one person now, oldest first, for one search at a time, up to excluded messages. Never
 * older than the last acknowledged write. Rejects as the store does.
 */
export type PersonIndex = (isExcluded: IsExcluded) => Promise<readonly Segment[]>;

/** Whether a message is of the turn that asks, by its id. */
type IsExcluded = (messageId: string) => boolean;

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
    at: Date.parse(item.updatedAt) === Date.parse(undated) ? undefined : item.updatedAt,
    isBot: false,
    reach: reachOfItem(item),
    stretch: 0,
    reference: { kind: 'item', id: item.id },
  };
}

/** A person's notebook [N1]; used in their DMs only [V3]. */
export function createNotebookSource(store: FileStore): RecallSource {
  return createFileSource('notebook', store, async (person) => {
    const reach: Reach = { visibility: 'dm', homeId: person.id };
    const files = await filesIn(store, notebookParts(person));
    return files.filter(({ path }) => isNamedWell(path)).map((file) => ({ ...file, reach: () => reach }));
  });
}

/** Whether the memory tools open such a file. */
function isNamedWell(path: string): boolean {
  const [, name] = /^[^/]+\/(.*)\.md$/u.exec(path) ?? [];
  return !path.includes('/') || (name !== undefined && nameProblem(name) === undefined);
}

/** Notes and replaced summaries in a person's `detail/` folders [W2]. */
export function createDetailSource(
  store: FileStore,
  log: Pick<SessionLog, 'sessionsOfPerson'>,
): RecallSource {
  async function filesOf(session: SessionKey): Promise<readonly RecallFile[]> {
    const folder = `${sessionFolder(session)}/detail`;
    const files = (await store.list(folder)).filter(({ path }) => path.endsWith('.md'));
    return files.map(({ path }) => ({
      key: `${folder}/${path}`,
      path: `detail/${path}`,
      channelId: session.channelId,
      reach(text) {
        // The program's own mark counts; nobody else writes kept summaries or file ends.
        const known = cursorOfNote(path) === undefined ? readMark(text).mark : parseNote(text);
        return pickReach(known ?? { visibility: 'dm', homeId: session.channelId });
      },
    }));
  }

  return createFileSource('detail', store, async ({ id }) =>
    (await Promise.all((await log.sessionsOfPerson(id)).map(filesOf))).flat(),
  );
}

type FileStore = Pick<Store, 'list' | 'read' | 'readText'>;

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
  store: FileStore,
  files: (person: RecallPerson) => Promise<readonly RecallFile[]>,
): RecallSource {
  return {
    name,
    open(person, readers) {
      let indexed = new Map<string, IndexedFile>();
      const index = async (file: RecallFile, withheld: Withheld): Promise<readonly IndexedFile[]> => {
        const stored = await store.readText(file.key);
        const text = stored && withheld.note(file.key, stored);
        if (text === undefined) return [];
        const reach = file.reach(text);
        const known = indexed.get(file.key);
        if (known?.text === text && isSameReach(known.reach, reach)) return [known];
        return [{ key: file.key, text, reach, segment: fileSegment(readers, file, text, reach) }];
      };
      return async () => {
        const pause = createTimeSlice();
        const present: IndexedFile[] = [];
        const withheld = await readWithheld(store, person.id);
        for (const file of await files(person)) {
          present.push(...(await index(file, withheld)));
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

function fileSegment(readers: TextReaders, file: RecallFile, text: string, reach: Reach): Segment {
  const { path, channelId } = file;
  const at = /^created: (?<at>\d{4}-\d{2}-\d{2}T\S+)$/mu.exec(text)?.groups?.['at'];
  const segment = createSegment(reach);
  const title = new Set(readers.terms.read(path.replace(/\.md$/u, '')).map(titleTerm));
  for (const { content, line } of contentLines(text)) {
    const unit: RecallUnit = {
      text: content,
      author: '',
      at,
      isBot: false,
      reach,
      stretch: 0,
      reference: { kind: 'line', path, line, channelId },
    };
    addUnit(segment, unit, readers, title);
  }
  return segment;
}

/** Numbered from 1, without empty lines and those of comments, which hold META. */
function contentLines(text: string) {
  let isInComment = false;
  return text.split('\n').flatMap((line, index) => {
    const isComment: boolean = isInComment || line.includes('<!--');
    isInComment = isComment && !line.includes('-->');
    const content = line.trim();
    return isComment || content === '' ? [] : [{ content, line: index + 1 }];
  });
}

/** After so long a pause another sitting begins. */
const pauseMs = 60 * 60 * 1000;

/** Of one segment: a search holds the event loop for no longer than these take [L4]. */
const segmentMessages = 4096;

type MessageLog = Pick<SessionLog, 'logState' | 'since'>;

/**
 * The messages of all sessions of a person [W3]; each search checks the log's end and edition, and adds what
 * is new.
 */
export function createMessageSource(log: MessageLog & Pick<SessionLog, 'sessionsOfPerson'>): RecallSource {
  return {
    name: 'messages',
    open(person, readers) {
      let known = new Map<string, ReturnType<typeof createSessionMessages>>();
      return async (isExcluded) => {
        const own = await log.sessionsOfPerson(person.id);
        known = new Map(
          own.map((session) => {
            const name = sessionName(session);
            return [name, known.get(name) ?? createSessionMessages(log, session, readers)];
          }),
        );
        const segments: Segment[] = [];
        for (const read of known.values()) segments.push(...(await read(isExcluded)));
        return segments;
      };
    },
  };
}

/** One session's messages as segments, one after another. New ones are added; any other change reads all again. */
function createSessionMessages(log: MessageLog, session: SessionKey, readers: TextReaders) {
  let segments: Segment[] = [];
  let cursor = 0;
  let knownEdition: string | undefined;

  function forget(): void {
    segments = [];
    cursor = 0;
  }

  async function add(isExcluded: IsExcluded): Promise<void> {
    let since = await log.since(session, cursor);
    if (since.withdrawals.some(({ of }) => of <= cursor)) {
      forget();
      since = await log.since(session, 0);
    }
    const pause = createTimeSlice();
    for (const { message, sequence } of since.messages) {
      // What asks and what follows it is for the next search.
      if (isExcluded(message.id)) return;
      await pause();
      read(message);
      cursor = sequence;
    }
    // A line that is counted may still be on its way to the disk.
    cursor = since.last;
  }

  /** Messages with other readers are not neighbours: they are never shown together. */
  function read(message: LoggedMessage): void {
    const newest = segments.at(-1);
    const { at = '', stretch = 0 } = newest?.units.at(-1) ?? {};
    const isToSameReaders = newest !== undefined && isSameReach(newest.reach, message);
    const hasRoom = isToSameReaders && newest.units.length < segmentMessages;
    const segment = hasRoom ? newest : createSegment(pickReach(message));
    if (segment !== newest) segments.push(segment);
    const isSameSitting = isToSameReaders && Date.parse(message.at) - Date.parse(at) < pauseMs;
    const sitting = { reach: segment.reach, stretch: isSameSitting ? stretch : stretch + 1 };
    addUnit(segment, unitOf(session, message, sitting), readers);
  }

  return async (isExcluded: IsExcluded): Promise<readonly Segment[]> => {
    const { last, edition } = await log.logState(session);
    if (edition !== knownEdition || last < cursor) forget();
    if (last !== cursor) await add(isExcluded);
    knownEdition = edition;
    return segments;
  };
}

function unitOf(
  { channelId }: SessionKey,
  message: LoggedMessage,
  sitting: Pick<RecallUnit, 'reach' | 'stretch'>,
): RecallUnit {
  const { id, at, author, guildId, role } = message;
  return {
    text: textOf(message),
    author,
    at,
    isBot: role === 'assistant',
    thirdPartyMark: markOf(message),
    ...sitting,
    reference: { kind: 'message', channelId, messageId: id, guildId },
  };
}

function textOf({ text, attachments }: LoggedMessage): string {
  return attachments.length === 0 ? text : `${text} [${attachments.join(', ')}]`.trimStart();
}
