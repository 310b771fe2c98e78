import type { MemorySource } from '../../core/memory-source.ts';
import type { SessionKey } from '../../core/place.ts';
import { dataLine, fitLines, type Section } from '../../core/section.ts';
import type { Store } from '../../core/store.ts';
import { isSnowflake } from '../../core/snowflake.ts';
import { saysWords, searchForm } from '../../core/text.ts';
import { localDateTime, type Clock } from '../../core/time.ts';
import { type TurnContext, newestTime } from '../../core/turn-context.ts';
import { mayUse } from '../../core/visibility.ts';
import type { Forgotten, MemoryLayer, Restored } from '../layer.ts';
import { wholeTurns } from '../log/records.ts';
import type { SessionLog } from '../log/session-log.ts';
import { transactState, type SessionStates, type StateJob } from '../log/session-state.ts';
import {
  exchangesOf,
  isFresh,
  questionOf,
  shortTermFolder,
  shortTermKey,
  shortTermKind,
  withEntry,
  withoutEntries,
  type ShortTermEntry,
} from './exchanges.ts';

export interface ShortTermSettings {
  /** Off: nothing is read or recorded; changes still remove. */
  readonly enabled: boolean;
  readonly maxEntries: number;
  readonly maxAgeHours: number;
  /** Of the rendered section. */
  readonly injectMaxChars: number;
}

export interface ShortTermOptions {
  readonly settings: ShortTermSettings;
  readonly store: Store;
  readonly states: Pick<SessionStates, 'transact'>;
  readonly log: Pick<SessionLog, 'since' | 'placesOf' | 'lastSequence' | 'sessionsOfPerson'>;
  /** Deleted channels, of which nothing is used. */
  readonly goneChannels?: () => Promise<ReadonlySet<string>>;
  readonly clock: Clock;
  /** A person's zone, IANA [H3]. Must not reject. */
  readonly timeZoneOf: (userId: string) => Promise<string>;
}

type GuildEntry = ShortTermEntry & { readonly guildId: string };

/** Of a session without a cursor. */
const firstFoldLines = 40;

/** Recent exchanges in public channels, one line each, carried across the channels of a guild [T1][T2]. */
export function createShortTerm(options: ShortTermOptions): MemoryLayer {
  const { settings, store, states, log, clock, timeZoneOf } = options;

  /** Folds up to the newest whole turn; with `toEnd` past one without a reply, which is never recorded. */
  function folding(session: SessionKey, toEnd: boolean): StateJob {
    return async ({ shortTerm }) => {
      const cursor = shortTerm?.cursor ?? (await log.lastSequence(session)) - firstFoldLines;
      const { messages, last } = await log.since(session, Math.max(0, cursor));
      const whole = wholeTurns(messages).messages;
      for (const { guildId, entry } of exchangesOf(session.channelId, whole)) {
        await store.update(shortTermKey(session.userId, guildId), shortTermKind, (document) =>
          withEntry(document, entry, settings, clock()),
        );
      }
      const waiting = messages[whole.length];
      const next = toEnd || waiting === undefined ? last : waiting.sequence - 1;
      return (state) =>
        state.shortTerm?.cursor === next ? state : { ...state, shortTerm: { cursor: next } };
    };
  }

  /** Removes the user's lines that contain the words in any case; a turn that runs now leaves none [A4]. */
  async function forget({ userId, words }: Forgotten): Promise<void> {
    const wanted = searchForm(words);
    if (wanted === '') return;
    if (settings.enabled) {
      for (const session of await log.sessionsOfPerson(userId))
        await transactState(store, session, folding(session, true));
    }
    await removeEntries(userId, (entry) => searchForm(entry.text).includes(wanted));
  }

  /** The lines of the messages, if young enough. */
  async function bringBack({ session, messageIds }: Restored): Promise<void> {
    if (!settings.enabled) return;
    const [first = 1] = await log.placesOf(session, messageIds);
    const { messages } = await log.since(session, Math.max(0, first - 1 - firstFoldLines));
    const isMade = madeOf(messageIds);
    for (const { guildId, entry } of exchangesOf(session.channelId, wholeTurns(messages).messages))
      if (isMade(entry))
        await store.update(shortTermKey(session.userId, guildId), shortTermKind, (document) =>
          withEntry(document, entry, settings, clock()),
        );
  }

  /** A job of the user's queue calls this. */
  async function removeEntries(userId: string, isGone: (entry: ShortTermEntry) => boolean): Promise<void> {
    for (const guildId of await guildsOf(userId)) {
      await store.update(
        shortTermKey(userId, guildId),
        shortTermKind,
        (document) => document && withoutEntries(document, isGone),
        { erase: true },
      );
    }
  }

  /** The guilds of which something is kept. */
  async function guildsOf(userId: string): Promise<readonly string[]> {
    const files = await store.list(shortTermFolder(userId));
    return files.map(({ path }) => path.replace(/\.json$/u, '')).filter(isSnowflake);
  }

  /** In a guild its own exchanges, in the speaker's DM those of all guilds. */
  async function entriesFor({ speaker, place }: TurnContext): Promise<readonly GuildEntry[]> {
    const guilds = place.guildId === undefined ? await guildsOf(speaker.id) : [place.guildId];
    const entries = await Promise.all(
      guilds.map(async (guildId) => {
        const document = await store.read(shortTermKey(speaker.id, guildId), shortTermKind);
        return (document?.entries ?? []).map((entry): GuildEntry => ({ ...entry, guildId }));
      }),
    );
    const gone = await options.goneChannels?.();
    return entries.flat().filter(({ channelId }) => gone?.has(channelId) !== true);
  }

  return {
    name: 'short-term',
    async sections(context) {
      if (!settings.enabled) return [];
      const [entries, timeZone] = await Promise.all([entriesFor(context), timeZoneOf(context.speaker.id)]);
      return [shortTermSection(entries, context, settings, timeZone)];
    },
    /** The exchanges that the sessions' logs have after the layer's cursor. */
    async fold(_userId, sessions) {
      if (!settings.enabled) return;
      for (const session of sessions) await states.transact(session, folding(session, false));
    },
    async follow(change, stage) {
      if (stage === 'delete') return;
      if (change.kind === 'forgotten') return forget(change);
      if (change.kind === 'purged')
        return removeEntries(change.userId, ({ text }) => saysWords(text, change.words));
      if (change.kind === 'restored') return bringBack(change);
      const ids = change.messages.flatMap(({ before }) =>
        before.role === 'user' ? [before.id] : before.replyTo,
      );
      await removeEntries(change.session.userId, madeOf(ids));
    },
    async *export(userId) {
      for (const guildId of await guildsOf(userId)) {
        const document = await store.read(shortTermKey(userId, guildId), shortTermKind);
        if (document === undefined) continue;
        yield { path: `short-term/${guildId}.json`, text: JSON.stringify(document.entries, undefined, 2) };
      }
    },
    async erase({ userId, sessions, isWhole }) {
      const channels = new Set(sessions.map(({ channelId }) => channelId));
      if (isWhole) await store.removeAll(shortTermFolder(userId));
      else await removeEntries(userId, ({ channelId }) => channels.has(channelId));
    },
  };
}

function madeOf(messageIds: readonly string[]): (entry: ShortTermEntry) => boolean {
  const ids = new Set(messageIds);
  return (entry) => entry.messageIds.some((id) => ids.has(id));
}

/** In other channels, newest first [T2]. In a DM, beside the notebook, without others' words [M5a]. */
export function shortTermSection(
  entries: readonly GuildEntry[],
  { speaker, place, now }: Pick<TurnContext, 'speaker' | 'place' | 'now'>,
  settings: Pick<ShortTermSettings, 'maxAgeHours' | 'injectMaxChars'>,
  timeZone: string,
): Section {
  const shown = entries
    .filter((entry) => entry.channelId !== place.channelId && isFresh(entry, settings.maxAgeHours, now))
    .filter(({ channelId, guildId }) =>
      mayUse({ ownerId: speaker.id, visibility: 'server', homeId: channelId, guildId }, place, speaker.id),
    )
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  const isDm = place.audience === 'dm';
  const sources = new Map<string, MemorySource>();
  const lines = shown.map((entry) => {
    const text =
      isDm && entry.thirdPartyTextAt !== undefined ? `${questionOf(entry)} (answered there)` : entry.text;
    const line = dataLine(`- #${entry.channelName}, ${localDateTime(new Date(entry.at), timeZone)}: ${text}`);
    const { channelId, messageIds, at } = entry;
    sources.set(line, { kind: 'exchange', channelId, messageId: messageIds[0] ?? '', at });
    return line;
  });
  const section = {
    name: 'recent_elsewhere',
    slot: 'fast',
    title: 'What this person asked you in other channels lately and what you answered, newest first:',
    budget: settings.injectMaxChars,
  } as const;
  const times = isDm ? [] : shown.map((entry) => entry.thirdPartyTextAt);
  return {
    ...section,
    lines: fitLines(section, lines),
    standing: new Set(lines),
    thirdPartyTextAt: newestTime(times),
    sources,
  };
}
