import { componentsView, type MessageView } from '../people/views.ts';
import type { Message } from '../world/entities.ts';
import type { TranscriptLine } from './transcript.ts';

/** How people are called and what places are called, by id. */
export interface Names {
  readonly personOf: (userId: string) => string;
  readonly isBot: (userId: string) => boolean;
  /** `undefined` for a place that is not known. */
  readonly placeOf: (channelId: string) => string | undefined;
}

/** What somebody said, as `viewerId` is shown it: files by name and size, buttons below. */
export function saidLine(
  message: Message,
  isEdited: boolean,
  { names, viewerId }: { readonly names: Names; readonly viewerId: string },
): TranscriptLine {
  const { attachments, poll, components, viewerId: onlyFor } = message;
  const seer = onlyFor === viewerId ? 'you see' : `${names.personOf(onlyFor ?? '')} sees`;
  const remarks = [isEdited ? 'edited' : '', onlyFor === undefined ? '' : `only ${seer} this`];
  const parts = [
    readableText(message.text, names),
    ...attachments.map(({ name, bytes }) => `[file ${name}, ${bytesText(bytes.length)}]`),
    ...(poll === undefined ? [] : [`📊 ${poll.question.text ?? ''}`]),
    ...(poll?.answers ?? []).map(({ poll_media: { emoji, text } }) =>
      ['○', emoji?.name, text].filter((part) => part !== undefined).join(' '),
    ),
    ...componentLines(componentsView(components)),
  ];
  return {
    place: names.placeOf(message.channelId) ?? 'somewhere',
    name: names.personOf(message.authorId),
    isBot: names.isBot(message.authorId),
    text: parts.join('\n').trim(),
    remark: remarks.filter((remark) => remark !== '').join('; '),
  };
}

/** What a message says, or what it has instead. */
export function contentOf(
  message: Pick<Message | MessageView, 'text' | 'poll'> & {
    readonly attachments: readonly { readonly name: string }[];
  },
  names: Names,
): string {
  const [file] = message.attachments;
  const words = readableText(message.text, names);
  if (words !== '') return quoted(words);
  if (message.poll !== undefined) return `the poll ${quoted(message.poll.question.text ?? '')}`;
  return file === undefined ? 'a message' : `the file ${file.name}`;
}

/** How much of a message is quoted where another line speaks of it, in characters. */
const quotedLength = 40;

/** A message's words as Discord shows them: mentions as names, moments as days or counted from now, escaped signs as they are. */
export function readableText(text: string, names: Names): string {
  return text
    .replaceAll(/<@!?(\d+)>/g, (_, id: string) => `@${names.personOf(id)}`)
    .replaceAll(/<#(\d+)>/g, (whole, id: string) => names.placeOf(id) ?? whole)
    .replaceAll(/<t:(\d{1,11})(?::([tTdDfFR]))?>/g, (_, seconds: string, style = '') =>
      style === 'R'
        ? fromNow(Number(seconds) * 1000 - Date.now())
        : new Date(Number(seconds) * 1000).toLocaleString('sv').slice(0, /[dD]/u.test(style) ? 10 : 16),
    )
    .replaceAll(/\\([\\`*_~|[#>-])/g, '$1');
}

const units = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** `in 2 minutes`, `3 days ago`. */
function fromNow(ms: number): string {
  // What is said in a moment is to be `in 2 minutes`, and not 119 seconds.
  const [unit, length] = units.find((each) => Math.abs(ms) > each[1] * 0.95) ?? units[5];
  return new Intl.RelativeTimeFormat('en').format(Math.round(ms / length), unit);
}

/** `1.2 kB`, `3 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const [amount, unit] = bytes < 1_024 ** 2 ? [bytes / 1_024, 'kB'] : [bytes / 1_024 ** 2, 'MB'];
  return `${Number(amount.toFixed(1))} ${unit}`;
}

/** The beginning of a message in quotation marks, on one line. */
export function quoted(text: string): string {
  const line = text.replaceAll(/\s+/gu, ' ').trim();
  const characters = Array.from(line);
  if (characters.length <= quotedLength) return `“${line}”`;
  return `“${characters
    .slice(0, quotedLength - 1)
    .join('')
    .trimEnd()}…”`;
}

/** Buttons as `[▶]`, those that cannot be clicked as `(◀)`; a line for each row. */
function componentLines({ rows }: ReturnType<typeof componentsView>): readonly string[] {
  return rows.map(({ buttons, select }) => {
    const faces = buttons.map(({ emoji, label, url, disabled }) => {
      const face = [emoji ?? '', label, url ?? ''].filter((part) => part !== '').join(' ');
      return disabled ? `(${face})` : `[${face}]`;
    });
    if (select !== undefined) {
      const options = select.options.map(({ label }) => label).join(' | ');
      const face = `${select.placeholder === '' ? 'Choose' : select.placeholder} ▾ ${options}`;
      faces.push(select.disabled ? `(${face})` : `[${face}]`);
    }
    return faces.join(' ');
  });
}
