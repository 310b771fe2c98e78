import { writtenAt, type ChatMessage } from '../core/message.ts';
import { lruCache } from '../core/limits.ts';
import { sessionName, type SessionKey } from '../core/place.ts';
import { snowflakeTime } from '../core/snowflake.ts';
import type { Clock } from '../core/time.ts';
import type { TurnContext } from '../core/turn-context.ts';
import type { Consent, PersonSettingsStore } from '../memory/settings/person-settings.ts';

/** Between two lines about the same pause in a conversation. */
const againAfterMs = 30 * 60_000;
/** A conversation that falls out is told once more. */
const keptSessions = 1000;

export type PauseNotes = ReturnType<typeof createPauseNotes>;

/**
 * The small line about a pause [K9] or unreadable settings: under a conversation's first answer, then now and
 * again.
 */
export function createPauseNotes(clock: Clock) {
  const lastNotices = lruCache<string, { readonly since: string; readonly at: number }>(keptSessions);
  return {
    take(
      session: SessionKey,
      { pause, isUnreadable }: Pick<Consent, 'pause' | 'isUnreadable'>,
    ): readonly string[] {
      // Told each time, as nobody knows when it ends.
      if (isUnreadable === true) return [cannotSave];
      if (pause === undefined) return [];
      const name = sessionName(session);
      const now = clock().getTime();
      const last = lastNotices.get(name);
      if (last?.since === pause.since && now - last.at < againAfterMs) return [];
      lastNotices.set(name, { since: pause.since, at: now });
      return [
        pause.scope === 'here'
          ? 'Paused: this conversation is off the record until `!memory resume` or 30 minutes of quiet'
          : 'Paused: nothing of this is stored until `!memory resume`',
      ];
    },
  };
}

const cannotSave = "I can't save right now, so nothing of this is remembered";

/** History without what people had erased, and without the answers to it [K11]. */
export async function withoutErased(
  messages: readonly ChatMessage[],
  { erasedBy }: Pick<PersonSettingsStore, 'erasedBy'>,
): Promise<readonly ChatMessage[]> {
  const people = new Set(messages.flatMap(({ author }) => (author.kind === 'human' ? [author.id] : [])));
  const wasErased = new Map(
    await Promise.all([...people].map(async (userId) => [userId, await erasedBy(userId, true)] as const)),
  );
  return withoutAnswers(
    messages,
    ({ author, at }) => wasErased.get(author.id)?.(at) === true,
    () => false,
  );
}

/**
 * A channel's messages that others may be told [B4]: without what people said who are in a pause, said in
 * one, or had erased; and without the bot's own, which may repeat it.
 */
export async function tellableToOthers(
  channelId: string,
  messages: readonly ChatMessage[],
  { mayRetell }: Pick<PersonSettingsStore, 'mayRetell'>,
): Promise<readonly ChatMessage[]> {
  const fromPeople = messages.filter(({ author }) => author.kind === 'human');
  const leftOut = new Set<string>();
  for (const userId of new Set(fromPeople.map(({ author }) => author.id))) {
    const own = fromPeople.filter(({ author }) => author.id === userId);
    const times = own.map(({ at }) => at);
    const isTellable = await mayRetell({ userId, channelId }, times);
    for (const message of own) if (!writtenAt(message).every(isTellable)) leftOut.add(message.id);
  }
  return messages.filter(({ id, author }) => author.kind !== 'self' && !leftOut.has(id));
}

/** History without what the speaker said in a past pause, and the answers to it [K9]. */
export function withoutPauses(
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
