import {
  Events,
  GatewayDispatchEvents,
  type Client,
  type GatewayChannelDeleteDispatchData,
  type GatewayMessageDeleteBulkDispatchData,
  type GatewayMessageDeleteDispatchData,
  type GatewayThreadDeleteDispatchData,
  type GatewayMessageReactionAddDispatchData,
  type GatewayMessageUpdateDispatchData,
  type Message,
} from 'discord.js';

import type { RecentChanges } from '../core/changes.ts';
import type { BotHandlers } from '../core/chat.ts';
import type { CommandDefinition, CommandHandlers } from '../core/commands.ts';
import { createKeyedQueue, type KeyedQueue } from '../core/keyed-queue.ts';
import type { Logger } from '../core/logger.ts';
import { hasGuild, isFirst, isPart, type Shards } from '../core/shards.ts';
import type { Store } from '../core/store.ts';
import { unlessAborted, within, type Clock } from '../core/time.ts';
import type { AccessSettings, IntakePolicy } from './access.ts';
import { createCatchUp, shardIn, type CatchUp, type CatchUpOptions } from './catch-up.ts';
import { createChannelMessages } from './channel-messages.ts';
import { fetchApplication, logIn } from './client.ts';
import { gatewayErrorOfClose, type GatewayError } from './gateway-error.ts';
import { createDiscordApi } from './discord-api.ts';
import type { History } from './history.ts';
import { createMessageIntake, type IntakeOptions } from './intake.ts';
import {
  createInteractions,
  type Interactions,
  type InteractionsOptions,
} from './interactions/interactions.ts';
import { registerCommands, wantedCommands } from './interactions/register-commands.ts';
import { createMessageChanges, type InOrder, type MessageChanges } from './message-changes.ts';
import { reportMissingPermissions } from './required-permissions.ts';
import { createBackground, type RunInBackground } from './run-in-background.ts';

/** From the first request until the client is ready; milliseconds. */
const loginTimeoutMs = 60_000;
/** How long an event may hold up those after it in its channel [L5]; milliseconds. */
const channelPatienceMs = 60_000;
/** A command waits so long at most for what was missed in its channel [G3b]; milliseconds. */
const commandsWaitMs = 2000;

export interface GatewayOptions
  extends
    Pick<IntakePolicy, 'parseCommand'>,
    Pick<IntakeOptions, 'answerModes' | 'places' | 'lockedOut' | 'reactions'>,
    Pick<
      CatchUpOptions,
      'knownChannels' | 'remembered' | 'guildOf' | 'isGone' | 'isUnfinished' | 'recover' | 'resume'
    >,
    Pick<InteractionsOptions, 'offers'> {
  readonly client: Client;
  readonly shards: Shards;
  readonly token: string;
  /** Waited for before the bot logs in. Default: nothing. */
  readonly checked?: Promise<void>;
  /** Ends the start, which then rejects with its reason. Default: nothing does. */
  readonly signal?: AbortSignal | undefined;
  /** As configured; without `ownerIds` the application's owner is the owner. */
  readonly access: AccessSettings;
  /** Those that are not named here are removed from Discord. */
  readonly commands: readonly CommandDefinition[];
  readonly menuNames: readonly string[];
  /** Where not empty, commands are registered for these guilds only. */
  readonly commandGuildIds: readonly string[];
  readonly handlers: BotHandlers & CommandHandlers;
  readonly history: History;
  readonly recent: RecentChanges;
  /** Where it is remembered in which guilds commands were registered. */
  readonly store: Pick<Store, 'read' | 'update'>;
  /** The bot was removed from a guild, which had these channels; an outage is none. Must not throw. */
  readonly guildLeft?: (guildId: string, channelIds: readonly string[]) => void;
  /** Channels of a guild, or threads, were deleted. Must not reject. */
  readonly channelsDeleted?: (channelIds: readonly string[]) => Promise<void>;
  /** The connection is gone for good, long after the start: the process has no more to do. */
  readonly onLost: (error: GatewayError) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timeoutMs?: number;
}

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** Logs in, listens, registers the slash commands and catches up; resolves when the client is ready. @throws {GatewayError} */
export async function startGateway(options: GatewayOptions) {
  const { client, shards, token, access, parseCommand, logger } = options;
  const { signal } = options;
  const application = await unlessAborted(signal, fetchApplication(client, token));
  await unlessAborted(signal, Promise.resolve(options.checked));
  const ownerIds = access.ownerIds.length > 0 ? access.ownerIds : application.ownerIds;
  const channelQueue = createKeyedQueue({ patienceMs: channelPatienceMs });
  const { runInBackground, idle } = createBackground(logger);
  const managerCommands = options.commands.flatMap(({ name, managersOnly }) =>
    managersOnly === undefined ? [] : [name],
  );
  const policy = { ...access, ownerIds, parseCommand, managerCommands };
  const stopping = new AbortController();
  const listening = listen(options, policy, channelQueue, runInBackground, stopping.signal);
  await logIn(client, token, options.timeoutMs ?? loginTimeoutMs, signal);
  const { botId, caughtUp } = await listening.ready;
  const api = createDiscordApi(client);
  const presentGuildIds = (): readonly string[] => [...client.guilds.cache.keys()];
  async function register(): Promise<void> {
    // One process does it for all.
    if (!isFirst(shards)) return;
    await registerCommands({
      api,
      applicationId: application.id,
      commands: wantedCommands(options.commands, options.menuNames),
      guildIds: options.commandGuildIds,
      // A process knows those of its own shards only.
      botGuildIds: async () =>
        isPart(shards) ? (await api.ownGuilds()).map(({ id }) => id) : presentGuildIds(),
      store: options.store,
      logger,
    });
    logger.info('slash command registration finished');
  }
  const commandsRegistered = register();
  runInBackground('registering commands', () => commandsRegistered);
  client.on(Events.GuildDelete, ({ id, channels }) => options.guildLeft?.(id, [...channels.cache.keys()]));
  client.on(Events.ShardDisconnect, ({ code }) => options.onLost(gatewayErrorOfClose(code)));
  logger.info('connected to Discord', {
    botId,
    ownerIds,
    access: access.access,
    allowedUserIds: access.allowedUserIds,
    shardIds: shards.count > 1 ? shards.ids : undefined,
    ofShards: shards.count > 1 ? shards.count : undefined,
  });
  return {
    botId,
    ownerIds,
    /** The guilds that the bot is in, those with an outage included, as far as they are of these shards. */
    guildIds: presentGuildIds,
    /** Whether a guild is of these shards: only then can it be told whether the bot is in it. */
    hasGuild: (guildId: string): boolean => hasGuild(shards, guildId),
    /** Resolves when what was missed before the start was fetched and handed on everywhere. Nobody waits for it. */
    caughtUp,
    /** Resolves when Discord has the commands, or would not take them. */
    commandsRegistered,
    isReady: (): boolean => client.isReady(),
    /** From now on nothing new is answered [G4]; resolves when what came in before was handed on. Edits and deletions still are. */
    stopIntake(): Promise<void> {
      stopping.abort();
      listening.stop();
      return channelQueue.idle();
    },
    /** Resolves when everything that came in was handled, also what came meanwhile. */
    idle,
    destroy(): Promise<void> {
      // The client announces this after every close, also after the last one.
      client.removeAllListeners(Events.ShardReconnecting);
      return client.destroy();
    },
  };
}

/** Before the client is ready it holds events back, so none is missed when listening to them begins then. */
function listen(
  options: GatewayOptions,
  policy: IntakePolicy,
  channelQueue: KeyedQueue,
  runInBackground: RunInBackground,
  stopping: AbortSignal,
) {
  const { client, history, logger } = options;
  let catchUp: CatchUp | undefined;
  /** By channel, what has not found its place among the work there: it waits until what was missed is known. */
  const arrivals = createKeyedQueue();
  const inOrder: InOrder = (channelId, what, work) =>
    arrivals.run(channelId, async () => {
      await catchUp?.settled(channelId);
      runInBackground(what, () => channelQueue.run(channelId, async () => runInBackground(what, work)));
    });
  const changes = createMessageChanges({ ...options, channelQueue, inOrder });
  listenToEvents(options, changes, inOrder, runInBackground);
  let interactions: Interactions | undefined;
  // A new session: events since the end of the last one are lost.
  client.ws.on(GatewayDispatchEvents.Ready, (_: unknown, shard: number) => {
    history.forget((channelId) => isInShard(client, channelId, shard, options.shards));
    catchUp?.begin(shard);
  });
  const ready = new Promise<{ readonly botId: string; readonly caughtUp: Promise<unknown> }>((resolve) => {
    client.once(Events.ClientReady, ({ user }) => {
      const messages = createChannelMessages(options.places.find);
      const common = {
        ...options,
        botId: user.id,
        policy,
        settings: policy,
        managerCommands: policy.managerCommands,
        channelQueue,
        arrivals,
        messages,
        changes,
        runInBackground,
      };
      const intake = createMessageIntake({
        ...common,
        caughtUp: (channelId) => catchingUp.before(channelId),
      });
      const take = async (message: Message) => (stopping.aborted ? undefined : intake.take(message));
      const catchingUp = createCatchUp({ ...common, received: take }, stopping);
      catchUp = catchingUp;
      const taking = createInteractions({
        ...common,
        async inOrder(channelId, job) {
          let queued: Promise<void> | undefined;
          const enqueue = () => (queued ??= channelQueue.run(channelId, job));
          const arrived = arrivals.run(channelId, async () => {
            await catchingUp.before(channelId);
            void enqueue();
          });
          await within(commandsWaitMs, arrived, undefined);
          return enqueue();
        },
      });
      interactions = taking;
      const received = (message: Message): void => {
        if (stopping.aborted) return;
        if (message.author.id !== user.id) catchingUp.heard(message.channelId, message.id);
        intake.receive(message);
      };
      const catchUpEverywhere = (shard: number): Promise<void> => {
        const caughtUp = catchingUp.everywhere(shard);
        runInBackground('catching up', () => caughtUp);
        return caughtUp;
      };

      client.on(Events.MessageCreate, received);
      client.on(Events.InteractionCreate, (interaction) => taking.take(interaction));
      client.on(Events.ShardReady, (shard) => void catchUpEverywhere(shard));
      const caughtUp = Promise.all(options.shards.ids.map(catchUpEverywhere));
      runInBackground('looking at permissions', async () => reportMissingPermissions(client, logger));
      resolve({ botId: user.id, caughtUp });
    });
  });
  return {
    ready,
    stop(): void {
      interactions?.stop();
    },
  };
}

/** What the client does not hold may be of any shard. */
function isInShard(client: Client, channelId: string, shard: number, shards: Shards): boolean {
  return !client.channels.cache.has(channelId) || shardIn(client, channelId, shards) === shard;
}

/** In Discord's own form: the client tells of no message that it does not keep, nor of threads below a deleted channel. */
function listenToEvents(
  { client, handlers, channelsDeleted = () => Promise.resolve() }: GatewayOptions,
  changes: MessageChanges,
  inOrder: InOrder,
  runInBackground: RunInBackground,
): void {
  const { ws, channels } = client;
  ws.on(GatewayDispatchEvents.MessageUpdate, (data: GatewayMessageUpdateDispatchData) => {
    runInBackground('an edit', () => changes.edited(data));
  });
  ws.on(GatewayDispatchEvents.MessageDelete, (data: GatewayMessageDeleteDispatchData) => {
    runInBackground('a deletion', () => changes.deleted(data.channel_id, [data.id]));
  });
  ws.on(GatewayDispatchEvents.MessageDeleteBulk, (data: GatewayMessageDeleteBulkDispatchData) => {
    runInBackground('a deletion', () => changes.deleted(data.channel_id, data.ids));
  });
  ws.on(GatewayDispatchEvents.MessageReactionAdd, (data: GatewayMessageReactionAddDispatchData) => {
    const { channel_id: channelId, message_id: messageId, user_id: userId, emoji } = data;
    const { name } = emoji;
    if (typeof name !== 'string' || userId === client.user?.id) return;
    // Behind the message itself, which may wait, and whose place may still be looked up.
    const handle = () => handlers.reacted(channelId, messageId, userId, name);
    runInBackground('a reaction', () => inOrder(channelId, 'a reaction', handle));
  });
  ws.on(GatewayDispatchEvents.ChannelDelete, ({ id }: GatewayChannelDeleteDispatchData) => {
    const threads = channels.cache.filter((channel) => channel.isThread() && channel.parentId === id);
    const all = [id, ...threads.keys()];
    runInBackground('a deleted channel', () => channelsDeleted(all));
  });
  ws.on(GatewayDispatchEvents.ThreadDelete, ({ id }: GatewayThreadDeleteDispatchData) => {
    runInBackground('a deleted thread', () => channelsDeleted([id]));
  });
}
