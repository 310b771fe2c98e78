import type {
  ChatMessage,
  IncomingMessage,
  ReadAttachment,
  ReadReplied,
  Transcribe,
} from '../core/message.ts';
import type { HistoryPort } from '../core/channels.ts';
import type { ReplyPort } from '../core/reply.ts';
import type { RecentChanges } from '../core/changes.ts';
import { ModelError, type ModelFailure } from '../core/errors.ts';
import { limits, lruCache } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { SessionKey } from '../core/place.ts';
import { maskSecrets } from '../core/secrets.ts';
import { clipAtWord, quoted, toSingleLine } from '../core/text.ts';
import type { MemoryLayer } from '../memory/layer.ts';
import { isHeard } from '../memory/log/records.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import { saveBestEffort, type Outbox } from './outbox.ts';

/** Voice messages whose words are in memory: those of the log are found there too. */
const keptWords = 500;
/** Answers that one deletion of many messages changes. */
const mostAmended = 20;
/** Of the line under the answer. */
const shownMaxChars = 300;

export interface HearingPorts {
  /** Absent where no server is configured: voice messages are only named. */
  readonly transcribe?: Transcribe | undefined;
  readonly readAttachment: ReadAttachment;
  readonly replies: Pick<ReplyPort, 'find' | 'amend'>;
  readonly outbox: Pick<Outbox, 'hide'>;
  readonly log: Pick<SessionLog, 'logged'>;
  readonly recent: Pick<RecentChanges, 'wasDeleted'>;
  readonly logger: Logger;
}

export interface HeardTurn {
  /** With the words that were heard. */
  readonly messages: readonly IncomingMessage[];
  /** What stands under the answer: what was heard, for its speaker to see, and what was not. */
  readonly lines: readonly string[];
  /** Instead of an answer, where nothing else was said. */
  readonly problem?: string;
}

export type Hearing = ReturnType<typeof createHearing>;

/** Gives voice messages their words [G7]: those to the bot when their turn comes, others as far as they were heard. */
export function createHearing(ports: HearingPorts) {
  const { transcribe, readAttachment, replies, outbox, log, recent, logger } = ports;
  /** By message; of pauses and channels without memory they are nowhere else. */
  const words = lruCache<string, { readonly session: SessionKey; readonly text: string }>(keptWords);

  /** Never rejects. */
  async function known({ id, channelId, author }: ChatMessage): Promise<string | undefined> {
    const logged = words.has(id)
      ? undefined
      : await log.logged({ channelId, userId: author.id }, id).catch((error: unknown) => {
          logger.warn('what was heard could not be read', { channelId, error });
          return undefined;
        });
    return logged !== undefined && isHeard(logged) ? logged.text : words.get(id)?.text;
  }

  async function withWords<Message extends ChatMessage>(message: Message): Promise<Message> {
    if (message.text !== '' || message.shown?.some(isVoice) !== true) return message;
    const text = await known(message);
    return text === undefined ? message : asHeard(message, text);
  }

  /** Resolves with the words, or with what the person is told; with nothing for what is not to be heard. */
  async function listen(
    message: IncomingMessage,
    secondsLeft: number,
    signal: AbortSignal,
  ): Promise<{ readonly text: string } | { readonly problem: string } | undefined> {
    const { voice, channelId, author } = message;
    if (transcribe === undefined || voice === undefined || author.kind !== 'human' || signal.aborted)
      return undefined;
    const before = await known(message);
    if (before !== undefined) return { text: before };
    if (voice.seconds > secondsLeft) return { problem: tooLong };
    // It takes seconds, and after a kill only the channels of outboxes and logs are looked through.
    await saveBestEffort(logger, 'that a channel is in use', () => outbox.hide(channelId, []));
    const bytes = await readAttachment(voice, author.id, limits.voice.bytes);
    if (typeof bytes === 'string') return { problem: unread[bytes] };
    try {
      const text = await transcribe({ bytes, seconds: voice.seconds }, author.id, signal);
      return text === '' ? { problem: silence } : { text };
    } catch (error) {
      if (signal.aborted) return undefined;
      logger.warn('a voice message was not heard', { userId: author.id, error });
      return { problem: (error instanceof ModelError && problemOf.get(error.failure)) || broken };
    }
  }

  /** The small lines under the answer that quote a message go with it, and so do their buttons [G5]. Best effort. */
  async function takeLines(
    { channelId, userId: personId }: SessionKey,
    id: string,
    text: string,
    answer?: string,
  ): Promise<void> {
    try {
      const lastId = answer ?? (await replies.find(channelId, id)).ids.at(-1);
      if (lastId !== undefined)
        await replies.amend(channelId, lastId, async (lines) => {
          const others = lines.filter((line) => !line.startsWith(heardSign) && !repeats(line, text));
          if (others.length === lines.length) return undefined;
          const isOver = !others.some((line) => line.includes('"'));
          return isOver ? { lines: others, buttons: { personId, buttons: [] } } : { lines: others };
        });
    } catch (error) {
      logger.warn('what was heard could not be taken from under an answer', { channelId, error });
    }
  }

  function evict(userId: string): void {
    for (const [id, { session }] of Array.from(words)) if (session.userId === userId) words.delete(id);
  }

  const layer: MemoryLayer = {
    name: 'heard',
    sections: () => Promise.resolve([]),
    async holdersOf(change) {
      const ids = change.kind === 'deleted' ? change.messageIds : [];
      return ids.flatMap((id) => words.get(id)?.session ?? []);
    },
    async delete(deletion) {
      if (deletion.kind === 'person' || deletion.kind === 'conversations') return evict(deletion.userId);
      if (deletion.kind !== 'messages' || deletion.cause.kind !== 'deleted') return;
      const messages = deletion.messages.map(({ before }) => before);
      const { messageIds } = deletion.cause;
      for (const id of messageIds.slice(-mostAmended)) {
        const message = messages.find((each) => each.id === id);
        const answer = messages.find((each) => each.role === 'assistant' && each.replyTo.includes(id));
        const answerId = answer?.role === 'assistant' ? answer.ids.at(-1) : undefined;
        const text = message?.text ?? words.get(id)?.text;
        const wasHeard = words.has(id) || (message !== undefined && isHeard(message));
        // Not awaited: Discord may be slow.
        if (text !== undefined && (wasHeard || answerId !== undefined))
          void takeLines(deletion.session, id, text, answerId);
      }
      for (const id of messageIds) words.delete(id);
    },
    // The log has it.
    async *export() {},
    evict,
  };

  return {
    layer,
    /** A turn's voice messages one after another; what is deleted meanwhile stays unheard. Never rejects. */
    async hear(messages: readonly IncomingMessage[], signal: AbortSignal): Promise<HeardTurn> {
      const transcribed: IncomingMessage[] = [];
      const heard: string[] = [];
      const problems = new Set<string>();
      let { seconds, characters }: { seconds: number; characters: number } = limits.voice;
      for (const message of messages) {
        const { id, channelId, author, voice } = message;
        const result = await listen(message, seconds, signal);
        if (result === undefined || 'problem' in result || recent.wasDeleted(id)) {
          if (result !== undefined && 'problem' in result) problems.add(result.problem);
          transcribed.push(message);
          continue;
        }
        const text = clipAtWord(result.text.toWellFormed(), characters);
        if (text.length < result.text.length) problems.add(onlyBeginning);
        seconds -= voice?.seconds ?? 0;
        characters -= text.length;
        words.set(id, { session: { channelId, userId: author.id }, text });
        heard.push(quoted(maskSecrets(text), Math.max(40, Math.floor(shownMaxChars / messages.length))));
        transcribed.push(asHeard(message, text));
      }
      if (problems.size > 0 && transcribed.every(isUnheard))
        return { messages: transcribed, lines: [], problem: [...problems].join('\n') };
      const quotes = heard.length === 0 ? [] : [heardSign + heard.join(' · ')];
      return { messages: transcribed, lines: [...quotes, ...problems] };
    },
    /** The same history with words that were heard in it. */
    history: (history: HistoryPort): HistoryPort => ({
      recent: async (...range) => Promise.all((await history.recent(...range)).map(withWords)),
    }),
    /** The same for a message that another one replies to. */
    replied:
      (read: ReadReplied): ReadReplied =>
      async (reference) => {
        const found = await read(reference);
        return typeof found === 'string' ? found : withWords(found);
      },
  };
}

function isVoice({ kind }: { readonly kind: string }): boolean {
  return kind === 'voice message';
}

function asHeard<Message extends ChatMessage>(message: Message, text: string): Message {
  const shown = message.shown?.map((each) => ({
    ...each,
    text: isVoice(each) ? `${each.text} · heard` : each.text,
  }));
  return { ...message, text, heard: true, shown };
}

/** Whether a message says nothing but what was not heard. */
function isUnheard({ text, files, forwards, shown = [] }: IncomingMessage): boolean {
  return text === '' && files === undefined && forwards === undefined && shown.every(isVoice);
}

const heardSign = '🎤 heard: ';

/** Whether a line holds in quotation marks what a text says. */
function repeats(line: string, text: string): boolean {
  const spoken = toSingleLine(maskSecrets(text));
  return Array.from(line.matchAll(/"([^"]+?)…?"/gu)).some(([, quote = '']) => spoken.includes(quote));
}
const not = '⚠️ I could not hear your voice message:';
const server = `${not} the server that listens for me`;
const tooLong = `${not} I listen to at most ${limits.voice.seconds / 60} minutes at a time. Say it in parts, or write it.`;
const silence = `${not} there were no words in it. Say it again closer to the microphone, or write it.`;
const onlyBeginning =
  '⚠️ I heard only the beginning of what you said: it was too long for one answer. Say the rest again, or write it.';
const unread = {
  'too-large': `${not} its file has more than ${limits.voice.bytes / 1024 / 1024} MB. Say it in parts, or write it.`,
  unavailable: `${not} I could not fetch its file from Discord. Send it again in a minute, or write it.`,
} as const;

const broken = `${server} gave no usable answer. Please write it instead; the person who runs me can find the reason in my log.`;
const passing = `${server} does not answer in time. Send it again in a minute, or write it.`;
/** What happened, and what the person can do. */
const problemOf: ReadonlyMap<ModelFailure, string> = new Map([
  ['too-large', `${server} takes no file of that size. Say it in parts, or write it.`],
  ['unavailable', passing],
  ['timeout', passing],
  ['rate-limited', passing],
  ['over-limit', `${not} it would cost more than is left for today. Write it, or send it again tomorrow.`],
]);
