import {
  Events,
  GatewayDispatchEvents,
  type Client,
  type GatewayMessageDeleteBulkDispatchData,
  type GatewayMessageDeleteDispatchData,
  type GatewayMessageUpdateDispatchData,
  type Message,
} from 'discord.js';

import type { SlashCommand } from '../core/application-command.ts';
import type { BotHandlers } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { AccessSettings } from './access.ts';
import { catchUp, type CatchUpOptions } from './catch-up.ts';
import { createChannelFinder } from './channel-finder.ts';
import { createChannelMessages } from './channel-messages.ts';
import { ChannelOrder } from './channel-order.ts';
import { createDiscordApi } from './discord-api.ts';
import { gatewayErrorOfClose, type GatewayError } from './gateway-error.ts';
import { createHandOn, type HandOn } from './hand-on.ts';
import type { History } from './history.ts';
import type { IntakePolicy } from './intake.ts';
import { fetchApplication, logIn } from './login.ts';
import { createMessageIntake } from './message-intake.ts';
import { reportMissingPermissions } from './missing-permissions.ts';
import { createRetractions, type Retractions } from './retractions.ts';
import { createAdmission } from './interactions/admission.ts';
import { createAnswering } from './interactions/answering.ts';
import { createSlashCommands } from './interactions/slash-commands.ts';

/** From the first request until the client is ready; milliseconds. */
const loginTimeoutMs = 60_000;

export interface GatewayOptions extends Pick<IntakePolicy, 'parseCommand'> {
  readonly client: Client;
  readonly token: string;
  /** As configured; without `ownerIds` the application's owner is the owner. */
  readonly access: AccessSettings;
  /** Those that are not named here are removed from Discord. */
  readonly slashCommands: readonly SlashCommand[];
  readonly handlers: BotHandlers;
  readonly history: History;
  /** Channels that the bot has been active in, to be caught up with after a gap [G3a]. */
  readonly knownChannels: () => Promise<readonly string[]>;
  /** What is remembered of a channel from a message id on. */
  readonly remembered: CatchUpOptions['remembered'];
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
  await Promise.all([
    logIn(client, token, options.timeoutMs ?? loginTimeoutMs),
    registerCommands(options, application.id),
  ]);
  const botId = await listening.botId;
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
    isReady: () => client.isReady(),
    stopIntake() {
      listening.stop();
      return order.idle();
    },
    idle: handingOn.idle,
    destroy: () => client.destroy(),
  };
}

/** Registering the same again changes nothing. Without it only the slash form is missing, so a failure is no reason to stay away. */
async function registerCommands(
  { client, slashCommands, logger }: GatewayOptions,
  applicationId: string,
): Promise<void> {
  try {
    await createDiscordApi(client.rest).registerCommands(
      applicationId,
      slashCommands.map(({ definition }) => definition),
    );
  } catch (error) {
    logger.warn('the slash commands could not be registered', { error });
  }
}

interface Listening {
  /** Once the client is ready. */
  readonly botId: Promise<string>;
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
  // A new session: events since the end of the last one are lost.
  client.ws.on(GatewayDispatchEvents.Ready, () => history.forgetAll());

  let isStopped = false;
  const botId = new Promise<string>((resolve) => {
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
      const admit = createAdmission(common);
      const answer = createAnswering({ ...common, admit });
      const runSlashCommand = createSlashCommands({ ...common, answer });
      const received = async (message: Message) => (isStopped ? undefined : takeIn(message));
      const messages = createChannelMessages(findChannel);
      const catchUpNow = () => handOn('catching up', () => catchUp({ ...common, messages, received }));

      client.on(Events.MessageCreate, (message) => handOn('a message', () => received(message)));
      client.on(Events.InteractionCreate, (interaction) => {
        if (isStopped || !interaction.isChatInputCommand()) return;
        handOn('a slash command', () => runSlashCommand(interaction));
      });
      client.on(Events.ShardReady, catchUpNow);
      catchUpNow();
      reportMissingPermissions(client, logger);
      resolve(user.id);
    });
  });
  return { botId, stop: () => (isStopped = true) };
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
