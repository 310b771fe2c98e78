import type { RecentChanges } from '../core/changes.ts';
import type { AttachmentPort, ReadAttachment, ReadReplied, Transcribe } from '../core/message.ts';
import type { ChannelPort, HistoryPort, PresentPlace, ReadChannel, ServerPort } from '../core/channels.ts';
import type { DirectMessagePort, ReminderPost, ReplyPort, WaitingReactionPort } from '../core/reply.ts';
import type { Logger } from '../core/logger.ts';
import type { ModelClient, UsageReport } from '../core/model.ts';
import type { Processes } from '../core/processes.ts';
import type { LastWrite, Store } from '../core/store.ts';
import type { Clock, Timer } from '../core/time.ts';
import type { ActionTools, LateNotice, OfferPort } from '../core/tool.ts';
import type { WorkQueue } from '../core/work-queue.ts';
import type { StatusFacts } from '../commands/status-command.ts';
import type { Spending } from '../observability/spending.ts';
import type { WatchedModel } from '../observability/watched-model.ts';
import type { Outbox } from '../turn/outbox.ts';
import type { ChannelGuild, SessionKey } from '../core/place.ts';
import type { SessionLog } from '../memory/log/session-log.ts';

/** The page, in this process or another [X3]. */
export interface PagePort {
  /** Where people reach it; `undefined` until it is open. */
  readonly url: () => string | undefined;
  /** Told of each change of a person's memory, by any process. */
  readonly memoryChanged: (userId: string) => void;
}

/** Where everything is kept, and what this process knows of it ahead of the disk. */
export interface KeepingPorts {
  readonly store: Store;
  /** What the processes over one store share [X2]. Default: this process has the store alone. */
  readonly shared?: { readonly processes: Processes; readonly work: WorkQueue } | undefined;
  readonly outbox: Outbox;
  readonly recent: RecentChanges;
}

/** Discord, as the bot's rooms know it. */
export interface DiscordPorts {
  readonly replies: ReplyPort;
  readonly directMessages: DirectMessagePort;
  readonly reminders: ReminderPost;
  readonly offers: OfferPort;
  readonly reactions: WaitingReactionPort;
  readonly history: HistoryPort;
  readonly presentPlace: PresentPlace;
  readonly server: ServerPort;
  readonly channels: ChannelPort;
  readonly attachments: AttachmentPort & { readonly read: ReadAttachment };
  readonly readReplied: ReadReplied;
  readonly readChannel: ReadChannel;
  readonly actions?: ActionTools;
}

export interface ModelPorts {
  readonly client: ModelClient;
  /** The ids of the models that its server lists. Never rejects. Default: it has no list. */
  readonly list?: () => Promise<readonly string[]>;
  /** Without it, voice messages are only named. */
  readonly transcribe?: Transcribe | undefined;
  /** Without it, cost is not limited. */
  readonly spending?: Pick<Spending, 'heldUntil' | 'layer'>;
}

export interface TimePorts {
  readonly clock: Clock;
  /** The time by which Discord dates messages [O7]. Default: `clock`. */
  readonly discordClock?: Clock;
  readonly timer?: Timer;
}

export interface StatusSources {
  readonly model: Pick<WatchedModel, 'isOffline' | 'state' | 'openCalls' | 'refused' | 'limitsOf'>;
  readonly gateway: () => Pick<StatusFacts, 'pingMs' | 'readsContent' | 'lockedOut' | 'servers' | 'shards'>;
  /** `undefined` before the bot is connected. */
  readonly letIn?: () => Promise<readonly string[] | undefined>;
  readonly usage: () => Promise<UsageReport>;
  readonly lastWrite: () => LastWrite | undefined;
  readonly quarantined: () => Promise<readonly string[]>;
}

export interface BotPorts {
  readonly keeping: KeepingPorts;
  readonly discord: DiscordPorts;
  readonly model: ModelPorts;
  readonly time: TimePorts;
  readonly ownerIds: readonly string[];
  /** Without them there is no status command. */
  readonly statusSources?: StatusSources;
  /** The page of each person [Y1]; absent where it is off. */
  readonly page?: PagePort | undefined;
  readonly logger: Logger;
}

export type Events = ReturnType<typeof createEvents>;

/** Events between the parts of the bot, so that no part needs another that is created after it. */
export function createEvents() {
  return {
    /** What was derived from the session is out of date; where messages came back, its history too. */
    changed: createEvent<[session: SessionKey]>(),
    /** When to look at a session again; replaces an earlier time. */
    due: createEvent<[session: SessionKey, time: Date]>(),
    /** Something of a person's was written here. */
    written: createEvent<[userId: string]>(),
    /** A person was erased: their running and waiting work ends. */
    erased: createEvent<[userId: string, erasedBy: 'here' | 'elsewhere']>(),
    stored: createEvent<[stored: readonly LateNotice[]]>(),
  };
}

function createEvent<Told extends readonly unknown[]>() {
  const listeners: ((...args: Told) => unknown)[] = [];
  return {
    /** Listeners are called synchronously, in order of registration. */
    on: (listener: (...args: Told) => unknown): void => void listeners.push(listener),
    /** Resolves when all listeners are done; rejects with the first failure. */
    async emit(...args: Told): Promise<void> {
      await Promise.all(listeners.map((listener) => listener(...args)));
    },
  };
}

/** Channels where the bot was active, for catching up after a gap [G3b]. Rejects with `StoreError`. */
export function createKnownChannels(sessionLog: SessionLog, outbox: Pick<Outbox, 'channels' | 'guildOf'>) {
  return {
    /** Also those where the bot was stopped before its first reply. */
    async knownChannels(this: void) {
      const activeAt = new Map<string, number>();
      const all = [...(await sessionLog.channels()), ...(await outbox.channels())];
      for (const { id, activeAt: at } of all) activeAt.set(id, Math.max(at, activeAt.get(id) ?? 0));
      return Array.from(activeAt, ([id, at]) => ({ id, activeAt: at }));
    },
    /** The channel's server, by any source that knows it: not every channel has a session. */
    async guildOf(this: void, channelId: string): Promise<ChannelGuild> {
      for (const source of [sessionLog, outbox]) {
        const guild = await source.guildOf(channelId);
        if (guild.kind !== 'unknown') return guild;
      }
      return { kind: 'unknown' };
    },
    remembered: sessionLog.rememberedSince,
  };
}
