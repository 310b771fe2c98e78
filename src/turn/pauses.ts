import { writtenAt, type ChatMessage } from '../core/chat.ts';
import { lruCache } from '../core/limits.ts';
import { sessionName, type SessionKey } from '../core/place.ts';
import { snowflakeTime } from '../core/snowflake.ts';
import type { Clock } from '../core/time.ts';
import type { TurnContext } from '../core/turn-context.ts';
import type { Consent, Pause, PersonSettingsStore } from '../memory/settings/person-settings.ts';

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
  const told = lruCache<string, { readonly since: string; readonly at: number }>(keptSessions);
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
      const last = told.get(name);
      if (last?.since === pause.since && now - last.at < againAfterMs) return [];
      told.set(name, { since: pause.since, at: now });
      return [noteOf(pause)];
    },
  };
}

const cannotSave = "I can't save right now, so nothing of this is remembered";

function noteOf({ scope }: Pause): string {
  return scope === 'here'
    ? 'Paused: this conversation is off the record until `!memory resume` or 30 minutes of quiet'
    : 'Paused: nothing of this is stored until `!memory resume`';
}

/** History without what people had erased, and without the answers to it [K11]. */
export async function withoutErased(
  messages: readonly ChatMessage[],
  { erasedBy }: Pick<PersonSettingsStore, 'erasedBy'>,
): Promise<readonly ChatMessage[]> {
  const people = new Set(messages.flatMap(({ author }) => (author.kind === 'human' ? [author.id] : [])));
  const wasErased = new Map(
    await Promise.all([...people].map(async (userId) => [userId, await erasedBy(userId, true)] as const)),
  );
  const leftOut = new Set(
    messages.flatMap(({ id, author, at }) => (wasErased.get(author.id)?.(at) === true ? [id] : [])),
  );
  if (leftOut.size === 0) return messages;
  let wasAnswer = false;
  for (const { id, author, answers } of messages) {
    if (author.kind !== 'self') continue;
    wasAnswer = answers === undefined ? wasAnswer : leftOut.has(answers);
    if (wasAnswer) leftOut.add(id);
  }
  return messages.filter(({ id }) => !leftOut.has(id));
}

/**
 * A channel's messages that others may be told [B4]: without what people said who are in a pause, said in
 * one, or had erased; and without the bot's own, which may repeat it.
 */
export async function toldToOthers(
  channelId: string,
  messages: readonly ChatMessage[],
  { toldOf }: Pick<PersonSettingsStore, 'toldOf'>,
): Promise<readonly ChatMessage[]> {
  const said = messages.filter(({ author }) => author.kind === 'human');
  const leftOut = new Set<string>();
  for (const userId of new Set(said.map(({ author }) => author.id))) {
    const own = said.filter(({ author }) => author.id === userId);
    const times = own.map(({ at }) => at);
    const isTold = await toldOf({ userId, channelId }, times);
    for (const message of own) if (!writtenAt(message).every(isTold)) leftOut.add(message.id);
  }
  return messages.filter(({ id, author }) => author.kind !== 'self' && !leftOut.has(id));
}

/**
 * History without what the speaker said in a past pause, and the answers to it [K9]. An answer's further
 * messages follow its first; what cannot be told apart is left out if sent in the pause.
 */
export function withoutPauses(
  messages: readonly ChatMessage[],
  { speaker }: TurnContext,
  wasPaused: (at: string) => boolean,
): readonly ChatMessage[] {
  const leftOut = new Set<string>();
  const known = new Set(messages.map(({ id }) => id));
  let wasAnswer = false;
  for (const message of messages) {
    const { id, author, at, answers } = message;
    if (author.kind === 'self') {
      const asked = answers === undefined ? undefined : snowflakeTime(answers).toISOString();
      if (answers !== undefined && known.has(answers)) wasAnswer = leftOut.has(answers);
      else wasAnswer = wasPaused(asked ?? at) || (asked === undefined && wasAnswer);
      if (wasAnswer) leftOut.add(id);
    } else if (author.id === speaker.id && writtenAt(message).some(wasPaused)) leftOut.add(id);
  }
  return messages.filter(({ id }) => !leftOut.has(id));
}
