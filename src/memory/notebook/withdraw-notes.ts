import type { Logger } from '../../core/logger.ts';
import type { SessionKey } from '../../core/place.ts';
import type { Store } from '../../core/store.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import { cursorOfNote } from '../rolling/summary-note.ts';
import type { Withdrawing, WithdrawnWords } from '../session-log/withdrawn-words.ts';
import { sessionFolder } from '../session-log/session-keys.ts';
import type { SessionState, SessionStates } from '../session-log/session-state.ts';
import { notebookParts } from './notebook-tree.ts';
import { tellingTerms, withoutWithdrawnLines } from './withdrawn-lines.ts';

interface Note {
  readonly key: string;
  readonly text: string;
  /** In the person's notebook, which they write too. */
  readonly isShared: boolean;
}

/**
 * Takes out of the notes what the model wrote down of messages that were deleted or edited [G5]: lines with a word that these said and
 * that nobody says any more in the conversation. All that is written about a conversation is looked through: its overview and details, and
 * after a DM the person's notebook. What a note says in other words than the message stays.
 */
export function createWithdrawNotes({
  store,
  writes,
  states,
  logger,
}: {
  readonly store: Store;
  /** The users' write queue; this itself runs as a job of the user's. */
  readonly writes: KeyedQueue;
  readonly states: Pick<SessionStates, 'read'>;
  readonly logger: Logger;
}): Withdrawing {
  async function read(keys: readonly string[], isShared: boolean): Promise<readonly Note[]> {
    const notes = await Promise.all(keys.map(async (key) => ({ key, text: await store.readText(key) })));
    return notes.flatMap(({ key, text }) => (text === undefined ? [] : [{ key, text, isShared }]));
  }

  async function keysBelow(folder: string): Promise<readonly string[]> {
    return (await store.list(folder)).map(({ path }) => `${folder}/${path}`);
  }

  /** Replaced summaries are the rolling summary's own: it knows exactly which messages they hold. */
  async function keysOfSession(session: SessionKey): Promise<readonly string[]> {
    const folder = sessionFolder(session);
    const details = await keysBelow(`${folder}/detail`);
    const notes = details.filter((key) => cursorOfNote(key.slice(`${folder}/detail/`.length)) === undefined);
    return [`${folder}/overview.md`, ...notes];
  }

  async function keysOfNotebook({ userId }: SessionKey, state: SessionState): Promise<readonly string[]> {
    if (state.place?.audience !== 'dm') return [];
    const parts = notebookParts({ id: userId, isOwner: state.isOwner === true });
    const files = parts.filter(({ isFolder }) => !isFolder).map(({ key }) => key);
    const folders = parts.filter(({ isFolder }) => isFolder).map(({ key }) => keysBelow(key));
    return [...files, ...(await Promise.all(folders)).flat()].filter((key) => key.endsWith('.md'));
  }

  async function withdraw(notes: readonly Note[], words: WithdrawnWords): Promise<void> {
    const noted = new Set(notes.flatMap(({ text }) => text.split('\n').flatMap(tellingTerms)));
    const candidates = new Set([...words.all].filter((term) => noted.has(term)));
    if (candidates.size === 0) return;
    const said = await words.stillSaid(candidates);
    const gone = new Set([...candidates].filter((term) => !said.has(term)));
    for (const { key, text, isShared } of notes) {
      const rule = isShared ? { gone, mostlyOf: words.own } : { gone };
      const rest = withoutWithdrawnLines(text, rule);
      if (rest === undefined) await store.remove(key);
      else if (rest !== text) await store.writeText(key, rest, { erase: true });
    }
  }

  /** An overview is rewritten as a whole, so that its last good copy may hold what the overview itself does not any more. */
  async function eraseFormer(key: string): Promise<void> {
    const text = await store.readText(key);
    if (text === undefined) await store.remove(key);
    else await store.writeText(key, text, { erase: true });
  }

  async function follow(session: SessionKey, words: WithdrawnWords): Promise<void> {
    const state = await states.read(session);
    await withdraw(await read(await keysOfSession(session), false), words);
    await eraseFormer(`${sessionFolder(session)}/overview.md`);
    const shared = await keysOfNotebook(session, state);
    if (shared.length === 0) return;
    const work = async () => withdraw(await read(shared, true), words);
    await (state.isOwner === true ? writes.run('workspace', work) : work());
  }

  return async (session, words) => {
    try {
      await follow(session, words);
    } catch (error) {
      logger.error('memory could not follow', { what: 'a retraction, in notes', ...session, error });
    }
  };
}
