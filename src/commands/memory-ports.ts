import type { ChannelPort, DirectMessage, DirectMessagePort, ReadAttachment } from '../core/chat.ts';
import type { CommandContext } from '../core/commands.ts';
import type { Logger } from '../core/logger.ts';
import type { Place, SessionKey } from '../core/place.ts';
import { sessionWorkOf } from '../core/turn-context.ts';
import { localDate } from '../core/time.ts';
import type { SessionWork } from '../core/writes.ts';
import type { ChannelNotes } from '../memory/channel/channel-notes.ts';
import type { DurableMemory } from '../memory/durable/durable-memory.ts';
import type { Holdings, Saying } from '../memory/holdings.ts';
import type { MemoryLayer } from '../memory/layer.ts';
import type { SessionStates } from '../memory/log/session-state.ts';
import type { NotebookFiles } from '../memory/notebook/files.ts';
import type { Provenance, SizedAnswer } from '../memory/provenance.ts';
import type { Recall } from '../memory/recall/recall.ts';
import type { Proposals } from '../memory/durable/proposals.ts';
import type { MessagesByChannel } from '../memory/undo.ts';
import type { RollingSummary } from '../memory/rolling/rolling-summary.ts';
import type { PersonSettingsStore } from '../memory/settings/person-settings.ts';

/** A memory command as its handlers see it: who gives it where, and what it may reach. */
export interface MemoryCall extends CommandContext {
  readonly ports: MemoryCommandPorts;
  /** What it changes is part of this work in its conversation. */
  readonly work: SessionWork;
  /** Where only the asker reads, all of their memory may be shown, as in the DM [K3]. */
  readonly view: Place;
  /** In the asker's zone, `YYYY-MM-DD`. */
  readonly today: string;
}

export async function memoryCall<Context extends CommandContext>(
  context: Context,
  ports: MemoryCommandPorts,
): Promise<Context & MemoryCall> {
  return {
    ...context,
    ports,
    work: sessionWorkOf(context),
    view: readingPlace(context.place, context.ephemeral),
    today: localDate(new Date(context.at), await ports.people.timeZoneOf(context.speaker.id)),
  };
}

export function readingPlace(place: Place, isForAskerOnly: boolean): Place {
  return isForAskerOnly ? { ...place, audience: 'dm' } : place;
}

/** What the memory commands see and change. */
export interface MemoryCommandPorts {
  readonly durable: DurableMemory;
  /** What waits for its person's yes [K9]. */
  readonly proposals: Pick<Proposals, 'list' | 'accept' | 'decline'>;
  /** What was noted of people's talk in channels [B1]. */
  readonly channelNotes: Pick<ChannelNotes, 'since' | 'keep' | 'list' | 'ownNotes' | 'remove'>;
  readonly personMay: ChannelPort['personMay'];
  readonly rolling: Pick<RollingSummary, 'show' | 'reset' | 'madeAt'>;
  /** The notebook, and the notes on a conversation [N1][W1]. */
  readonly notebook: Pick<NotebookFiles, 'list' | 'open' | 'change'>;
  readonly states: Pick<SessionStates, 'read'>;
  /** A server's name by its id, which stays where the name is not known. */
  readonly titleOf: (guildId: string) => string;
  readonly provenance: Pick<Provenance, 'find'>;
  /** The newest answers to a person since the start, by any process; the newest first [Y2a]. Never rejects. */
  readonly answersTo: (userId: string) => Promise<readonly SizedAnswer[]>;
  readonly recall: Recall;
  readonly shortTerm: Pick<MemoryLayer, 'sections'>;
  /** All that hold something of a person. */
  readonly layers: readonly Pick<MemoryLayer, 'export'>[];
  /** As `DirectMessagePort` says; history does not have them. */
  readonly sendDirect: (
    userId: string,
    messages: readonly DirectMessage[],
    nonceBase: string,
  ) => Promise<'sent' | 'closed'>;
  readonly readAttachment: ReadAttachment;
  /** How much is held about a person. Rejects with `StoreError`. */
  readonly holdings: (userId: string) => Promise<Holdings>;
  /** `isDone: false` if the next start has to finish it [K11]. Rejects with `StoreError`. */
  readonly erase: (userId: string, at: string) => Promise<{ readonly isDone: boolean }>;
  /** How much of it says some words. Rejects with `StoreError`. */
  readonly saying: (userId: string, words: string) => Promise<Saying>;
  /** How many files of the notebook and of notes on conversations do. Rejects with `StoreError`. */
  readonly notesSaying: (userId: string, words: string) => Promise<number>;
  /** Erases what says some words [K11], by the command with this id. Rejects with `StoreError`. */
  readonly purge: (
    userId: string,
    words: string,
    commandId: string,
  ) => Promise<{ readonly messages: number; readonly isDone: boolean }>;
  readonly deleteOwnMessages: DirectMessagePort['deleteOwn'];
  /** What each person wants of their memory [K9]. */
  readonly people: Pick<
    PersonSettingsStore,
    'get' | 'set' | 'mode' | 'timeZoneOf' | 'pause' | 'resume' | 'pauseIn'
  >;
  /** Where a person signs in to their page, once [Y1]; `undefined` where there is none. Never rejects. */
  readonly pageLink: (person: CommandContext['speaker']) => Promise<string | undefined>;
  /** What the owner wrote about privacy; `undefined` where nothing. Rejects with `StoreError`. */
  readonly privacyText: () => Promise<string | undefined>;
  /** Never rejects. */
  readonly privacyFacts: () => Promise<PrivacyFacts>;
  readonly settings: {
    readonly durableEnabled: boolean;
    /** Characters of one durable item at most. */
    readonly itemMaxChars: number;
    readonly recallEnabled: boolean;
    readonly summaryEnabled: boolean;
    /** Characters of a summary in a prompt. */
    readonly summaryMaxChars: number;
    /** Switched off, nothing new is kept; what is still there from before can be forgotten all the same. */
    readonly shortTermEnabled: boolean;
    /** Characters of recent exchanges in a prompt. */
    readonly shortTermMaxChars: number;
  };
  /** Whether the bot's owner has switched memory off in a place. Must not reject. */
  readonly isMemoryOff: (place: Place) => Promise<boolean>;
  /** The person's conversations. Rejects with `StoreError`. */
  readonly sessionsOf: (userId: string) => Promise<readonly SessionKey[]>;
  /** Channels and threads that are deleted: nothing links there [K15]. Rejects with `StoreError`. */
  readonly goneChannels: () => Promise<ReadonlySet<string>>;
  /** What the session's log has of a message, whole; `undefined` where it is none of this session. */
  readonly logged: (session: SessionKey, messageId: string) => Promise<string | undefined>;
  /** Those that say some words and may be used in a place. Rejects with `StoreError`. */
  readonly mentions: (userId: string, words: string, place: Place) => Promise<MessagesByChannel>;
  /** Whether the message is a command, an answer to one, or an error line [F2]. */
  readonly isHidden: (channelId: string, messageId: string) => Promise<boolean>;
  readonly logger: Logger;
}

/** What the privacy text says of this very bot, from its configuration. */
export interface PrivacyFacts {
  /** Who sees what a prompt holds; absent where no language model is configured. */
  readonly provider: { readonly name: string; readonly models: readonly string[] } | undefined;
  /** The host that writes down voice messages; absent where none does. */
  readonly hearingHost?: string | undefined;
  /** The host that is asked whose message a proxy's copy is [G2a]; absent where none is. */
  readonly proxyHost?: string | undefined;
  /** Rather than in files. */
  readonly isInDatabase?: boolean;
  readonly layers: {
    readonly durable: boolean;
    readonly extraction: boolean;
    readonly summary: boolean;
    readonly reflection: boolean;
    /** Hours that recent exchanges are kept; absent where they are not. */
    readonly recentHours: number | undefined;
  };
  /** What one person's files take together at most. */
  readonly quotaMegabytes: number;
  /** Days after which messages are deleted by themselves [K15]; 0 where they are not. */
  readonly retentionDays: number;
}
