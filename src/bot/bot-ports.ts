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
import type { ChannelJournal } from '../turn/journal.ts';
import type { OtherProcesses } from './processes.ts';
import type { StatusSources } from './status.ts';

/** What holds between processes over one store [X2]. */
export interface SharedPorts {
  readonly processes: Processes;
  readonly work: WorkQueue;
}

/** What the bot between its edges needs of these. */
export interface BotPorts {
  readonly store: Store;
  readonly model: ModelClient;
  readonly journal: ChannelJournal;
  /** Knows of every edit and deletion before anything else does. */
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
  /** Default: nothing is known of channels beside those of turns. */
  readonly channels?: ChannelPort;
  readonly attachments: AttachmentPort;
  readonly readAttachment: ReadAttachment;
  readonly readReplied: ReadReplied;
  readonly readChannel: ReadChannel;
  /** Where the edges are observed; without them there is no status command. */
  readonly statusSources?: StatusSources;
  /** The other processes of this machine; default: there are none. */
  readonly others?: OtherProcesses | undefined;
  /** What model calls cost on the present day; without it there is no limit on that. */
  readonly spending?: Pick<Spending, 'heldUntil' | 'layer'>;
  /** What holds between processes that use the same store. Default: this one has it alone. */
  readonly shared?: SharedPorts | undefined;
  /** What the model may do on Discord, where that is on. */
  readonly actions?: ActionTools;
  readonly clock: Clock;
  /** The time by which Discord dates messages [O7]. Default: `clock`. */
  readonly discordClock?: Clock;
  /** Default: the process's own. */
  readonly timer?: Timer;
  readonly logger: Logger;
}
