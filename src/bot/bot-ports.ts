import type { RecentChanges } from '../core/changes.ts';
import type {
  AttachmentPort,
  ChannelPort,
  DirectMessagePort,
  HistoryPort,
  PresentPlace,
  ReadAttachment,
  ReadReplied,
  ReplyPort,
  ServerPort,
  WaitingReactionPort,
} from '../core/chat.ts';
import type { ReadChannel } from '../core/channel-talk.ts';
import type { Logger } from '../core/logger.ts';
import type { ModelClient } from '../core/model.ts';
import type { Processes } from '../core/processes.ts';
import type { Store } from '../core/store.ts';
import type { Clock, Timer } from '../core/time.ts';
import type { ActionTools, OfferPort } from '../core/tool.ts';
import type { WorkQueue } from '../core/work-queue.ts';
import type { Spending } from '../observability/spending.ts';
import type { Outbox } from '../turn/outbox.ts';
import type { OtherProcesses } from './processes.ts';
import type { StatusSources } from './status.ts';

/** What the processes over one store share [X2]. */
export interface SharedPorts {
  readonly processes: Processes;
  readonly work: WorkQueue;
}

export interface BotPorts {
  readonly store: Store;
  readonly model: ModelClient;
  readonly outbox: Outbox;
  readonly recent: RecentChanges;
  readonly replies: ReplyPort;
  readonly directMessages: DirectMessagePort;
  readonly offers: OfferPort;
  readonly reactions: WaitingReactionPort;
  readonly history: HistoryPort;
  /** Whether a person may talk with the bot [G1]. Default: nobody's talk is read. */
  readonly hasAccess?: (userId: string) => boolean;
  readonly presentPlace: PresentPlace;
  readonly server: ServerPort;
  /** Default: only the channels of turns are known. */
  readonly channels?: ChannelPort;
  readonly attachments: AttachmentPort;
  readonly readAttachment: ReadAttachment;
  readonly readReplied: ReadReplied;
  readonly readChannel: ReadChannel;
  /** Without them there is no status command. */
  readonly statusSources?: StatusSources;
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
