import type { CommandContext } from '../core/commands.ts';
import type { Logger } from '../core/logger.ts';
import type { ReadAttachment, ReadReplied } from '../core/message.ts';
import type { Place } from '../core/place.ts';
import type { DirectMessage, DirectMessagePort } from '../core/reply.ts';
import { localDate } from '../core/time.ts';
import { sessionWorkOf } from '../core/turn-context.ts';
import type { SessionWork } from '../core/writes.ts';
import type { ChangeLedger } from '../memory/changes.ts';
import type { DurableMemory } from '../memory/durable/durable-memory.ts';
import type { Proposals } from '../memory/durable/proposals.ts';
import type { NoteHolder } from '../memory/holdings.ts';
import type { MemoryLayer } from '../memory/layer.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { SessionStates } from '../memory/log/session-state.ts';
import type { NotebookFiles } from '../memory/notebook/files.ts';
import type { Provenance } from '../memory/provenance.ts';
import type { Recall } from '../memory/recall/recall.ts';
import type { Reminders } from '../memory/reminders/reminders.ts';
import type { RollingSummary } from '../memory/rolling/rolling-summary.ts';
import type { PersonSettingsStore } from '../memory/settings/person-settings.ts';
import type { PlaceSettings } from '../memory/settings/place-settings.ts';

/** What the memory commands see and change. */
export interface MemoryCommandPorts {
  readonly memory: CommandMemory;
  readonly discord: CommandDiscord;
  readonly config: CommandConfig;
  /** Never rejects. */
  readonly privacyFacts: () => Promise<PrivacyFacts>;
  readonly logger: Logger;
}

/** What is remembered; all of it rejects with `StoreError` where the store does. */
export interface CommandMemory {
  readonly durable: DurableMemory;
  /** What waits for its person's yes [K9]. */
  readonly proposals: Pick<Proposals, 'list' | 'accept' | 'decline'>;
  readonly rolling: Pick<RollingSummary, 'show' | 'reset' | 'madeAt' | 'export'>;
  /** The notebook, and the notes on a conversation [N1][W1]. */
  readonly notebook: Pick<NotebookFiles, 'list' | 'open' | 'change'>;
  /** The files of both that `purge` can take. */
  readonly notes: NoteHolder;
  readonly states: Pick<SessionStates, 'read'>;
  readonly sessionLog: Pick<SessionLog, 'message' | 'mentions' | 'sessionsOfPerson' | 'since'>;
  readonly provenance: Pick<Provenance, 'find' | 'sizesOf'>;
  readonly recall: Pick<Recall, 'search'>;
  readonly reminders: Pick<Reminders, 'layer' | 'list' | 'set' | 'stillToCome' | 'refresh'>;
  readonly shortTerm: Pick<MemoryLayer, 'sections'>;
  /** All that hold something of a person, and those that keep notes. */
  readonly layers: readonly Pick<MemoryLayer, 'export'>[];
  readonly noted: readonly NoteHolder[];
  readonly changes: Pick<ChangeLedger, 'erase' | 'purge'>;
  /** What each person wants of their memory [K9]. */
  readonly people: PersonSettingsStore;
  readonly placeSettings: Pick<PlaceSettings, 'isMemoryOff'>;
  /** What the owner wrote about privacy; `undefined` where nothing. */
  readonly workspace: { readonly privacyText: () => Promise<string | undefined> };
  /** Channels and threads that are deleted: nothing links there [K15]. */
  readonly goneChannels: () => Promise<ReadonlySet<string>>;
}

/** What is asked of Discord, and of the page beside it. */
export interface CommandDiscord {
  /** As `DirectMessagePort` says; history does not have them. */
  readonly sendDirect: (
    userId: string,
    messages: readonly DirectMessage[],
    nonceBase: string,
  ) => Promise<'sent' | 'closed'>;
  readonly deleteOwn: DirectMessagePort['deleteOwn'];
  readonly readAttachment: ReadAttachment;
  readonly readReplied: ReadReplied;
  /** Whether the message is a command, an answer to one, or an error line [F2]. */
  readonly isHidden: (channelId: string, messageId: string) => Promise<boolean>;
  /** A server's name by its id, which stays where the name is not known. */
  readonly titleOf: (guildId: string) => string;
  /** Where a person signs in to their page, once [Y1]; `undefined` where there is none. Never rejects. */
  readonly pageLink: (person: CommandContext['speaker']) => Promise<string | undefined>;
}

/** What is switched on, and the characters that a prompt has for it. */
export interface CommandConfig {
  readonly durable: { readonly enabled: boolean };
  readonly recall: { readonly enabled: boolean };
  readonly summary: { readonly enabled: boolean; readonly maxChars: number };
  readonly shortTerm: { readonly enabled: boolean; readonly injectMaxChars: number };
}

/** A memory command as its handlers see it: who gives it where, and what it may reach. */
export interface MemoryCall extends CommandContext, MemoryCommandPorts {
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
    ...ports,
    ...context,
    work: sessionWorkOf(context),
    view: readingPlace(context.place, context.ephemeral),
    today: localDate(new Date(context.at), await ports.memory.people.timeZoneOf(context.speaker.id)),
  };
}

export function readingPlace(place: Place, isForAskerOnly: boolean): Place {
  return isForAskerOnly ? { ...place, audience: 'dm' } : place;
}

/** What the privacy text says of this very bot, from its configuration. */
export interface PrivacyFacts {
  /** Who sees what a prompt holds; absent where no language model is configured. */
  readonly provider: { readonly name: string; readonly models: readonly string[] } | undefined;
  /** The host that writes down voice messages; absent where none does. */
  readonly hearingHost?: string | undefined;
  /** The host that is asked whose message a proxy's copy is [G2a]; absent where none is. */
  readonly proxyHost?: string | undefined;
  /** Whether people can have other assistants read their memory [EW3]. */
  readonly hasMcp?: boolean;
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
