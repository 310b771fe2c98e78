import { z } from 'zod';

import { assertSnowflake, isSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind, Store } from '../../core/store.ts';
import { createTimeSlice } from '../../core/time.ts';
import {
  noNotes,
  notesFolder,
  notesKey,
  notesKind,
  withNotes,
  type ChannelNote,
  type NotesDocument,
  type NotesPlace,
} from './document.ts';

/** Each may be a way to a database. */
const readAtOnce = 100;

/** Beyond so many, not all channels with notes are looked through for one message. */
const mostKnown = 500;

/** Which files. Default: all. */
export interface NotesWhere {
  /** Of these guilds. */
  readonly guildIds?: readonly string[] | undefined;
  /** And all others known here, if not too many. */
  readonly andKnown?: boolean;
  /** Those in which this author may have notes. */
  readonly authorId?: string | undefined;
}

/** The files of notes, one a channel. Rejects with `StoreError`. */
export function createNotesFiles(store: Pick<Store, 'read' | 'update' | 'list'>) {
  const notedOf = createNotedChannels(store);
  /** Each channel's guild. It may lack channels of servers that another process serves. */
  let known: Promise<Map<string, string>> | undefined;

  function notedChannels(): Promise<Map<string, string>> {
    known ??= findChannels().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  }

  /** Default: all guilds. */
  async function findChannels(guildIds?: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    const add = (guildId: string, file: string): void => {
      const channelId = file.replace(/\.json$/u, '');
      if (isSnowflake(guildId) && isSnowflake(channelId)) found.set(channelId, guildId);
    };
    if (guildIds === undefined)
      for (const { path } of await store.list('guilds')) {
        const [, guildId = '', file = ''] = /^([^/]+)\/notes\/([^/]+)$/u.exec(path) ?? [];
        add(guildId, file);
      }
    else
      await Promise.all(
        guildIds.map(async (guildId) => {
          for (const { path } of await store.list(notesFolder(guildId))) add(guildId, path);
        }),
      );
    return found;
  }

  const read = (place: NotesPlace): Promise<NotesDocument | undefined> =>
    store.read(notesKey(place), notesKind);

  async function notesIn(channelId: string): Promise<readonly ChannelNote[]> {
    const guildId = (await notedChannels()).get(channelId);
    return guildId === undefined ? [] : ((await read({ guildId, channelId }))?.notes ?? []);
  }

  /** Another process may have just made some, so they are looked up again. */
  async function channelsWhere({
    guildIds,
    andKnown = false,
    authorId,
  }: NotesWhere): Promise<readonly NotesPlace[]> {
    const found = async () => {
      if (authorId !== undefined) return notedOf.of(authorId);
      const all = await notedChannels();
      const listed = await findChannels(guildIds);
      return andKnown && all.size <= mostKnown ? new Map([...all, ...listed]) : listed;
    };
    const meant = andKnown ? undefined : guildIds && new Set(guildIds);
    return Array.from(await found(), ([channelId, guildId]) => ({ guildId, channelId })).filter(
      ({ guildId }) => meant?.has(guildId) !== false,
    );
  }

  /** One after the other, so that others have their turn. */
  async function* documents(where: NotesWhere = {}): AsyncGenerator<NotesDocument> {
    const pause = createTimeSlice();
    const places = await channelsWhere(where);
    for (let at = 0; at < places.length; at += readAtOnce) {
      for (const document of await Promise.all(places.slice(at, at + readAtOnce).map(read)))
        if (document !== undefined) yield document;
      await pause();
    }
  }

  async function update(
    place: NotesPlace,
    operation: (document: NotesDocument) => NotesDocument,
    writing: { readonly erase?: boolean } = {},
  ): Promise<void> {
    const noted = await notedChannels();
    const stored = await store.update(
      notesKey(place),
      notesKind,
      (current) => {
        const before = current ?? noNotes(place);
        const after = operation(before);
        return after === before ? current : after;
      },
      writing,
    );
    if (stored !== undefined) noted.set(place.channelId, place.guildId);
  }

  /** Changes an author's notes and erases the former. Part of a job of the author's queue, except for old ones. */
  async function changeWhere(
    authorId: string | undefined,
    isMeant: (note: ChannelNote) => boolean,
    change: (note: ChannelNote) => ChannelNote | undefined,
    channelIds?: ReadonlySet<string>,
  ): Promise<number> {
    let count = 0;
    for await (const document of documents({ authorId })) {
      if (channelIds?.has(document.channelId) === false) continue;
      const meant = document.notes.filter(isMeant).length;
      if (meant === 0) continue;
      count += meant;
      await update(
        document,
        (present) => withNotes(present, (note) => (isMeant(note) ? change(note) : note)),
        { erase: true },
      );
    }
    return count;
  }

  return {
    notedChannels,
    /** Each channel's guild, where an author may have notes. */
    channelsOf: notedOf.of,
    /** To be called before a note of an author is kept in a channel. */
    noteAuthor: notedOf.add,
    read,
    notesIn,
    documents,
    update,
    changeWhere,
  };
}

/** By channel with notes, now or once, its guild. */
const notedSchema = z.object({ version: z.literal(1), channels: z.record(z.string(), z.string()) });
export const notedKind: DocumentKind<z.infer<typeof notedSchema>> = { version: 1, schema: notedSchema };

/** Where a person's notes are, so that forgetting looks through no other server's. Rejects with `StoreError`. */
function createNotedChannels(store: Pick<Store, 'read' | 'update'>) {
  return {
    async of(this: void, userId: string): Promise<ReadonlyMap<string, string>> {
      const noted = await store.read(notedKey(userId), notedKind);
      return new Map(Object.entries(noted?.channels ?? {}));
    },
    /** To be called before a note is kept. */
    async add(this: void, userId: string, { guildId, channelId }: NotesPlace): Promise<void> {
      if ((await store.read(notedKey(userId), notedKind))?.channels[channelId] === guildId) return;
      await store.update(
        notedKey(userId),
        notedKind,
        (noted) => ({ version: 1 as const, channels: { ...noted?.channels, [channelId]: guildId } }),
        // So that the last good copy lacks none.
        { erase: true },
      );
    },
  };
}

/** @throws {RangeError} when the id is not a Discord id [S6]. */
function notedKey(userId: string): string {
  return `users/${assertSnowflake(userId)}/noted.json`;
}
