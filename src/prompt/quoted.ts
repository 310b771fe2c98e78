import type { ForwardedMessage, OpenedFile, RepliedMessage } from '../core/chat.ts';
import type { MediaBlock } from '../core/model.ts';
import type { Place } from '../core/place.ts';
import { dataText, renderSection, type Section } from '../core/section.ts';
import { clip, clipAtWord, flatten } from '../core/text.ts';
import type { TurnMessage } from '../core/turn-context.ts';

/** The message that the model is to answer, and what it should know about it. */
export interface PromptMessage {
  readonly speakerName: string;
  /** At least one, oldest first. */
  readonly messages: readonly TurnMessage[];
  readonly place: Place;
  /** Local date and time, such as `2026-01-15 14:03`. */
  readonly localTime: string;
}

/** The current message in its tags: author, place and local time as attributes, the words as they were written, tags escaped [P3]. */
export function renderMessage(message: PromptMessage): string {
  const from = label(message.speakerName);
  const words = message.messages.map(wordsOf).filter((text) => text !== '');
  const body = dataText(words.join('\n'));
  return `<message from="${from}" where="${whereOf(message.place)}" time="${message.localTime}">\n${body}\n</message>`;
}

function wordsOf(message: TurnMessage): string {
  return [visible(message.text).trim(), attachmentNote(message.attachments)]
    .filter((part) => part !== '')
    .join('\n');
}

function whereOf(place: Place): string {
  if (place.audience === 'dm') return 'direct message';
  const channel = `#${label(place.channelName ?? 'channel')}`;
  const inParent = place.parentName === undefined ? '' : `, a thread in #${label(place.parentName)}`;
  return `${channel}${inParent}, ${place.audience === 'private' ? 'private' : 'public'}`;
}

/** Characters of one quoted message as rendered. */
const quoteMaxChars = 2000;

type Quote = Pick<Section, 'name' | 'title'>;

/** The message that the turn's message replies to, as data with its author's name [P3]; `gone` where it cannot be read. */
export function repliedSection(replied: RepliedMessage | 'gone'): Section {
  if (replied === 'gone') {
    return quoteSection({ name: 'replied_to', title: 'The message that is replied to:' }, [
      '(it can no longer be read)',
    ]);
  }
  const title = `The message that is replied to, by ${authorOf(replied)}:`;
  return quote({ name: 'replied_to', title }, replied.text, replied.attachments);
}

/** A message that the speaker, or whoever is replied to, passed on; Discord does not tell whose it is. */
export function forwardedSection({ text, files }: ForwardedMessage): Section {
  const names = files.map(({ name }) => name);
  return quote({ name: 'forwarded', title: 'A message that was passed on:' }, text, names);
}

function quote(frame: Quote, text: string, attachments: readonly string[]): Section {
  const note = attachmentNote(attachments);
  const notes = note === '' ? [] : [note];
  const room = quoteMaxChars - renderSection({ ...frame, lines: ['', ...notes] }).length;
  const lines = quotedLines(text, room).filter((line, _, all) => all.length > 1 || line !== '');
  const said = [...lines, ...notes];
  return quoteSection(frame, said.length === 0 ? ['(no text)'] : said);
}

function quoteSection(frame: Quote, lines: readonly string[]): Section {
  return { ...frame, slot: 'last', lines, budget: quoteMaxChars };
}

function authorOf({ author }: RepliedMessage): string {
  switch (author.kind) {
    case 'self':
      return 'you';
    case 'bot':
      return `${label(author.name)} (bot)`;
    case 'human':
      return label(author.name);
  }
}

/** What the last message shows of a file: a text, or a picture or document after the text that names it. */
export type FilePiece = { readonly text: string } | { readonly media: MediaBlock };

/** Attached files as data [P3]: each in tags of its own, named by its title. They have bounds of their own, outside of the prompt's [P4]. */
export function renderFile(file: OpenedFile): readonly FilePiece[] {
  const name = label(file.name);
  switch (file.kind) {
    case 'image':
      return [
        fileSection(name, ['(the picture follows)']),
        { media: { type: 'image', mediaType: file.mediaType, data: file.data } },
      ];
    case 'document':
      return [
        fileSection(name, ['(the document follows)']),
        { media: { type: 'document', title: name, data: file.data } },
      ];
    case 'text':
      return [fileSection(name, quotedLines(file.text))];
    case 'unopened':
      return [fileSection(name, [`(not opened: ${file.reason})`])];
  }
}

function fileSection(name: string, lines: readonly string[]): FilePiece {
  return { text: renderSection({ name: 'attached_file', title: `${name}:`, lines }) };
}

const nameMaxChars = 80;

/** A `<` or `</` at the very end, which the beginning of whatever follows could make a tag. */
const openEnd = /<(?=\s*\/?$)/u;

/**
 * A piece of text as data that forges no tag, not even together with what comes after it [P3]; of at most `max` characters once
 * escaped, cut at a word and marked by `…`.
 */
export function quoted(text: string, max = Number.POSITIVE_INFINITY): string {
  return fitting(text.trim(), max);
}

function fitting(text: string, max: number): string {
  const room = Math.max(0, max);
  let kept = clipAtWord(text, room);
  let rendered = escaped(kept);
  while (rendered.length > room) {
    kept = clipAtWord(kept, kept.length - (rendered.length - room));
    rendered = escaped(kept);
  }
  return rendered;
}

/** A text as lines of data, with its indentation and without empty lines around it; of at most `max` characters once escaped and joined. */
function quotedLines(text: string, max = Number.POSITIVE_INFINITY): readonly string[] {
  const shown = visible(text).replace(/^(?:[^\S\n]*\n)+/u, '');
  return fitting(shown.trimEnd(), max).split('\n');
}

function escaped(text: string): string {
  return dataText(text).replace(openEnd, '&lt;');
}

/** Keeps lines and indentation, drops control and invisible format characters but the joiners that scripts and emoji need. */
export function visible(text: string): string {
  return text.replace(/\r\n?|[\p{Zl}\p{Zp}]/gu, '\n').replace(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu, '');
}

/**
 * A Discord name as a label: one line of at most 80 characters without what sets names off from words (`:`), attributes (`"`)
 * or tags (`<`, `>`), so that nobody speaks as somebody else by their name.
 */
export function label(name: string): string {
  const plain = flatten(flatten(name).replace(/[:：<>"]/gu, ' '));
  return clip(plain, nameMaxChars).trim() || 'someone';
}

/** Names the attached files, or says nothing where there are none. */
export function attachmentNote(attachments: readonly string[]): string {
  return attachments.length === 0 ? '' : `[attached: ${attachments.map(label).join(', ')}]`;
}
