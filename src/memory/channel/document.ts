import { hash } from 'node:crypto';

import { z } from 'zod';

import { limits } from '../../core/limits.ts';
import { ownWords } from '../../core/own-words.ts';
import { assertSnowflake, compareSnowflakes } from '../../core/snowflake.ts';
import type { DocumentKind } from '../../core/store.ts';
import { fillerTerms, saysLiterally, terms, toSingleLine } from '../../core/text.ts';

const noteSchema = z.object({
  /** A hash of author, message and text. */
  id: z.string(),
  authorId: z.string(),
  /** As their name was then. */
  author: z.string(),
  /** Literally their own words. */
  text: z.string(),
  messageId: z.string(),
  /** When it was said, ISO 8601, UTC. */
  at: z.string(),
  /** Its author had it forgotten and can still undo that: it is used and shown nowhere. */
  isForgotten: z.literal(true).optional(),
});

/** One sentence said in a channel, by whom and when [B1]. */
export type ChannelNote = Readonly<z.infer<typeof noteSchema>>;

const documentSchema = z.object({
  version: z.literal(1),
  guildId: z.string(),
  /** The channel or thread in which it was all said. */
  channelId: z.string(),
  /** Up to which message notes were taken. */
  readUpTo: z.string().exactOptional(),
  /** When channel memory was switched on, as people there were told; ISO 8601. */
  toldOf: z.string().exactOptional(),
  /** Oldest first. */
  notes: z.array(noteSchema).readonly(),
});

/** `guilds/<guildId>/notes/<channelId>.json` */
export type NotesDocument = Readonly<z.infer<typeof documentSchema>>;

export const notesKind: DocumentKind<NotesDocument> = { version: 1, schema: documentSchema };

export interface NotesPlace {
  readonly guildId: string;
  readonly channelId: string;
}

/** @throws {RangeError} when the id is not a Discord id [S6]. */
export function notesFolder(guildId: string): string {
  return `guilds/${assertSnowflake(guildId)}/notes`;
}

/** @throws {RangeError} when an id is not a Discord id [S6]. */
export function notesKey({ guildId, channelId }: NotesPlace): string {
  return `${notesFolder(guildId)}/${assertSnowflake(channelId)}.json`;
}

export function noNotes({ guildId, channelId }: NotesPlace): NotesDocument {
  return { version: 1, guildId, channelId, notes: [] };
}

export function makeNote(note: Omit<ChannelNote, 'id' | 'isForgotten'>): ChannelNote {
  const { authorId, messageId, text } = note;
  const id = hash('sha256', JSON.stringify([authorId, messageId, text])).slice(0, 8);
  return { id, ...note };
}

/** The oldest gives way; unchanged where it has the note already. */
export function withNote(document: NotesDocument, note: ChannelNote): NotesDocument {
  if (document.notes.some(({ id }) => id === note.id)) return document;
  const notes = [...document.notes, note].toSorted((a, b) => compareSnowflakes(a.messageId, b.messageId));
  return { ...document, notes: notes.slice(-limits.channelNotes) };
}

/** Each note as `change` returns it, `undefined` to remove; the very same document if nothing changes. */
export function withNotes(
  document: NotesDocument,
  change: (note: ChannelNote) => ChannelNote | undefined,
): NotesDocument {
  const notes = document.notes.flatMap((note) => change(note) ?? []);
  const isSame =
    notes.length === document.notes.length && notes.every((note, index) => note === document.notes[index]);
  return isSame ? document : { ...document, notes };
}

export const noteMaxChars = 300;

/** Fewer words, fillers excluded, tell nobody anything. */
const fewestTerms = 2;

/** One line of the author's own prose, without quotes, code and mentions [M5a]. */
export function noteText(text: string): string {
  return toSingleLine(ownWords(text));
}

/** Whether it has the right length for a note. */
export function isNotable(text: string): boolean {
  const said = new Set(terms(text).filter((term) => !fillerTerms.has(term)));
  return said.size >= fewestTerms && text.length <= noteMaxChars;
}

/** Whether a message says a note's text literally, in its author's own words. */
export function isSaidIn(text: string, message: string): boolean {
  return saysLiterally(noteText(message), text);
}
