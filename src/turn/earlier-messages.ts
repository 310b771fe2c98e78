import type { ChatMessage, HistoryPort } from '../core/chat.ts';
import { oncePer } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { namesPeople } from '../core/own-words.ts';
import { maskSecrets, secretValues } from '../core/secrets.ts';
import { compareSnowflakes } from '../core/snowflake.ts';
import { sessionOf, type TurnContext } from '../core/turn-context.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { Consent, PersonSettingsStore } from '../memory/settings/person-settings.ts';
import { windowMessages } from '../prompt/history.ts';
import { withoutErased, withoutPauses } from './pauses.ts';

/** Messages asked of history: a full window and what may lie between. */
const askedMessages = 2 * windowMessages;

/** Where earlier messages come from, and what is known of them. */
export interface EarlierPorts {
  readonly history: HistoryPort;
  readonly log: Pick<SessionLog, 'answersWithOthersWords'>;
  /** Who has had erased what they said [K11]. */
  readonly people: Pick<PersonSettingsStore, 'erasedBy'>;
  readonly logger: Logger;
}

/**
 * What stands in the channel besides this turn's messages and what the speaker wrote after them, which is the next turn's; and whether any answer that
 * may be shown of it may repeat others' words.
 */
export async function earlierMessages(
  ports: EarlierPorts,
  context: TurnContext,
  wasPaused: Consent['wasPaused'],
): Promise<{ readonly earlier: readonly ChatMessage[]; readonly repeatsOthers: boolean }> {
  const { history, logger } = ports;
  const { messages, place, speaker } = context;
  const own = new Set(messages.map((message) => message.id));
  const newest = messages.at(-1)?.id ?? '';
  try {
    const recent = await history.recent(place.channelId, askedMessages + own.size);
    const before = withoutSecrets(
      recent.filter(
        ({ id, author }) => !own.has(id) && !(author.id === speaker.id && compareSnowflakes(id, newest) > 0),
      ),
    );
    const kept = await withoutErased(before, ports.people);
    const earlier = wasPaused === undefined ? kept : withoutPauses(kept, context, wasPaused);
    const marked = await answersWithOthersWords(earlier.slice(-windowMessages), context, ports);
    return withoutOldAnswers(earlier, marked, context);
  } catch (error) {
    logger.warn('history could not be read', { channelId: place.channelId, error });
    return { earlier: [], repeatsOthers: false };
  }
}

/** Those of this bot's answers that may repeat others' words, by id; all of them where the log cannot tell. Never rejects. */
export async function answersWithOthersWords(
  messages: readonly ChatMessage[],
  context: TurnContext,
  { log, logger }: Pick<EarlierPorts, 'log' | 'logger'>,
): Promise<ReadonlySet<string>> {
  const ids = messages.flatMap(({ id, author }) => (author.kind === 'self' ? [id] : []));
  try {
    return await log.answersWithOthersWords(sessionOf(context), ids);
  } catch (error) {
    logger.warn('what answers were made of could not be read', { ...sessionOf(context), error });
    return new Set(ids);
  }
}

/** Milliseconds of quiet that end a sitting. */
const pauseMs = 30 * 60_000;
const leftOutText = '(An earlier answer, left out here.)';

/**
 * Answers that may repeat others' words make the next answers such as well. In a DM, where the notebook is written, a pause ends that: of those from before
 * it the words are left out, so that a file that was sent once closes the notebook for that sitting and no longer. Elsewhere others speak all the time.
 */
function withoutOldAnswers(
  earlier: readonly ChatMessage[],
  marked: ReadonlySet<string>,
  { place, messages }: TurnContext,
): { readonly earlier: readonly ChatMessage[]; readonly repeatsOthers: boolean } {
  if (place.audience !== 'dm' || marked.size === 0) return { earlier, repeatsOthers: marked.size > 0 };
  const times = [...earlier, ...messages.slice(0, 1)].map(({ at }) => Date.parse(at));
  const begin = times.findLastIndex((time, index) => time - (times[index - 1] ?? time) >= pauseMs);
  const isOld = (index: number): boolean => index < begin;
  return {
    earlier: earlier.map((message, index) =>
      marked.has(message.id) && isOld(index) ? { ...message, text: leftOutText } : message,
    ),
    repeatsOthers: earlier.some(({ id }, index) => marked.has(id) && !isOld(index)),
  };
}

export function isOfOthers(
  { author, text, hasThirdPartyText }: ChatMessage,
  { speaker }: TurnContext,
): boolean {
  if (hasThirdPartyText === true) return true;
  return author.kind !== 'self' && (author.id !== speaker.id || namesPeople(text));
}

/** Whether an answer that may be shown answers what is not there any more: whose words it repeats, nobody can tell. In a DM they are the speaker's. */
export function answersUnknown(earlier: readonly ChatMessage[], { place, messages }: TurnContext): boolean {
  if (place.audience === 'dm') return false;
  const known = new Set([...earlier, ...messages].map(({ id }) => id));
  return earlier.slice(-windowMessages).some(({ answers }) => answers !== undefined && !known.has(answers));
}

/** Earlier messages with secrets masked [K14], also where another one of them repeats these. */
function withoutSecrets(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const looked = messages.map(withoutOwnSecrets);
  const values = new Set(looked.flatMap(({ found }) => found));
  if (values.size === 0) return looked.map(({ masked }) => masked);
  return looked.map(({ masked }) => ({ ...masked, text: maskSecrets(masked.text, values) }));
}

const withoutOwnSecrets = oncePer((message: ChatMessage) => {
  const found = secretValues(message.text);
  const text = maskSecrets(message.text);
  return { found, masked: text === message.text ? message : { ...message, text } };
});
