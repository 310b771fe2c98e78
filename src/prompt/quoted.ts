import type { ChatMessage, ForwardedMessage, OpenedFile, RepliedMessage } from '../core/message.ts';
import type { MediaBlock } from '../core/model.ts';
import type { Place } from '../core/place.ts';
import { dataPiece, dataText, renderSection, type Section } from '../core/section.ts';
import { clip, clipAtWord, isBlank, toSingleLine, withoutInvisible } from '../core/text.ts';
import { localMoment, withMomentsTold } from '../core/time.ts';
import type { TurnMessage } from '../core/turn-context.ts';

export interface PromptMessage {
  readonly speakerName: string;
  /** At least one, oldest first. */
  readonly messages: readonly TurnMessage[];
  readonly place: Place;
  /** Now, such as `Thu 2026-01-15 14:03`. */
  readonly localTime: string;
  /** When it was written, if not about now [H3]. */
  readonly written?: string | undefined;
  /** Turns that the summary in the prompt does not know of [R5]. */
  readonly turnsSinceSummary: number;
}

/** Characters that wait for one turn [L1]; they never give way to anything [P4]. */
export const messageMaxChars = 8_000;
/** For the names of files; beyond that, only the files' own sections name them. */
const fileNamesMaxChars = 2_000;

/** The current message in its tags, with author, place and local times as attributes, tags escaped [P3]. */
export function renderMessage(message: PromptMessage): string {
  const from = label(message.speakerName);
  const withNames = joined(message.messages.map(wordsOf));
  const words = joined(message.messages.map(({ text }) => withoutInvisible(text).trim()));
  const isLong = withNames.length > messageMaxChars + fileNamesMaxChars;
  const body = dataText(isLong ? clipAtWord(words, messageMaxChars + fileNamesMaxChars) : withNames);
  const turns = message.turnsSinceSummary;
  const since = turns === 0 ? '' : ` turns-since-summary="${turns}"`;
  const written = message.written === undefined ? '' : ` written="${message.written}"`;
  return `<message from="${from}" where="${whereOf(message.place)}" time="${message.localTime}"${written}${since}>\n${body}\n</message>`;
}

function wordsOf(message: TurnMessage): string {
  return joined([withoutInvisible(message.text).trim(), enclosureNote(withForwardsApart(message))]);
}

/** Its forwards are quoted elsewhere: here it only says that it has them. */
function withForwardsApart<Message extends Pick<ChatMessage, 'shown'>>(message: Message): Message {
  const shown = message.shown?.map((each) =>
    each.kind === 'forwarded message' ? { ...each, text: '' } : each,
  );
  return shown === undefined ? message : { ...message, shown };
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}

function whereOf(place: Place): string {
  if (place.audience === 'dm') return 'direct message';
  const channel = `#${label(place.channelName ?? 'channel')}`;
  const inParent = place.parentName === undefined ? '' : `, a thread in #${label(place.parentName)}`;
  return `${channel}${inParent}, ${place.audience === 'private' ? 'private' : 'public'}`;
}

const quoteMaxChars = 2000;
/** Of these, for what the message shows besides its words. */
const noteMaxChars = 1600;

type Quote = Pick<Section, 'name' | 'title'>;

/** The message replied to, with its author's name and date [P3][H3]; `gone` where unreadable. */
export function repliedSection(
  replied: RepliedMessage | 'gone',
  nameOf: (author: RepliedMessage['author']) => string,
  timeZone: string,
): Section {
  if (replied === 'gone') {
    return quoteSection({ name: 'replied_to', title: 'The message that is replied to:' }, [
      '(it can no longer be read)',
    ]);
  }
  const by = replied.author.kind === 'self' ? 'you' : nameOf(replied.author);
  const title = `The message that is replied to, by ${by}, ${localMoment(new Date(replied.at), timeZone)}:`;
  return quote(
    { name: 'replied_to', title },
    withMomentsTold(replied.text, timeZone),
    enclosureNote(withForwardsApart(replied)),
  );
}

/** A forwarded message; Discord does not tell whose it is. */
export function forwardedSection({ text, at, files, shown }: ForwardedMessage, timeZone: string): Section {
  const title = `A message that was passed on, first written ${localMoment(new Date(at), timeZone)}:`;
  const note = enclosureNote({ attachments: files.map(({ name }) => name), shown });
  return quote({ name: 'forwarded', title }, withMomentsTold(text, timeZone), note);
}

function quote(frame: Quote, text: string, note: string): Section {
  const notes = note === '' ? [] : [quoted(note, noteMaxChars)];
  const room = quoteMaxChars - renderSection({ ...frame, lines: ['', ...notes] }).length;
  const lines = quotedLines(text, room).filter((line, _, all) => all.length > 1 || line !== '');
  const content = [...lines, ...notes];
  return quoteSection(frame, content.length === 0 ? ['(no text)'] : content);
}

function quoteSection(frame: Quote, lines: readonly string[]): Section {
  return { ...frame, slot: 'last', lines, budget: quoteMaxChars };
}

/** A text, or a picture or document after the text that names it. */
export type FilePiece = { readonly text: string } | { readonly media: MediaBlock };

/**
 * Attached files as data [P3], each in tags of its own. A text of more than `max` characters with its tags is
 * cut, and says so [P4].
 */
export function renderFile(file: OpenedFile, max = Number.POSITIVE_INFINITY): readonly FilePiece[] {
  const name = label(file.name);
  switch (file.kind) {
    case 'image':
      return [
        fileSection(name, ['(the picture follows)']),
        { media: { type: 'image', title: name, mediaType: file.mediaType, data: file.data } },
      ];
    case 'document':
      return [
        fileSection(name, ['(the document follows)']),
        { media: { type: 'document', title: name, data: file.data } },
      ];
    case 'text':
      return [textSection(name, file.text, max)];
    case 'unopened':
      return [fileSection(name, [`(not opened: ${file.reason})`])];
  }
}

function textSection(name: string, text: string, max: number): { readonly text: string } {
  const whole = fileSection(name, quotedLines(text));
  if (whole.text.length <= max) return whole;
  const frame = fileSection(name, ['', cutLine(text.length, text.length)]).text.length;
  const shown = quotedLines(text, max - frame);
  return fileSection(name, [...shown, cutLine(shown.join('\n').length, text.length)]);
}

function cutLine(shown: number, whole: number): string {
  return `(cut: this is the beginning, ${shown} of ${whole} characters; say so where it matters)`;
}

function fileSection(name: string, lines: readonly string[]): { readonly text: string } {
  return { text: renderSection({ name: 'attached_file', title: `${name}:`, lines }) };
}

const nameMaxChars = 80;

/**
 * Text that forges no tag, even with the text after it [P3]; at most `max` characters once escaped, cut at a
 * word.
 */
export function quoted(text: string, max = Number.POSITIVE_INFINITY): string {
  return fitting(text.trim(), max);
}

function fitting(text: string, max: number): string {
  const room = Math.max(0, max);
  let kept = clipAtWord(text, room);
  let rendered = dataPiece(kept);
  while (rendered.length > room) {
    kept = clipAtWord(kept, kept.length - (rendered.length - room));
    rendered = dataPiece(kept);
  }
  return rendered;
}

/**
 * Text as lines with their indentation, without empty lines around it; at most `max` characters once escaped
 * and joined.
 */
function quotedLines(text: string, max = Number.POSITIVE_INFINITY): readonly string[] {
  const shown = withoutInvisible(text).replace(/^(?:[^\S\n]*\n)+/u, '');
  return fitting(shown.trimEnd(), max).split('\n');
}

/**
 * A Discord name as one line of at most 80 characters, without `:`, `"`, `<` and `>`, so that nobody speaks
 * as somebody else.
 */
export function label(name: string): string {
  const plain = toSingleLine(toSingleLine(name).replace(/[:：<>"]/gu, ' '));
  return isBlank(plain) ? 'someone' : clip(plain, nameMaxChars).trim();
}

/** Names attached files and what else the message shows, in brackets; empty for nothing. */
export function enclosureNote({
  attachments,
  shown = [],
}: Pick<ChatMessage, 'attachments' | 'shown'>): string {
  const files = attachments.length === 0 ? [] : [`[attached: ${attachments.map(label).join(', ')}]`];
  const pieces = shown.map(({ kind, text }) =>
    text === '' ? `[${kind}]` : `[${kind}: ${withoutInvisible(text)}]`,
  );
  return [...files, ...pieces].join(' ');
}
