import { z } from 'zod';

import type { MemorySource } from '../../core/memory-source.ts';
import { withoutMarkedNames } from '../../core/own-words.ts';
import type { SessionKey } from '../../core/place.ts';
import { maskSecrets } from '../../core/secrets.ts';
import { dataLine, fitLines, type Section } from '../../core/section.ts';
import { assertSnowflake, isSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind, Store } from '../../core/store.ts';
import { clipAtWord, saysWords, toSingleLine } from '../../core/text.ts';
import { type Clock, localDateTime } from '../../core/time.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { mayUse } from '../../core/visibility.ts';
import { personOf, type MemoryLayer } from '../layer.ts';
import {
  isHeard,
  type LoggedMessage,
  type SequencedMessage,
  unaskedMessages,
  type UserMessage,
  wholeTurns,
} from '../log/records.ts';
import type { SessionLog } from '../log/session-log.ts';
import type { SessionStates, StateJob } from '../log/session-state.ts';
import { readWithheld } from '../withheld.ts';

export interface ShortTermSettings {
  /** Off: nothing is read or recorded; changes still remove. */
  readonly enabled: boolean;
  readonly maxEntries: number;
  readonly maxAgeHours: number;
  /** Of the rendered section. */
  readonly injectMaxChars: number;
}

type GuildEntry = ShortTermEntry & { readonly guildId: string };

/** Recent exchanges in public channels, one line each, carried across the channels of a guild [T1][T2]. */
export function createShortTerm(options: {
  readonly settings: ShortTermSettings;
  readonly store: Store;
  readonly states: Pick<SessionStates, 'transact'>;
  readonly log: Pick<SessionLog, 'since'>;
  /** Deleted channels, of which nothing is used. */
  readonly goneChannels?: () => Promise<ReadonlySet<string>>;
  readonly clock: Clock;
  /** A person's zone, IANA [H3]. Must not reject. */
  readonly timeZoneOf: (userId: string) => Promise<string>;
}): MemoryLayer {
  const { settings, store, states, log, clock, timeZoneOf } = options;

  async function note(
    { channelId, userId }: SessionKey,
    messages: readonly SequencedMessage[],
  ): Promise<void> {
    for (const { guildId, entry } of exchangesOf(channelId, messages))
      await store.update(shortTermKey(userId, guildId), shortTermKind, (document) =>
        withEntry(document, entry, settings, clock()),
      );
  }

  /** Folds up to the newest whole turn. */
  function folding(session: SessionKey): StateJob {
    return async ({ shortTerm }) => {
      // Without a cursor it was off when anything was said last.
      if (shortTerm === undefined) return undefined;
      const { messages, last } = await log.since(session, shortTerm.cursor);
      const whole = wholeTurns(messages).messages;
      await note(session, whole);
      const waiting = messages[whole.length];
      const next = waiting === undefined ? last : waiting.sequence - 1;
      return (state) =>
        state.shortTerm?.cursor === next ? state : { ...state, shortTerm: { cursor: next } };
    };
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
    const visible = await toldOf(speaker.id, entries.flat());
    return visible.filter(({ channelId }) => gone?.has(channelId) !== true);
  }

  /** Without exchanges of which anything is withheld. */
  async function toldOf<Entry extends ShortTermEntry>(
    userId: string,
    entries: readonly Entry[],
  ): Promise<readonly Entry[]> {
    const { touches } = await readWithheld(store, userId);
    return entries.filter(({ messageIds }) => !messageIds.some(touches));
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
      for (const session of sessions) await states.transact(session, folding(session));
    },
    async delete(deletion) {
      const userId = personOf(deletion);
      switch (deletion.kind) {
        case 'messages': {
          const ids = new Set(
            deletion.messages.flatMap(({ before }) =>
              before.role === 'user' ? [before.id] : before.replyTo,
            ),
          );
          return removeEntries(userId, ({ messageIds }) => messageIds.some((id) => ids.has(id)));
        }
        case 'words':
          return removeEntries(userId, ({ text }) => saysWords(text, deletion.words));
        case 'record':
          return;
        case 'conversations': {
          const channels = new Set(deletion.sessions.map(({ channelId }) => channelId));
          return removeEntries(userId, ({ channelId }) => channels.has(channelId));
        }
        case 'person':
          return store.removeAll(shortTermFolder(userId));
      }
    },
    async *export(userId) {
      for (const guildId of await guildsOf(userId)) {
        const document = await store.read(shortTermKey(userId, guildId), shortTermKind);
        if (document === undefined) continue;
        const visible = await toldOf(userId, document.entries);
        yield { path: `short-term/${guildId}.json`, text: JSON.stringify(visible, undefined, 2) };
      }
    },
  };
}

/** In other channels, newest first [T2]. */
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
  const sources = new Map<string, MemorySource>();
  const lines = shown.map((entry) => {
    const { channelId, channelName, messageIds, at, text } = entry;
    const line = dataLine(`- #${channelName}, ${localDateTime(new Date(at), timeZone)}: ${text}`);
    sources.set(line, { kind: 'exchange', channelId, messageId: messageIds[0] ?? '', at });
    return line;
  });
  const section = {
    name: 'recent_elsewhere',
    slot: 'fast',
    title: 'What this person asked you in other channels lately and what you answered, newest first:',
    budget: settings.injectMaxChars,
  } as const;
  return { ...section, lines: fitLines(section, lines), sources };
}

const entrySchema = z.object({
  channelId: z.string(),
  /** The channel's or thread's own name, as it was. */
  channelName: z.string(),
  /** When it was answered; ISO 8601, UTC. */
  at: z.string(),
  /** What was asked and what was answered, on one line; of an answer that may repeat others' words only that it was given [M5a]. */
  text: z.string(),
  /** The messages of the exchange: the question's and the answer's. */
  messageIds: z.array(z.string()),
});

const documentSchema = z.object({ version: z.literal(1), entries: z.array(entrySchema) });

/** One exchange in a public channel [T1]. */
export type ShortTermEntry = z.infer<typeof entrySchema>;
/** A user's recent exchanges in the public channels of one guild, oldest first. */
type ShortTermDocument = z.infer<typeof documentSchema>;

export const shortTermKind: DocumentKind<ShortTermDocument> = { version: 1, schema: documentSchema };

/** One document a guild. @throws {RangeError} when the id is not a Discord id [S6]. */
export function shortTermFolder(userId: string): string {
  return `users/${assertSnowflake(userId)}/short-term`;
}

/** @throws {RangeError} when an id is not a Discord id [S6]. */
function shortTermKey(userId: string, guildId: string): string {
  return `${shortTermFolder(userId)}/${assertSnowflake(guildId)}.json`;
}

function isFresh({ at }: Pick<ShortTermEntry, 'at'>, maxAgeHours: number, now: Date): boolean {
  return now.getTime() - Date.parse(at) <= maxAgeHours * 3_600_000;
}

/** Unless it is known; bounded by number and age, the oldest go. */
function withEntry(
  document: ShortTermDocument | undefined,
  added: ShortTermEntry,
  { maxEntries, maxAgeHours }: ShortTermSettings,
  now: Date,
): ShortTermDocument {
  const known = document?.entries ?? [];
  const isKnown = known.some(({ messageIds }) => messageIds.some((id) => added.messageIds.includes(id)));
  const entries = (isKnown ? known : [...known, added])
    .filter((entry) => isFresh(entry, maxAgeHours, now))
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .slice(-maxEntries);
  return { version: 1, entries };
}

/** The same document when `isGone` picks none. */
function withoutEntries(
  document: ShortTermDocument,
  isGone: (entry: ShortTermEntry) => boolean,
): ShortTermDocument {
  const entries = document.entries.filter((entry) => !isGone(entry));
  return entries.length === document.entries.length ? document : { ...document, entries };
}

/** One line for each reply with what it answers, if all was public [T1] and typed [G7]; nothing for mode `ask` [K9]. */
function exchangesOf(channelId: string, messages: readonly SequencedMessage[]) {
  const questionById = new Map<string, UserMessage>();
  const exchanges: { readonly guildId: string; readonly entry: ShortTermEntry }[] = [];
  for (const { message } of unaskedMessages(messages)) {
    if (message.role === 'user') {
      questionById.set(message.id, message);
      continue;
    }
    const questions = message.replyTo.flatMap((id) => questionById.get(id) ?? []);
    const { guildId, channelName = 'channel', at, ids, replyTo } = message;
    const isWhole = questions.length > 0 && questions.length === replyTo.length;
    const arePublic = [...questions, message].every(({ visibility }) => visibility === 'server');
    if (!isWhole || guildId === undefined || !arePublic || questions.some(isHeard)) continue;
    const answer = message.thirdPartyMark === undefined ? ` → ${quoted([message])}` : ' (answered there)';
    const text = quoted(questions) + answer;
    const messageIds = [...replyTo, ...ids];
    exchanges.push({ guildId, entry: { channelId, channelName, at, text, messageIds } });
  }
  return exchanges;
}

const quoteMaxChars = 140;

/** Without secrets [K14], in quotes on one line; a message without words stands by the names of its files. */
function quoted(messages: readonly LoggedMessage[]): string {
  const words = messages.map(
    ({ text, attachments }) => maskSecrets(withoutMarkedNames(text)).trim() || attachments.join(', '),
  );
  return `"${clipAtWord(toSingleLine(words.join(' ')), quoteMaxChars)}"`;
}
