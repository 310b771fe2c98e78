import type { RecentChanges } from '../core/changes.ts';
import type {
  AttachmentPort,
  ChannelPort,
  DirectMessagePort,
  HistoryPort,
  PresentPlace,
  ReadAttachment,
  ReadChannel,
  ReadReplied,
  ReplyPort,
  ServerPort,
  Transcribe,
  WaitingReactionPort,
} from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import type { ModelClient } from '../core/model.ts';
import type { Processes } from '../core/processes.ts';
import type { Store } from '../core/store.ts';
import type { Clock, Timer } from '../core/time.ts';
import type { ActionTools, LateNotice, OfferPort } from '../core/tool.ts';
import type { WorkQueue } from '../core/work-queue.ts';
import type { Spending } from '../observability/spending.ts';
import type { PagePath, PagePerson } from '../page/sign-in.ts';
import type { Outbox } from '../turn/outbox.ts';
import type { OtherProcesses } from './processes.ts';
import type { StatusSources } from './status.ts';
import type { ChannelGuild, SessionKey } from '../core/place.ts';
import type { UndoableChange } from '../memory/undo.ts';
import type { ChannelNotes } from '../memory/channel/channel-notes.ts';
import type { SessionLog } from '../memory/log/session-log.ts';

export interface PagePort {
  /** Where a person signs in, once, and comes to one of the pages; `undefined` where there is no page. Never rejects. */
  readonly linkFor: (person: PagePerson, path?: PagePath) => Promise<string | undefined>;
  /** Told of each change of a person's memory, by any process. */
  readonly memoryChanged: (userId: string) => void;
  /** Told when a person had everything erased. */
  readonly erased: (userId: string) => void;
}

/** What the processes over one store share [X2]. */
export interface SharedPorts {
  readonly processes: Processes;
  readonly work: WorkQueue;
}

export interface BotPorts {
  readonly store: Store;
  readonly model: ModelClient;
  /** The ids of the models that its server lists. Never rejects. Default: it has no list. */
  readonly listModels?: () => Promise<readonly string[]>;
  readonly outbox: Outbox;
  readonly recent: RecentChanges;
  readonly replies: ReplyPort;
  readonly directMessages: DirectMessagePort;
  readonly offers: OfferPort;
  readonly reactions: WaitingReactionPort;
  readonly history: HistoryPort;
  /** Whether a person may talk with the bot in a server [G1]. Never rejects. Default: nobody's talk is read. */
  readonly hasAccess?: (userId: string, guildId: string) => Promise<boolean>;
  /** Empty until the bot is connected. */
  readonly ownerIds: () => readonly string[];
  readonly presentPlace: PresentPlace;
  readonly server: ServerPort;
  /** Default: only the channels of turns are known. */
  readonly channels?: ChannelPort;
  readonly attachments: AttachmentPort;
  readonly readAttachment: ReadAttachment;
  /** Without it, voice messages are only named. */
  readonly transcribe?: Transcribe | undefined;
  readonly readReplied: ReadReplied;
  readonly readChannel: ReadChannel;
  /** Without them there is no status command. */
  readonly statusSources?: StatusSources;
  /** The page of each person [Y1]; absent where it is off. */
  readonly page?: PagePort | undefined;
  readonly others?: OtherProcesses | undefined;
  /** Without it, cost is not limited. */
  readonly spending?: Pick<Spending, 'heldUntil' | 'layer'>;
  /** Default: this process has the store alone. */
  readonly shared?: SharedPorts | undefined;
  readonly actions?: ActionTools;
  readonly clock: Clock;
  /** The time by which Discord dates messages [O7]. Default: `clock`. */
  readonly discordClock?: Clock;
  readonly timer?: Timer;
  readonly logger: Logger;
}

export type Events = ReturnType<typeof createEvents>;

/** Events between the parts of the bot, so that no part needs another that is created after it. */
export function createEvents() {
  return {
    /** What was derived from the session is out of date; where messages came back, its history too. */
    changed: createEvent<[session: SessionKey, hasMoreHistory?: true]>(),
    /** When to look at a session again; replaces an earlier time. */
    due: createEvent<[session: SessionKey, time: Date]>(),
    /** Something of a person's was written here. */
    written: createEvent<[userId: string]>(),
    /** A person was erased: their running and waiting work ends. */
    erased: createEvent<[userId: string, erasedBy: 'here' | 'elsewhere']>(),
    /** A person paused one conversation, or everything. */
    paused: createEvent<[userId: string, channelId: string | undefined]>(),
    stored: createEvent<[stored: readonly LateNotice[]]>(),
    /** A kill interrupted an undo. */
    halfUndone: createEvent<[change: UndoableChange]>(),
  };
}

function createEvent<Told extends readonly unknown[]>() {
  const listeners: ((...told: Told) => unknown)[] = [];
  return {
    /** Listeners are called synchronously, in order of registration. */
    on: (listener: (...told: Told) => unknown): void => void listeners.push(listener),
    /** Resolves when all listeners are done; rejects with the first failure. */
    async emit(...told: Told): Promise<void> {
      await Promise.all(listeners.map((listener) => listener(...told)));
    },
  };
}

/** Channels where the bot was active, for catching up after a gap [G3b]. Rejects with `StoreError`. */
export function createKnownChannels({
  sessionLog,
  outbox,
  channelNotes,
}: {
  readonly sessionLog: Pick<SessionLog, 'channels' | 'guildOf' | 'rememberedSince'>;
  readonly outbox: Pick<Outbox, 'channels' | 'guildOf'>;
  readonly channelNotes: Pick<ChannelNotes, 'channels' | 'guildOf' | 'messagesSince'>;
}) {
  return {
    /** Also those where the bot was stopped before its first reply. */
    async knownChannels() {
      const activeAt = new Map<string, number>();
      const noted = (await channelNotes.channels()).map(({ channelId: id }) => ({ id, activeAt: 0 }));
      const all = [...(await sessionLog.channels()), ...(await outbox.channels()), ...noted];
      for (const { id, activeAt: at } of all) activeAt.set(id, Math.max(at, activeAt.get(id) ?? 0));
      return Array.from(activeAt, ([id, at]) => ({ id, activeAt: at }));
    },
    /** The channel's server, by any source that knows it: not every channel has a session. */
    async guildOf(channelId: string): Promise<ChannelGuild> {
      for (const source of [sessionLog, channelNotes, outbox]) {
        const guild = await source.guildOf(channelId);
        if (guild.kind !== 'unknown') return guild;
      }
      return { kind: 'unknown' };
    },
    remembered: async (channelId: string, messageId: string) => [
      ...(await sessionLog.rememberedSince(channelId, messageId)),
      ...(await channelNotes.messagesSince(channelId, messageId)),
    ],
  };
}
