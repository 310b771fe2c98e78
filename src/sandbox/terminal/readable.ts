import { componentsView, type ComponentsView } from '../control/message-view.ts';
import type { Message, Poll } from '../world/entities.ts';
import type { ChatEvent, Said } from './chat-events.ts';
import type { TranscriptLine } from './transcript.ts';

/** How people are called and what places are called, by id. */
export interface Names {
  readonly personOf: (userId: string) => string;
  readonly isBot: (userId: string) => boolean;
  /** `undefined` for a place that is not known. */
  readonly placeOf: (channelId: string) => string | undefined;
}

/** A chat event as it is told: what somebody said, or a line about what was done. */
type Description =
  | { readonly kind: 'said'; readonly line: TranscriptLine }
  | { readonly kind: 'did'; readonly text: string };

/** Tells an event to the one who looks on. */
export function describeEvent(event: ChatEvent, names: Names, viewerId: string): Description {
  switch (event.kind) {
    case 'said':
      return { kind: 'said', line: saidLine(event, names, viewerId) };
    case 'deleted': {
      const words = `${contentOf(event.message, names)} was deleted`;
      return did(event.message.channelId, words, names);
    }
    case 'reacted':
    case 'unreacted': {
      const { message, userId, emoji, kind } = event;
      const verb = kind === 'reacted' ? `reacted ${emoji} to` : `took ${emoji} back from`;
      return did(message.channelId, `${names.personOf(userId)} ${verb} ${contentOf(message, names)}`, names);
    }
    case 'voted':
    case 'unvoted': {
      const { message, userId, answerId, kind } = event;
      const answer = message.poll?.answers.find(({ id }) => id === answerId)?.text ?? '?';
      const words = `“${answer}” in ${contentOf(message, names)}`;
      const verb = kind === 'voted' ? 'voted for' : 'took the vote back for';
      return did(message.channelId, `${names.personOf(userId)} ${verb} ${words}`, names);
    }
    case 'pinned':
    case 'unpinned':
    case 'cleared of reactions':
      return did(event.message.channelId, `${contentOf(event.message, names)} was ${event.kind}`, names);
    case 'thread': {
      const { thread } = event;
      const opener = names.personOf(thread.ownerId);
      return did(thread.parentId, `${opener} opened the thread “${thread.name}”`, names);
    }
    case 'presence': {
      const { status, activities } = event.presence;
      const words = activities.map(({ name, state }) => state ?? name).join(', ');
      return { kind: 'did', text: `The bot is ${status}${words === '' ? '' : `: ${words}`}` };
    }
  }
}

/** What somebody said, as Discord shows it: files by name and size, buttons below. */
export function saidLine(
  { message, isCorrection, onlyFor }: Said,
  names: Names,
  viewerId: string,
): TranscriptLine {
  const seer = onlyFor === viewerId ? 'you see' : `${names.personOf(onlyFor ?? '')} sees`;
  const remarks = [
    ...(isCorrection ? ['edited'] : []),
    ...(onlyFor === undefined ? [] : [`only ${seer} this`]),
  ];
  return {
    place: names.placeOf(message.channelId) ?? 'somewhere',
    name: names.personOf(message.authorId),
    isBot: names.isBot(message.authorId),
    text: [
      readableText(message.text, names),
      ...message.attachments.map(({ name, bytes }) => `[file ${name}, ${bytesText(bytes.length)}]`),
      ...(message.poll === undefined ? [] : pollLines(message.poll, names)),
      ...componentLines(componentsView(message.components)),
    ]
      .join('\n')
      .trim(),
    remark: remarks.length === 0 ? undefined : remarks.join('; '),
  };
}

function did(channelId: string, words: string, names: Names): Description {
  return { kind: 'did', text: `${names.placeOf(channelId) ?? 'somewhere'}  ${words}` };
}

function contentOf(message: Message, names: Names): string {
  const [file] = message.attachments;
  const words = readableText(message.text, names);
  if (words !== '') return quoted(words);
  if (message.poll !== undefined) return `the poll ${quoted(message.poll.question)}`;
  return file === undefined ? 'a message' : `the file ${file.name}`;
}

/** How much of a message is quoted where another line speaks of it, in characters. */
const quotedLength = 40;

/** A message's words as Discord shows them: mentions as names, moments as days. */
export function readableText(text: string, names: Names): string {
  return text
    .replaceAll(/<@!?(\d+)>/g, (_, id: string) => `@${names.personOf(id)}`)
    .replaceAll(/<#(\d+)>/g, (whole, id: string) => names.placeOf(id) ?? whole)
    .replaceAll(/<t:(\d{1,11})(?::[tTdDfFR])?>/g, (_, seconds: string) =>
      new Date(Number(seconds) * 1000).toLocaleDateString('sv'),
    );
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

/** The question, and each answer with those who voted for it. */
function pollLines({ question, answers, votes }: Poll, names: Names): readonly string[] {
  return [
    `📊 ${question}`,
    ...answers.map(({ id, text, emoji }) => {
      const face = [emoji ?? '', text].filter((part) => part !== '').join(' ');
      const voters = Array.from(votes.get(id) ?? [], names.personOf);
      return `○ ${face}${voters.length === 0 ? '' : ` (${voters.join(', ')})`}`;
    }),
  ];
}

/** Buttons as `[▶]`, those that cannot be clicked as `(◀)`; a line for each row. */
export function componentLines({ rows }: ComponentsView): readonly string[] {
  return rows.map(({ buttons, select }) => {
    const faces = buttons.map(({ emoji, label, disabled }) => {
      const face = [emoji ?? '', label].filter((part) => part !== '').join(' ');
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
