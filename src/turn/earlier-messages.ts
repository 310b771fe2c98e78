import {
  hasEnclosures,
  isOthersText,
  writtenAt,
  type ChatMessage,
  type MessageReference,
} from '../core/message.ts';
import type { HistoryPort } from '../core/channels.ts';
import type { Logger } from '../core/logger.ts';
import { namesPeople } from '../core/own-words.ts';
import { maskSecrets, secretValues } from '../core/secrets.ts';
import { compareSnowflakes, snowflakeTime } from '../core/snowflake.ts';
import { markCounts, ownMark, sessionOf, type TurnContext } from '../core/turn-context.ts';
import { idsOf, type LoggedMessage } from '../memory/log/records.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { Consent, PersonSettingsStore } from '../memory/settings/person-settings.ts';
import { windowMessages } from '../prompt/history.ts';

/** A full window and what may lie between. */
const historyMessages = 2 * windowMessages;

export interface EarlierPorts {
  readonly history: HistoryPort;
  readonly log: Pick<SessionLog, 'marksOf' | 'asked'>;
  /** Who has had erased what they said [K11]. */
  readonly people: Pick<PersonSettingsStore, 'erasedBy'>;
  readonly logger: Logger;
}

/**
 * The channel without this turn's messages and what the speaker wrote after them, and the marks in it that
 * count. Never rejects.
 */
export async function earlierMessages(
  ports: EarlierPorts,
  context: TurnContext,
  wasPaused: Consent['wasPaused'],
) {
  const { messages, place, speaker } = context;
  const own = new Set(messages.map((message) => message.id));
  const newest = messages.at(-1)?.id ?? '';
  const most = historyMessages + own.size;
  const [seen, logged] = await Promise.all([
    ports.history.recent(place.channelId, most),
    askedMessages(ports, context, most),
  ]);
  const recent = withAsked(seen, logged);
  const looked = recent.filter(
    ({ id, author }) => !own.has(id) && !(author.id === speaker.id && compareSnowflakes(id, newest) > 0),
  );
  // Secrets are masked also where another message repeats them [K14].
  const texts = looked.flatMap(({ text, shown = [] }) => [text, ...shown.map((piece) => piece.text)]);
  const values = new Set(texts.flatMap(secretValues));
  const masked = looked.map((message) => withMasks(message));
  const before = values.size === 0 ? masked : masked.map((message) => withMasks(message, values));
  const kept = await withoutErased(before, ports.people);
  const earlier = wasPaused === undefined ? kept : withoutPauses(kept, context, wasPaused);
  const mayRepeat = unloggedAnswers(earlier, context);
  return { earlier, marks: await countingMarks(earlier, mayRepeat, context, ports) };
}

/** What the log has of `/ask`, which Discord does not have [EW2]. Never rejects. */
async function askedMessages(
  { log, logger }: EarlierPorts,
  context: TurnContext,
  most: number,
): Promise<readonly LoggedMessage[]> {
  if (context.place.audience !== 'dm') return [];
  return log.asked(sessionOf(context), most).catch((error: unknown) => {
    logger.warn('what was asked elsewhere could not be read', { ...sessionOf(context), error });
    return [];
  });
}

/** In the order of ids; an answer of which a part stands in the DM is there once. */
function withAsked(seen: readonly ChatMessage[], logged: readonly LoggedMessage[]): readonly ChatMessage[] {
  if (logged.length === 0) return seen;
  const ids = new Set(logged.flatMap(idsOf));
  const all = [...seen.filter(({ id }) => !ids.has(id)), ...logged.map(askedMessage)];
  return all.toSorted((a, b) => compareSnowflakes(a.id, b.id));
}

/** A file stood in no message either, so it is only named. */
function askedMessage(message: LoggedMessage): ChatMessage {
  const { id, at, author: name, text, attachments } = message;
  const common = { id, channelId: '', at, attachments: [] };
  if (message.role === 'assistant')
    return { ...common, author: { id: '', name, kind: 'self' }, text, answers: message.replyTo.at(-1) };
  const author = { id: message.authorId, name, kind: 'human' } as const;
  if (attachments.length === 0) return { ...common, author, text };
  const named = [text, `[attached: ${attachments.join(', ')}]`].join(' ').trim();
  return { ...common, author, text: named, hasThirdPartyText: true };
}

/**
 * The marks of these messages that count as others' words, by id [M5a]. An answer of which the log cannot tell has its own
 * id as mark, and so has an unlogged one that `mayRepeat` them. What the speaker said counts while in view if it is not
 * logged: what is made of it could not follow its deletion [G5]. Never rejects.
 */
export async function countingMarks(
  messages: readonly ChatMessage[],
  mayRepeat: (answer: ChatMessage) => boolean,
  context: TurnContext,
  { log, logger }: Pick<EarlierPorts, 'log' | 'logger'>,
): Promise<ReadonlyMap<string, string>> {
  const { speaker, place, now } = context;
  const answered = new Set(messages.map(({ answers }) => answers));
  const isToBot = ({ id, author }: ChatMessage): boolean =>
    author.id === speaker.id && (place.audience === 'dm' || answered.has(id));
  const looked = messages.filter((message) => message.author.kind === 'self' || isToBot(message));
  const ids = looked.map(({ id }) => id);
  const known = await log.marksOf(sessionOf(context), ids).catch((error: unknown) => {
    logger.warn('what answers were made of could not be read', { ...sessionOf(context), error });
    return undefined;
  });
  const counting = new Map<string, string>();
  for (const message of looked) {
    const { id, author } = message;
    const isUnknown = known?.has(id) !== true;
    if (author.kind !== 'self') {
      if (isUnknown) counting.set(id, ownMark);
      continue;
    }
    const mark = known === undefined || (isUnknown && mayRepeat(message)) ? id : known.get(id);
    if (mark !== undefined && markCounts(mark, now)) counting.set(id, mark);
  }
  return counting;
}

/**
 * Answers unknown to the speaker's log that may repeat others' words: all, where the speaker brought such
 * words; in a guild, those to anybody else or to a missing message. What follows an answer belongs to it.
 */
function unloggedAnswers(
  earlier: readonly ChatMessage[],
  { speaker, place, messages }: TurnContext,
): (answer: ChatMessage) => boolean {
  const own = earlier.filter(({ author }) => author.id === speaker.id);
  if (own.some(({ hasThirdPartyText }) => hasThirdPartyText === true)) return () => true;
  if (place.audience === 'dm') return () => false;
  const questionIds = new Set([...own, ...messages].map(({ id }) => id));
  const toOthers = new Set<string>();
  let isToSpeaker = false;
  for (const { id, author, answers } of earlier) {
    isToSpeaker = author.kind === 'self' && (answers === undefined ? isToSpeaker : questionIds.has(answers));
    if (!isToSpeaker) toOthers.add(id);
  }
  return ({ id }) => toOthers.has(id);
}

/** Somebody else's message, what was heard, a card, a name that can say anything, or what the bot was asked to send [M5a]. */
export function showsOthers(
  { author, text, shown = [], heard, hasThirdPartyText }: ChatMessage,
  { speaker }: TurnContext,
): boolean {
  if (author.kind === 'self') return hasThirdPartyText === true;
  return author.id !== speaker.id || heard === true || namesPeople(text) || shown.some(isOthersText);
}

/** The speaker's newest messages to look at, and their greatest age in milliseconds. */
const lookedAt = 3;
const enclosureMaxAgeMs = 10 * 60_000;

/**
 * Recent messages of the speaker whose files and forwards the turn may mean [G6]: at most three, ten minutes
 * old, and not answered before the last turn. And what the answered ones among them reply to.
 */
export function enclosedBefore(
  earlier: readonly ChatMessage[],
  { speaker, place, now }: TurnContext,
): readonly MessageReference[] {
  const answered = new Set(earlier.flatMap(({ answers }) => answers ?? []));
  const own = earlier.filter(({ author }) => author.id === speaker.id);
  const answeredAt = own.flatMap(({ id }, at) => (answered.has(id) ? at : []));
  // In a DM all that follows an answered message was for the bot, and one turn.
  const start = place.audience === 'dm' ? (answeredAt.at(-2) ?? -1) + 1 : (answeredAt.at(-1) ?? 0);
  const recent = own
    .slice(start)
    .slice(-lookedAt)
    .filter(({ at }) => now.getTime() - Date.parse(at) < enclosureMaxAgeMs);
  const replied = recent.flatMap(({ id, repliesTo }) => (answered.has(id) ? (repliesTo ?? []) : []));
  const enclosing = [...replied, ...recent.filter(hasEnclosures)];
  return [...new Map(enclosing.map((message) => [message.id, message])).values()];
}

/** Masks secrets [K14]; `values` wherever they stand. */
export function withMasks<Message extends Pick<ChatMessage, 'text' | 'shown'>>(
  message: Message,
  values?: ReadonlySet<string>,
): Message {
  const { text, shown } = message;
  const masked = shown?.map((piece) => ({ ...piece, text: maskSecrets(piece.text, values) }));
  return { ...message, text: maskSecrets(text, values), shown: masked };
}

/** Whose words it says; `undefined` for an answer, and for another bot. */
function personOf({ author, saidFor }: ChatMessage): string | undefined {
  return author.kind === 'human' ? author.id : saidFor;
}

/** History without what people had erased, and without the answers to it [K11]. */
async function withoutErased(
  messages: readonly ChatMessage[],
  { erasedBy }: Pick<PersonSettingsStore, 'erasedBy'>,
): Promise<readonly ChatMessage[]> {
  const people = new Set(messages.flatMap((message) => personOf(message) ?? []));
  const wasErased = new Map(
    await Promise.all([...people].map(async (userId) => [userId, await erasedBy(userId, true)] as const)),
  );
  return withoutAnswers(
    messages,
    (message) => wasErased.get(personOf(message) ?? '')?.(message.at) === true,
    () => false,
  );
}

/** History without what the speaker said in a past pause, and the answers to it [K9]. */
function withoutPauses(
  messages: readonly ChatMessage[],
  { speaker }: TurnContext,
  wasPaused: (at: string) => boolean,
): readonly ChatMessage[] {
  return withoutAnswers(
    messages,
    (message) => message.author.id === speaker.id && writtenAt(message).some(wasPaused),
    wasPaused,
  );
}

/**
 * Without messages and the answers to them. An answer's further messages follow its first; what cannot be told
 * apart goes by when it, or its unknown question, was sent.
 */
function withoutAnswers(
  messages: readonly ChatMessage[],
  isLeftOut: (message: ChatMessage) => boolean,
  isLeftOutThen: (at: string) => boolean,
): readonly ChatMessage[] {
  const known = new Set(messages.map(({ id }) => id));
  const leftOut = new Set(messages.filter(isLeftOut).map(({ id }) => id));
  let wasAnswer = false;
  for (const { id, author, at, answers } of messages) {
    if (author.kind !== 'self') continue;
    if (answers === undefined) wasAnswer ||= isLeftOutThen(at);
    else if (known.has(answers)) wasAnswer = leftOut.has(answers);
    else wasAnswer = isLeftOutThen(snowflakeTime(answers).toISOString());
    if (wasAnswer) leftOut.add(id);
  }
  return messages.filter(({ id }) => !leftOut.has(id));
}
