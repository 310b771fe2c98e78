import type { ChatMessage, HistoryPort } from '../core/chat.ts';
import { lruCache } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { sessionName, type SessionKey } from '../core/place.ts';
import { snowflakeTime } from '../core/snowflake.ts';
import type { Clock } from '../core/time.ts';
import type { Tool } from '../core/tool.ts';
import { sessionOf, type TurnContext } from '../core/turn-context.ts';
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

export const everything: Consent = { isStored: true, mode: 'auto' };

/** Why a tool stores nothing, by the person's present wish; `undefined` where it may. Never rejects. */
export async function storingRefusal(
  tool: Tool,
  context: TurnContext,
  consent: Consent,
  people: Pick<PersonSettingsStore, 'mayStore' | 'mode'>,
): Promise<string | undefined> {
  // Another bot has no settings, and each tool knows what it may not do for it.
  if (tool.stores === undefined || context.speaker.isBot !== undefined) return undefined;
  if (consent.isUnreadable === true) return unreadableRefusal;
  if (!consent.isStored || !(await people.mayStore(sessionOf(context)))) return pausedRefusal;
  const mode = await people.mode(context.speaker.id);
  if (mode === 'ask' && tool.stores === 'notes') return unaskedRefusal;
  return mode === 'off' ? unnoticedRefusal : undefined;
}

const unreadableRefusal =
  'Not stored: memory cannot be read or written right now. Say that you cannot save anything at the moment.';
const pausedRefusal =
  'Not stored: the person has paused their memory. Only they can end that, with `!memory resume`.';
const unaskedRefusal =
  'Not stored: the person wants to be asked first, and notes cannot be asked about. What they say of themselves can be proposed with `remember_item`.';
const unnoticedRefusal =
  'Not stored: the person wants nothing to be noticed. Only they can have something stored, with `!memory remember`.';

/** All that history keeps. */
const earlierMessages = 100;

/** When the speaker wrote here before, as far as history tells. Never rejects. */
export async function earlierTimes(
  { place: { channelId }, speaker }: TurnContext,
  { history, logger }: { readonly history: HistoryPort; readonly logger: Logger },
): Promise<readonly string[]> {
  try {
    const earlier = await history.recent(channelId, earlierMessages);
    return earlier.flatMap(({ author, at }) => (author.id === speaker.id ? [at] : []));
  } catch (error) {
    logger.warn('history could not be read', { channelId, error });
    return [];
  }
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
    for (const { id, at } of own) if (!isTold(at)) leftOut.add(id);
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
  for (const { id, author, at, answers } of messages) {
    if (author.kind === 'self') {
      const asked = answers === undefined ? undefined : snowflakeTime(answers).toISOString();
      if (answers !== undefined && known.has(answers)) wasAnswer = leftOut.has(answers);
      else wasAnswer = wasPaused(asked ?? at) || (asked === undefined && wasAnswer);
      if (wasAnswer) leftOut.add(id);
    } else if (author.id === speaker.id && wasPaused(at)) leftOut.add(id);
  }
  return messages.filter(({ id }) => !leftOut.has(id));
}
