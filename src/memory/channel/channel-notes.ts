import type { RecentChanges } from '../../core/changes.ts';
import type { ChannelPort, RememberedMessage } from '../../core/chat.ts';
import { beginningNow, type Writes } from '../../core/writes.ts';
import type { Logger } from '../../core/logger.ts';
import type { MemorySource } from '../../core/memory-source.ts';
import type { ChannelGuild, Place, SessionKey } from '../../core/place.ts';
import type { Locks } from '../../core/processes.ts';
import { compareSnowflakes, isYounger } from '../../core/snowflake.ts';
import type { Store } from '../../core/store.ts';
import { saysWords } from '../../core/text.ts';
import { mayUseNote } from '../../core/visibility.ts';
import type { MemoryLayer, Withdrawn } from '../layer.ts';
import type { PersonSettingsStore } from '../settings/person-settings.ts';
import type { PlaceSettings } from '../settings/place-settings.ts';
import type { MessagesByChannel } from '../undo.ts';
import {
  isSaidIn,
  makeNote,
  withNote,
  type ChannelNote,
  type NotesDocument,
  type NotesPlace,
} from './document.ts';
import { createNotesFiles } from './files.ts';
import { createNoteSection } from './section.ts';

export interface ChannelNotesOptions {
  readonly store: Pick<Store, 'read' | 'update' | 'list'>;
  /** The users' write queue [S3]. */
  readonly writes: Pick<Writes, 'run'>;
  /** Who can read the channels now [B2]. */
  readonly channels: ChannelPort;
  /** Where channel memory is on; neither rejects. */
  readonly settings: Pick<PlaceSettings, 'channelMemorySince' | 'isMemoryOff'>;
  /** Who has paused [K9]. */
  readonly people: Pick<PersonSettingsStore, 'mayStore' | 'pauseIn'>;
  /** The servers in which a person has talked with the bot. */
  readonly guildsOf: (userId: string) => Promise<readonly string[]>;
  /** IANA. */
  readonly timeZone: string;
  /** What became of messages lately. */
  readonly recent: Pick<RecentChanges, 'latest'>;
  readonly logger: Logger;
}

export type ChannelNotes = ReturnType<typeof createChannelNotes>;

/**
 * What was decided, agreed, asked, promised or found in channels, and by whom [B1]. A note is for its
 * channel's readers [B2] and goes with its author's message or at their word [B3]. Changes of an author's
 * notes are jobs of their write queue. Rejects with `StoreError`.
 */
export function createChannelNotes(options: ChannelNotesOptions) {
  const { store, writes, channels, settings, people, recent, logger } = options;
  const { notedChannels, channelsOf, noteAuthor, read, notesIn, documents, update, changeWhere } =
    createNotesFiles(store);
  /** Of what is being kept: it need not be on disk yet where a deletion looks. */
  const begun = new Set<Pick<ChannelNote, 'authorId' | 'messageId'>>();

  async function deleteWithdrawn(change: Withdrawn, stage: 'hide' | 'delete'): Promise<void> {
    const { session, cause, isForgetting = false } = change;
    const ids = new Set(cause.kind === 'edited' ? [cause.messageId] : cause.messageIds);
    const isOf = (note: ChannelNote): boolean => note.authorId === session.userId && ids.has(note.messageId);
    const { userId } = session;
    if (isForgetting && stage === 'hide') await changeWhere(userId, isOf, hidden, inChannel(session));
    // What was said again meanwhile is no longer hidden.
    else if (isForgetting)
      await changeWhere(userId, (note) => isOf(note) && note.isForgotten === true, gone, inChannel(session));
    else if (stage === 'hide') {
      const now = cause.kind === 'edited' ? cause.text : '';
      await changeWhere(userId, (note) => isOf(note) && !isSaidIn(note.text, now), gone, inChannel(session));
    }
  }

  const layer: MemoryLayer = {
    name: 'channel',
    sections: createNoteSection({
      documents: ({ place: { guildId }, speaker }) => notesFor(guildId, speaker.id),
      isUsable,
      isPaused: async ({ authorId, at }, { channelId }) =>
        !(await people.mayStore({ userId: authorId, channelId }, new Date(at))),
      timeZone: options.timeZone,
    }),
    async holdersOf(change) {
      const ids = new Set(change.kind === 'edited' ? [change.messageId] : change.messageIds);
      // Copied first: what is kept meanwhile is on disk by then.
      const all = [...begun, ...(await notesIn(change.channelId))];
      const held = all.filter(({ messageId }) => ids.has(messageId));
      const authors = new Set(held.map(({ authorId }) => authorId));
      return [...authors].map((userId) => ({ channelId: change.channelId, userId }));
    },
    async follow(change, stage) {
      if (change.kind === 'withdrawn') return deleteWithdrawn(change, stage);
      if (stage === 'delete') return;
      if (change.kind === 'purged') {
        const { userId, words, commandId } = change;
        const isMeant = ({ authorId, text, messageId }: ChannelNote): boolean =>
          authorId === userId && saysWords(text, words) && !isYounger(messageId, commandId);
        await changeWhere(userId, isMeant, gone);
        return;
      }
      if (change.kind === 'restored') {
        const { session, messageIds } = change;
        const isBack = (note: ChannelNote): boolean =>
          note.authorId === session.userId && messageIds.includes(note.messageId);
        await changeWhere(session.userId, isBack, shown, inChannel(session));
        return;
      }
      const ids = new Set((change.messages ?? []).flatMap(({ messageIds }) => messageIds));
      const isOf = (note: ChannelNote): boolean => note.authorId === change.userId && ids.has(note.messageId);
      if (ids.size > 0) await changeWhere(change.userId, isOf, hidden);
    },
    async *export(userId) {
      for await (const { channelId, notes } of ownNotes(userId))
        yield { path: `channel-notes/${channelId}.json`, text: JSON.stringify(notes, undefined, 2) };
    },
    async erase({ userId, sessions, isWhole }) {
      const only = isWhole ? undefined : new Set(sessions.map(({ channelId }) => channelId));
      await changeWhere(userId, ({ authorId }) => authorId === userId, gone, only);
      if (!isWhole) return;
      // Damaged copies may hold what the files do not.
      for (const [channelId, guildId] of Array.from(await channelsOf(userId)))
        await update({ guildId, channelId }, (document) => document, { erase: true });
    },
  };

  /** A person's own notes, by channel; without channels that have none. */
  async function* ownNotes(userId: string) {
    for await (const { channelId, guildId, notes } of documents({ authorId: userId })) {
      const own = notes.filter((note) => note.authorId === userId && note.isForgotten === undefined);
      if (own.length > 0) yield { channelId, guildId, notes: own };
    }
  }

  /** The notes' channel as it is now, if they may be used in an answer there [B2]. Never rejects. */
  async function isUsable(
    { channelId }: NotesPlace,
    place: Place,
    askerId: string,
  ): Promise<Place | undefined> {
    const channel = await channels.placeOf(channelId);
    if (channel === undefined || !mayUseNote(channel, place, true)) return undefined;
    if ((await since(channel)) === undefined) return undefined;
    if (place.audience === 'dm')
      return (await channels.personMay('read', channelId, askerId)) ? channel : undefined;
    // The place may have more readers than when the turn began.
    const present = await channels.placeOf(place.channelId);
    return present !== undefined && mayUseNote(channel, present, true) ? channel : undefined;
  }

  /** Of the turn's server; in a DM of all servers, or, if too many, of those where the asker has talked. */
  async function* notesFor(guildId: string | undefined, askerId: string): AsyncGenerator<NotesDocument> {
    if (guildId !== undefined) yield* documents({ guildIds: [guildId] });
    else {
      const noted = (await channelsOf(askerId)).values();
      const guildIds = [...new Set([...noted, ...(await options.guildsOf(askerId))])];
      yield* documents({ guildIds, andKnown: true });
    }
  }

  /** ISO 8601; `undefined` where it is off. Never rejects. */
  async function since(place: Place): Promise<string | undefined> {
    const at = await settings.channelMemorySince(place);
    return at === undefined || (await settings.isMemoryOff(place)) ? undefined : at;
  }

  /** A pause has begun, of everything or in one channel. Resolves with how many notes went. */
  function deleteNotesOf(userId: string, channelId?: string): Promise<number> {
    const only = channelId === undefined ? undefined : new Set([channelId]);
    return writes.run(beginningNow(userId), () =>
      changeWhere(userId, ({ authorId }) => authorId === userId, gone, only),
    );
  }

  return {
    ...layer,
    since,
    ownNotes,

    /** Whether all notes exist and all readers can read their channels. Never rejects. */
    async canDisclose(sources: readonly MemorySource[], place: Place, askerId: string): Promise<boolean> {
      try {
        for (const source of sources) {
          if (source.kind !== 'note') continue;
          const { guildId, channelId, messageId } = source;
          const isThere = (note: ChannelNote) =>
            note.messageId === messageId && note.isForgotten === undefined;
          if ((await read({ guildId, channelId }))?.notes.some(isThere) !== true) return false;
          // Who asks in a DM could read it a moment ago.
          const isDm = place.audience === 'dm';
          if (!isDm && (await isUsable({ guildId, channelId }, place, askerId)) === undefined) return false;
        }
        return true;
      } catch (error) {
        logger.error('permission to show notes could not be checked', { error });
        return false;
      }
    },

    /** Keeps an author's sentence, if it `stillStands`, which must not wait for another write of theirs. */
    keep(
      place: NotesPlace,
      said: Omit<ChannelNote, 'id' | 'isForgotten'>,
      stillStands: () => Promise<boolean>,
    ): Promise<ChannelNote | undefined> {
      begun.add(said);
      const keeping = writes.run(beginningNow(said.authorId), async () => {
        const { messageId, text } = said;
        const now = recent.latest(messageId);
        const isSaid = now === undefined || (now.text !== undefined && isSaidIn(text, now.text));
        if (!isSaid || !(await stillStands())) return undefined;
        const note = makeNote(said);
        await noteAuthor(said.authorId, place);
        // The oldest one may make way.
        await update(place, (document) => withNote(document, note), { erase: true });
        logger.info('a channel note was kept', { ...place, userId: said.authorId, id: note.id });
        return note;
      });
      return keeping.finally(() => begun.delete(said));
    },

    /** Up to which message notes were taken in a channel. */
    readUpTo: async (place: NotesPlace): Promise<string | undefined> => (await read(place))?.readUpTo,

    noteRead: (place: NotesPlace, messageId: string): Promise<void> =>
      update(place, (document) =>
        compareSnowflakes(document.readUpTo ?? '0', messageId) >= 0
          ? document
          : { ...document, readUpTo: messageId },
      ),

    /** Newest first, without those of people in a pause; a thread's include its channel's. */
    async list(place: Place): Promise<readonly (ChannelNote & { readonly channelId: string })[]> {
      const found = [];
      for (const channelId of new Set([place.channelId, place.homeId]))
        for (const note of await notesIn(channelId)) {
          const { authorId: userId, at, isForgotten } = note;
          if (isForgotten === undefined && (await people.mayStore({ userId, channelId }, new Date(at))))
            found.push({ ...note, channelId });
        }
      return found.toSorted((a, b) => compareSnowflakes(b.messageId, a.messageId));
    },

    /** Erases a note. Not to be called within a job. */
    remove: (authorId: string, channelId: string, noteId: string): Promise<number> =>
      writes.run(beginningNow(authorId), () =>
        changeWhere(authorId, ({ id }) => id === noteId, gone, new Set([channelId])),
      ),

    /** The messages of a person's own notes that say some words, or of one id, if usable in a place. */
    saying: async (userId: string, words: string, place: Place): Promise<MessagesByChannel> => {
      const found: { channelId: string; messageIds: string[] }[] = [];
      const guildIds = place.guildId === undefined ? undefined : [place.guildId];
      for await (const { channelId, notes } of documents({ authorId: userId, guildIds })) {
        const messageIds = notes
          .filter(({ authorId, isForgotten }) => authorId === userId && isForgotten === undefined)
          .filter(({ id, text }) => id === words.trim() || saysWords(text, words))
          .map(({ messageId }) => messageId);
        if (messageIds.length === 0) continue;
        const channel = place.audience === 'dm' ? undefined : await channels.placeOf(channelId);
        if (place.audience === 'dm' || (channel !== undefined && mayUseNote(channel, place, true)))
          found.push({ channelId, messageIds });
      }
      return found;
    },

    dropOf: deleteNotesOf,

    /** Erases notes of messages that are too old [K15]; resolves with how many. */
    expire: (isPast: (messageId: string) => boolean): Promise<number> =>
      changeWhere(undefined, ({ messageId }) => isPast(messageId), gone),

    /** The messages of a channel's notes from an id on, to be compared after a gap. */
    async messagesSince(channelId: string, messageId: string): Promise<readonly RememberedMessage[]> {
      const ids = (await notesIn(channelId)).map((note) => note.messageId);
      const young = ids.filter((id) => compareSnowflakes(id, messageId) >= 0);
      return young.map((id) => ({ ids: [id], isOwn: false }));
    },

    /** The channels that have notes, or had. */
    channels: async (): Promise<readonly NotesPlace[]> =>
      Array.from(await notedChannels(), ([channelId, guildId]) => ({ guildId, channelId })),

    guildOf: async (channelId: string): Promise<ChannelGuild> => {
      const guildId = (await notedChannels()).get(channelId);
      return guildId === undefined ? { kind: 'unknown' } : { kind: 'guild', guildId };
    },

    /** A guild's files are gone. */
    forgetGuild: async (guildId: string): Promise<void> => {
      const noted = await notedChannels();
      for (const [channelId, of] of Array.from(noted)) if (of === guildId) noted.delete(channelId);
    },

    /** Removes what a kill left of people who had paused by a moment (ISO 8601). Never rejects. */
    async dropPaused(at: string, locks: Pick<Locks, 'claim'>): Promise<void> {
      let claim: Awaited<ReturnType<Locks['claim']>>;
      try {
        claim = await locks.claim('paused notes');
        if (claim === undefined) return;
        for await (const { channelId, notes } of documents())
          for (const userId of new Set(notes.map(({ authorId }) => authorId)))
            if ((await people.pauseIn({ userId, channelId }, at)) !== undefined)
              await deleteNotesOf(userId, channelId);
      } catch (error) {
        logger.error('notes of paused people could not be listed', { error });
      } finally {
        await claim?.release();
      }
    },

    /** What the first answer says of channel memory [B1], once each time it was switched on. Never rejects. */
    async firstLine(place: Place): Promise<string | undefined> {
      const { guildId, homeId: channelId } = place;
      const at = guildId === undefined ? undefined : await since(place);
      if (guildId === undefined || at === undefined) return undefined;
      try {
        if ((await read({ guildId, channelId }))?.toldOf === at) return undefined;
        await update({ guildId, channelId }, (document) => ({ ...document, toldOf: at }));
        return channelMemoryLine;
      } catch (error) {
        logger.error('the notice about channel memory could not be checked', { guildId, channelId, error });
        return undefined;
      }
    },
  };
}

const channelMemoryLine =
  '📝 Channel memory is on here: I note what is decided, agreed or asked, with who said it. `!memory channel` lists it, and your own notes you can forget.';

const gone = (): undefined => undefined;
const hidden = (note: ChannelNote): ChannelNote => ({ ...note, isForgotten: true });
const shown = (note: ChannelNote): ChannelNote => ({ ...note, isForgotten: undefined });

function inChannel({ channelId }: SessionKey): ReadonlySet<string> {
  return new Set([channelId]);
}
