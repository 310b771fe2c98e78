import type { StatusFacts } from '../commands/status-command.ts';
import type { ChannelTalk, ChannelWish } from '../core/channel-talk.ts';
import type { ChannelPort } from '../core/chat.ts';
import type { Place } from '../core/place.ts';

/** What a supervised process may be asked, by its supervisor and by the other processes of this machine through it [X3]. */
export interface ProcessCalls {
  /** As `Health` says. */
  health(): { readonly unhealthy: string | undefined; readonly unready: string | undefined };
  /** As prom-client has them; empty where nobody counts. */
  metrics(): Promise<readonly object[]>;
  /** Its own part; `undefined` before it is ready. */
  status(): Promise<StatusFacts | undefined>;
  /** Of a channel of its own shards; `undefined` for all others. */
  placeOf(channelId: string): Promise<Place | undefined>;
  /** `false` for channels of others. */
  personMay(...asked: Parameters<ChannelPort['personMay']>): Promise<boolean>;
  /** From a direct message, of a channel of its own shards. */
  readChannel(wish: ChannelWish): Promise<ChannelTalk>;
}

/** What a supervised process asks of its supervisor. */
export interface SupervisorCalls {
  /** Resolves when a shard may identify: one of a rate-limit key in five seconds, whichever process it is in. */
  mayIdentify(shard: number): Promise<void>;
  /** It is connected. */
  ready(): void;
  /** Asks all other processes; those that are away, or do not answer, are left out. */
  askOthers<Name extends keyof ProcessCalls>(
    name: Name,
    asked: Parameters<ProcessCalls[Name]>,
  ): Promise<readonly Awaited<ReturnType<ProcessCalls[Name]>>[]>;
}

/** What the other processes of this machine are asked. None rejects: who is away or does not know is left out. */
export interface OtherProcesses {
  /** How many there are. */
  readonly count: number;
  readonly ask: SupervisorCalls['askOthers'];
}
