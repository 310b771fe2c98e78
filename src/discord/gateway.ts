import {
  Events,
  GatewayDispatchEvents,
  type Client,
  type GatewayMessageDeleteBulkDispatchData,
  type GatewayMessageDeleteDispatchData,
  type GatewayMessageReactionAddDispatchData,
  type GatewayMessageUpdateDispatchData,
  type Message,
} from 'discord.js';

import type { InteractionHandlers, MenuEntry, SlashCommand } from '../core/application-command.ts';
import type { BotHandlers } from '../core/chat.ts';
import type { Clock } from '../core/time.ts';
import type { Logger } from '../core/logger.ts';
import type { AccessSettings } from './access.ts';
import { catchUp, type CatchUpOptions } from './catch-up.ts';
import { createChannelFinder } from './channel-finder.ts';
import { createChannelMessages } from './channel-messages.ts';
import { ChannelOrder } from './channel-order.ts';
import { createDiscordApi } from './discord-api.ts';
import { gatewayErrorOfClose, type GatewayError } from './gateway-error.ts';
import { lookBack } from './look-back.ts';
import { createHandOn, type HandOn } from './hand-on.ts';
import type { History } from './history.ts';
import type { IgnoredMessages } from './ignored-messages.ts';
import type { IntakePolicy } from './intake.ts';
import { createInteractions, type Interactions } from './interactions/interactions.ts';
import { registerCommands } from './interactions/register-commands.ts';
import { fetchApplication, logIn } from './login.ts';
import { createMessageIntake, type AnswerModeOf } from './message-intake.ts';
import { reportMissingPermissions } from './missing-permissions.ts';
import { createRetractions, type Retractions } from './retractions.ts';

/** From the first request until the client is ready; milliseconds. */
const loginTimeoutMs = 60_000;

export interface GatewayOptions extends Pick<IntakePolicy, 'parseCommand'> {
  readonly client: Client;
  readonly token: string;
  /** As configured; without `ownerIds` the application's owner is the owner. */
  readonly access: AccessSettings;
  /** Those that are not named here are removed from Discord. */
  readonly slashCommands: readonly SlashCommand[];
  readonly menuEntries: readonly MenuEntry[];
  /** Where not empty, commands are registered for these guilds only. */
  readonly commandGuildIds: readonly string[];
  readonly handlers: BotHandlers & InteractionHandlers;
  readonly answerMode: AnswerModeOf;
  readonly ignored: IgnoredMessages;
  readonly history: History;
  /** Channels that the bot has been active in, to be caught up with after a gap [G3a]. */
  readonly knownChannels: () => Promise<readonly string[]>;
  /** What is remembered of a channel from a message id on. */
  readonly remembered: CatchUpOptions['remembered'];
  /** Whether the reply that a message has was only begun. */
  readonly isUnfinished: (channelId: string, messageId: string) => Promise<boolean>;
  /** The connection is gone for good, long after the start: the process has no more to do. */
  readonly onLost: (error: GatewayError) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timeoutMs?: number;
}

export interface Gateway {
  readonly botId: string;
  readonly ownerIds: readonly string[];
  isReady(): boolean;
  /** From now on nothing new is answered [G4]; resolves when what came in before was handed on. Edits and deletions still are. */
  stopIntake(): Promise<void>;
  /** Resolves when what was missed before the start was fetched and handed on, and memory knows what was edited and deleted meanwhile. */
  readonly caughtUp: Promise<void>;
  /** Resolves when everything that came in was handled, also what came meanwhile. */
  idle(): Promise<void>;
  destroy(): Promise<void>;
}

/**
 * Connects the bot: logs in, listens, registers the slash commands, and catches up with what was missed. Resolves when the client is
 * ready.
 * @throws {GatewayError} when it cannot be connected.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { client, token, access, logger } = options;
  const application = await fetchApplication(client, token);
  const ownerIds = access.ownerIds.length > 0 ? access.ownerIds : application.ownerIds;
  const order = new ChannelOrder();
  const handingOn = createHandOn(logger);
  const listening = listen(options, { ...access, ownerIds }, order, handingOn.handOn);
  await logIn(client, token, options.timeoutMs ?? loginTimeoutMs);
  const { botId, caughtUp } = await listening.ready;
  const stopping = new AbortController();
  const tidyUpCommands = await registerCommands({
    api: createDiscordApi(client.rest),
    applicationId: application.id,
    definitions: [...options.slashCommands, ...options.menuEntries].map(({ definition }) => definition),
    guildIds: options.commandGuildIds,
    botGuildIds: [...client.guilds.cache.keys()],
    signal: stopping.signal,
    logger,
  });
  handingOn.handOn('tidying up commands', tidyUpCommands);
  client.on(Events.ShardDisconnect, ({ code }) => options.onLost(gatewayErrorOfClose(code)));
  logger.info('connected to Discord', {
    botId,
    ownerIds,
    access: access.access,
    allowedUserIds: access.allowedUserIds,
  });
  return {
    botId,
    ownerIds,
    caughtUp,
    isReady: () => client.isReady(),
    stopIntake() {
      listening.stop();
      stopping.abort();
      return order.idle();
    },
    idle: handingOn.idle,
    destroy() {
      // The client announces this after every close, also after the last one.
      client.removeAllListeners(Events.ShardReconnecting);
      return client.destroy();
    },
  };
}

type Ready = Pick<Gateway, 'botId' | 'caughtUp'>;

interface Listening {
  /** Once the client is ready. */
  readonly ready: Promise<Ready>;
  stop(): void;
}

/** Before the client is ready it holds events back, so none is missed when listening to them begins then. */
function listen(
  options: GatewayOptions,
  settings: AccessSettings,
  order: ChannelOrder,
  handOn: HandOn,
): Listening {
  const { client, history, logger } = options;
  const retractions = createRetractions({ ...options, order, handOn });
  listenToRetractions(client, retractions, handOn);
  listenToReactions(options, order, handOn);
  // A new session: events since the end of the last one are lost.
  client.ws.on(GatewayDispatchEvents.Ready, () => history.forgetAll());

  let isStopped = false;
  let interactions: Interactions | undefined;
  const ready = new Promise<Ready>((resolve) => {
    client.once(Events.ClientReady, ({ user }) => {
      const policy = { ...settings, parseCommand: options.parseCommand };
      const findChannel = createChannelFinder(client, logger);
      const common = {
        ...options,
        botId: user.id,
        policy,
        settings,
        order,
        findChannel,
        retractions,
        handOn,
      };
      const takeIn = createMessageIntake(common);
      const taking = createInteractions(common);
      interactions = taking;
      const received = async (message: Message) => (isStopped ? undefined : takeIn(message));
      const messages = createChannelMessages(findChannel);
      const catchUpNow = () =>
        new Promise<void>((done) => {
          handOn('catching up', async () => {
            await catchUp({ ...common, messages, received }).finally(done);
            await lookBack({ ...common, messages, isStopped: () => isStopped });
          });
        });

      client.on(Events.MessageCreate, (message) => handOn('a message', () => received(message)));
      client.on(Events.InteractionCreate, (interaction) => taking.take(interaction));
      client.on(Events.ShardReady, () => void catchUpNow());
      const caughtUp = catchUpNow();
      reportMissingPermissions(client, logger);
      resolve({ botId: user.id, caughtUp });
    });
  });
  return {
    ready,
    stop() {
      isStopped = true;
      interactions?.stop();
    },
  };
}

function listenToRetractions({ ws }: Client, retractions: Retractions, handOn: HandOn): void {
  ws.on(GatewayDispatchEvents.MessageUpdate, (data: GatewayMessageUpdateDispatchData) => {
    handOn('an edit', async () => retractions.edited(data));
  });
  ws.on(GatewayDispatchEvents.MessageDelete, (data: GatewayMessageDeleteDispatchData) => {
    handOn('a deletion', async () => retractions.deleted(data.channel_id, [data.id]));
  });
  ws.on(GatewayDispatchEvents.MessageDeleteBulk, (data: GatewayMessageDeleteBulkDispatchData) => {
    handOn('a deletion', async () => retractions.deleted(data.channel_id, data.ids));
  });
}

/** In Discord's own form: the client keeps no messages, and would tell of no reaction. */
function listenToReactions({ client, handlers }: GatewayOptions, order: ChannelOrder, handOn: HandOn): void {
  client.ws.on(GatewayDispatchEvents.MessageReactionAdd, (data: GatewayMessageReactionAddDispatchData) => {
    const { channel_id: channelId, message_id: messageId, user_id: userId, emoji } = data;
    if (emoji.name === null || userId === client.user?.id) return;
    const { name } = emoji;
    // Behind the message itself, whose place may still be looked up.
    void order.run(channelId, () =>
      handOn('a reaction', () => handlers.reacted(channelId, messageId, userId, name)),
    );
  });
}
