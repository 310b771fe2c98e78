import {
  type Client,
  Events,
  GatewayDispatchEvents,
  type GatewayMessageDeleteBulkDispatchData,
  type GatewayMessageDeleteDispatchData,
  type GatewayMessageReactionAddDispatchData,
  type GatewayMessageUpdateDispatchData,
  type Message,
} from 'discord.js';

import type { RecentChanges } from '../core/changes.ts';
import type { BotHandlers } from '../core/message.ts';
import type { CommandDefinition, CommandHandlers } from '../core/commands.ts';
import { type KeyedQueue, createKeyedQueue } from '../core/keyed-queue.ts';
import type { Logger } from '../core/logger.ts';
import { type Shards, hasGuild, isFirst } from '../core/processes.ts';
import { type Clock, withTimeout } from '../core/time.ts';
import type { AccessSettings, IntakePolicy } from './access.ts';
import { type CatchUp, type ChannelMemory, createCatchUp, shardIn } from './catch-up.ts';
import { createChannelMessages } from './history.ts';
import { logIn } from './client.ts';
import {
  type GatewayError,
  type RunInBackground,
  createBackground,
  gatewayErrorOfClose,
} from './gateway-error.ts';
import { createDiscordApi } from './discord-api.ts';
import type { DiscordPorts } from './discord-ports.ts';
import {
  type InOrder,
  type IntakeOptions,
  type MessageChanges,
  createMessageChanges,
  createMessageIntake,
} from './intake.ts';
import { createInteractions } from './interactions/interactions.ts';
import { commandsToRegister, registerCommands } from './interactions/register-commands.ts';

const loginTimeoutMs = 60_000;
/** How long an event may hold up its channel [L5]. */
const channelPatienceMs = 60_000;
/** How long a command waits for missed messages [G3b]. */
const commandsWaitMs = 2000;

export interface GatewayOptions {
  /** How this process is connected. */
  readonly connection: {
    readonly client: Client;
    readonly shards: Shards;
    readonly token: string;
    /** Ends the start, which rejects with its reason. */
    readonly signal?: AbortSignal | undefined;
    readonly onLost: (error: GatewayError) => void;
    readonly applicationId: string;
  };
  /** Who is answered, and who they are. */
  readonly access: Pick<IntakeOptions, 'people' | 'wasLetIn' | 'lockedOut'> & {
    readonly settings: AccessSettings;
  };
  readonly commands: Pick<IntakePolicy, 'parseCommand' | 'menuForms'> & {
    readonly definitions: readonly CommandDefinition[];
    readonly menuNames: readonly string[];
  };
  readonly discord: Pick<
    DiscordPorts,
    'places' | 'reactions' | 'offers' | 'proxies' | 'history' | 'asks' | 'dmOf'
  >;
  /** What the bot knows of channels, and does with what it learns of them. */
  readonly channels: Pick<IntakeOptions, 'answerModes'> &
    ChannelMemory & {
      /** Must not reject. */
      readonly channelsDeleted?: (channelIds: readonly string[], parentId?: string) => Promise<void>;
    };
  readonly handlers: BotHandlers & CommandHandlers;
  readonly recent: RecentChanges;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Resolves when the client is ready. @throws {GatewayError} */
export async function startGateway(options: GatewayOptions) {
  const { connection, access, commands, logger } = options;
  const { client, shards, token, signal } = connection;
  const { ownerIds } = access.settings;
  const channelQueue = createKeyedQueue({ patienceMs: channelPatienceMs });
  const { runInBackground, idle } = createBackground(logger);
  const { definitions, parseCommand } = commands;
  const policy = {
    ...access.settings,
    parseCommand,
    menuForms: commands.menuForms,
    managerCommands: definitions.flatMap(({ name, managersOnly }) => (managersOnly ? [name] : [])),
    keptCommands: definitions.flatMap(({ name, subcommands = {} }) =>
      Object.entries(subcommands).flatMap(([word, { isKept }]) => (isKept === true ? `${name} ${word}` : [])),
    ),
  };
  const stopping = new AbortController();
  const listening = listen(options, policy, channelQueue, runInBackground, stopping.signal);
  await logIn(client, token, loginTimeoutMs, signal);
  const { botId, caughtUp } = await listening;
  const commandsRegistered = isFirst(shards)
    ? registerCommands(
        createDiscordApi(client),
        connection.applicationId,
        commandsToRegister(definitions, commands.menuNames),
        [...client.guilds.cache.keys()],
        { signal: stopping.signal, logger },
      )
    : Promise.resolve();
  runInBackground('registering commands', () => commandsRegistered);
  client.on(Events.ShardDisconnect, ({ code }) => connection.onLost(gatewayErrorOfClose(code)));
  const letIn = await access.people.all();
  logger.info('connected to Discord', {
    botId,
    ownerIds,
    access: access.settings.access,
    letIn,
    shardIds: shards.count > 1 ? shards.ids : undefined,
    ofShards: shards.count > 1 ? shards.count : undefined,
  });
  return {
    botId,
    /** Guilds of these shards, including those with an outage. */
    guildIds: (): readonly string[] => [...client.guilds.cache.keys()],
    hasGuild: (guildId: string): boolean => hasGuild(shards, guildId),
    caughtUp,
    commandsRegistered,
    isReady: (): boolean => client.isReady(),
    /** Edits and deletions are still handled [G4]. Resolves when earlier messages were handed on. */
    stopIntake(): Promise<void> {
      stopping.abort();
      return channelQueue.idle();
    },
    idle,
    destroy(): Promise<void> {
      client.removeAllListeners(Events.ShardReconnecting);
      return client.destroy();
    },
  };
}

/** The client holds events back until it is ready. */
function listen(
  options: GatewayOptions,
  policy: IntakePolicy,
  channelQueue: KeyedQueue,
  runInBackground: RunInBackground,
  stopping: AbortSignal,
): Promise<{ readonly botId: string; readonly caughtUp: Promise<unknown> }> {
  const { connection, access, discord } = options;
  const { client, shards } = connection;
  const { history, places } = discord;
  let catchUp: CatchUp | undefined;
  /** By channel, events that wait until what was missed is known. */
  const arrivals = createKeyedQueue();
  const inOrder: InOrder = (channelId, what, work) =>
    arrivals.run(channelId, async () => {
      await catchUp?.settled(channelId);
      runInBackground(what, () => channelQueue.run(channelId, async () => runInBackground(what, work)));
    });
  const changes = createMessageChanges({
    ...options,
    ...discord,
    parseCommand: policy.parseCommand,
    client,
    channelQueue,
    inOrder,
  });
  listenToEvents(options, changes, inOrder, runInBackground);
  // Events since the end of the last session are lost.
  client.ws.on(GatewayDispatchEvents.Ready, (_: unknown, shard: number) => {
    // An unknown channel may be of any shard.
    history.forget(
      (channelId) => !client.channels.cache.has(channelId) || shardIn(client, channelId, shards) === shard,
    );
    catchUp?.begin(shard);
  });
  return new Promise((resolve) => {
    client.once(Events.ClientReady, ({ user }) => {
      const messages = createChannelMessages(places.find);
      const common = {
        ...options,
        ...discord,
        ...access,
        ...options.channels,
        client,
        shards,
        botId: user.id,
        policy,
        settings: policy,
        channelQueue,
        arrivals,
        messages,
        changes,
        runInBackground,
        stopping,
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
          await withTimeout(commandsWaitMs, arrived, undefined);
          return enqueue();
        },
      });
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
      client.on(Events.InteractionCreate, taking);
      client.on(Events.ShardReady, (shard) => void catchUpEverywhere(shard));
      const caughtUp = Promise.all(shards.ids.map(catchUpEverywhere));
      resolve({ botId: user.id, caughtUp });
    });
  });
}

/** Raw events: the client hides those of messages that it does not keep. */
function listenToEvents(
  {
    connection: { client },
    handlers,
    channels: { channelsDeleted = () => Promise.resolve() },
  }: GatewayOptions,
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
    const handle = () => handlers.reacted(channelId, messageId, userId, name);
    runInBackground('a reaction', () => inOrder(channelId, 'a reaction', handle));
  });
  ws.on(GatewayDispatchEvents.ChannelDelete, ({ id }: { readonly id: string }) => {
    const threads = channels.cache.filter((channel) => channel.isThread() && channel.parentId === id);
    const all = [id, ...threads.keys()];
    runInBackground('a deleted channel', () => channelsDeleted(all, id));
  });
  ws.on(GatewayDispatchEvents.ThreadDelete, ({ id }: { readonly id: string }) => {
    runInBackground('a deleted thread', () => channelsDeleted([id]));
  });
}
