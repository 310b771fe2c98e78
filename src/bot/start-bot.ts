import type { Config } from '../config/config.ts';
import { RecentChanges } from '../core/changes.ts';
import type { CommandCall } from '../core/chat.ts';
import { compareSnowflakes, snowflakeAt } from '../core/snowflake.ts';
import { processTimer, withTimeout, type Clock } from '../core/time.ts';
import type { Logger } from '../core/logger.ts';
import { noUsage, type ModelUsage } from '../core/model.ts';
import { allShards, isFirst, type Shards } from '../core/processes.ts';
import type { SetAside } from '../core/store.ts';
import {
  createDiscordClient,
  createDiscordTime,
  gatewayPing,
  isConnected,
  readsContent,
} from '../discord/client.ts';
import { createLockedOut, type Access } from '../discord/access.ts';
import { createDiscordPorts } from '../discord/discord-ports.ts';
import { startGateway } from '../discord/gateway.ts';
import { createPresence } from '../discord/presence.ts';
import { createMalformedCount, type Identifying } from '../discord/shard.ts';
import { callCost } from '../model/anthropic/models.ts';
import { withFallback } from '../model/fallback.ts';
import { createTranscriber } from '../model/transcriber.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createSpending, type DailyUse } from '../observability/spending.ts';
import { createUsageMeter } from '../observability/usage-meter.ts';
import { watchModel } from '../observability/watched-model.ts';
import { createOutbox, saveBestEffort } from '../turn/outbox.ts';
import type { Page } from '../page/page.ts';
import type { PagePort } from './bot-ports.ts';
import { createBot } from './create-bot.ts';
import { assertPricesKnown, createModel, listServedModels } from './create-model.ts';
import { openPage } from './open-page.ts';
import { openStore } from './open-store.ts';
import { acrossProcesses, answersOfChannels, type OtherProcesses, type ProcessCalls } from './processes.ts';

const clock: Clock = () => new Date();

/** Milliseconds until running work is aborted, and until the stop goes on without it [G4]. */
const drainMs = 6500;
const waitMs = 8500;

export interface StartOptions {
  readonly token: string;
  /** Another Discord-compatible server. */
  readonly apiUrl?: string | undefined;
  /** When a sandbox server began: nothing from before can be fetched. */
  readonly serverBegan?: Date;
  /** Those that this process connects [X3]. Default: all. */
  readonly shards?: Shards;
  /** Default: the shards of this process wait for each other. */
  readonly identifying?: Identifying | undefined;
  readonly others?: OtherProcesses | undefined;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
  /** Awaited before the bot logs in; the start rejects if it does. */
  readonly checked?: Promise<void>;
  /** Ends the start, which then rejects with the reason. */
  readonly signal?: AbortSignal;
  /** The connection is gone for good, long after the start. */
  readonly onLost: (error: Error) => void;
}

/** @throws {ConfigError} where a limit needs an unknown price. @throws {StoreError} @throws {GatewayError} */
export async function startBot(config: Config, options: StartOptions) {
  const { shards = allShards, identifying, others, apiUrl, logger, metrics } = options;
  const firstId = options.serverBegan === undefined ? '0' : snowflakeAt(options.serverBegan);
  assertPricesKnown(config);
  const timer = processTimer;
  const setAsideEarly: SetAside[] = [];
  let noteSetAside = (file: SetAside): void => void setAsideEarly.push(file);
  const opened = await openStore(config, {
    as: 'bot',
    onSetAside: (file) => noteSetAside(file),
    clock,
    logger,
  });
  const malformed = createMalformedCount(logger, clock);
  const lockedOut = createLockedOut();
  const discordTime = createDiscordTime(clock, logger);
  const client = createDiscordClient({
    apiUrl,
    onDate: (aheadMs) => discordTime.note(aheadMs),
    shards,
    identifying,
    logger,
    onMalformed: malformed.note,
  });
  const presence = createPresence(client, timer);
  const costOf = (name: string, used: ModelUsage) => callCost(name, used, config.model.prices);
  const { timeZone } = config;
  const usage = createUsageMeter({ store: opened.store, clock, timer, timeZone, costOf, logger });
  try {
    const { store, lastWrite } = opened;
    let tellOwner: ((use: DailyUse) => Promise<void>) | undefined;
    const spending = createSpending({
      store,
      clock,
      timeZone,
      limits: config.limits,
      async tellOwner(use) {
        if (tellOwner === undefined) throw new Error('Nobody can be told yet');
        await tellOwner(use);
      },
      logger,
    });
    const model = watchModel(await createModel(config.model, logger, spending.budget), {
      clock,
      onState(state, name) {
        if (state.kind === 'unreachable')
          logger.warn('the model is out of reach', { failure: state.failure, model: name });
        else logger.info('the model can be reached again', { model: name });
        presence.show(state.kind === 'reachable' ? 'well' : 'out-of-reach');
      },
      onUsage(request, { usage: used, cacheMiss }) {
        if (model.isOffline) return;
        const { purpose, model: name } = request;
        logger.info('the model was used', { purpose, model: name, ...used, cacheMiss });
        usage.add(request, used, cacheMiss);
        metrics?.used({ model: name, purpose, usage: used, cost: costOf(name, used) });
      },
    });
    const { url, ...transcription } = config.transcription;
    const transcribe =
      url === undefined
        ? undefined
        : createTranscriber({
            ...transcription,
            url,
            concurrency: config.model.concurrency,
            timeoutMs: config.model.totalTimeoutMs,
            budget: spending.budget,
            onUsage(cost) {
              const call = { model: transcription.model, purpose: 'transcription' } as const;
              logger.info('a voice message was transcribed', { model: call.model, cost });
              usage.add(call, noUsage, undefined, cost);
              metrics?.used({ ...call, usage: noUsage, cost });
            },
          });
    if (model.isOffline) presence.show('stand-in');
    const recent = new RecentChanges();
    const outbox = createOutbox({ store, changes: recent });
    const parseCommand = (text: string): CommandCall | undefined => bot.commands.parse(text, client.user?.id);
    const discordPorts = createDiscordPorts({
      client,
      shards,
      access: config.discord,
      proxied: config.discord.proxied,
      cdnUrl: config.discord.cdnUrl,
      hiddenIn: outbox.hiddenIn,
      isCommand: (text) => parseCommand(text) !== undefined,
      memberRole: (guildId) => bot.memberRole(guildId),
      noteGone(channelId) {
        void saveBestEffort(logger, 'that a channel is gone', () => outbox.markGone(channelId));
        void bot.channelsDeleted([channelId]);
      },
      recent,
      clock,
      logger,
    });
    const { places, reactions } = discordPorts;
    const isHeld = (channelId: string): boolean => places.known(channelId) !== undefined;
    let people: Access | undefined;
    let page: Page | undefined;
    const pagePort: PagePort = {
      async linkFor(person, path) {
        if (page !== undefined) return page.linkFor(person, path);
        const links = (await others?.ask('pageLink', [person, path])) ?? [];
        return links.find((link) => link !== undefined);
      },
      memoryChanged: (userId) => page?.memoryChanged(userId),
      erased: (userId) => page?.erased(userId),
    };
    const bot = createBot(config, {
      ...discordPorts,
      ...(others && acrossProcesses(discordPorts, others, isHeld)),
      readAttachment: discordPorts.attachments.read,
      transcribe,
      store,
      shared: opened.shared,
      model: withFallback(model, {
        fallback: config.model.fallback,
        patienceMs: config.model.totalTimeoutMs / 2,
        now: () => performance.now(),
        logger,
      }),
      listModels: () => listServedModels(config.model),
      outbox,
      recent,
      ownerIds: () => people?.ownerIds ?? [],
      hasAccess: async (userId, guildId) => (await people?.of({ userId, guildId })) === true,
      statusSources: {
        model,
        gateway: () => ({
          pingMs: gatewayPing(client),
          readsContent: readsContent(client),
          malformed: malformed.count(),
          lockedOut: lockedOut.count(),
          servers: client.guilds.cache.size,
          shards: shards.count > 1 ? shards : undefined,
        }),
        letIn: async () => people?.all(),
        usage: () => usage.report(),
        lastWrite,
        quarantined: opened.quarantined,
      },
      others,
      page: config.page.isOn ? pagePort : undefined,
      spending,
      clock,
      discordClock: discordTime.clock,
      logger,
    });

    ({ noteSetAside } = bot);
    for (const file of setAsideEarly) noteSetAside(file);
    const { recovery } = bot;
    const command: typeof bot.handlers.command = async (request) => {
      await recovery.finishChanges();
      return bot.handlers.command(request);
    };
    const gateway = await startGateway({
      ...options,
      ...discordPorts,
      ...bot,
      client,
      shards,
      access: config.discord,
      commands: bot.commands.definitions,
      menuNames: bot.commands.menuNames,
      parseCommand,
      lockedOut,
      wasLetIn: bot.wasGreeted,
      // A message waits for its channel's recovery; a command or menu entry only for what is to be forgotten.
      handlers: {
        ...bot.handlers,
        command,
        async menu(request) {
          await recovery.finishChanges();
          return bot.handlers.menu(request);
        },
      },
      recent,
      isGone: outbox.isGone,
      remembered: (channelId, messageId) =>
        bot.remembered(channelId, compareSnowflakes(messageId, firstId) < 0 ? firstId : messageId),
      isUnfinished: (message) => recovery.isUnfinished(message),
      recover: (channelId) => recovery.channel(channelId),
      resume: (channelId, end) => recovery.sessions(channelId, end),
      clock: discordTime.clock,
      logger,
    });
    people = gateway.people;
    const { people: known } = gateway;
    if (config.page.isOn && isFirst(shards))
      page = await openPage(config.page, {
        command,
        parseCommand,
        dmOf: discordPorts.dmOf,
        hasAccess: (userId) => known.of({ userId }),
        clock: discordTime.clock,
        logger,
      });
    tellOwner = (use) => bot.tellOwners(gateway.ownerIds, use);
    opened.removeLeftovers().catch((error: unknown) => {
      logger.warn('temporary files of an earlier run could not be removed', { error });
    });
    void bot.startRetention({
      ids: gateway.guildIds,
      areKnown: gateway.hasGuild,
      findChannel: places.find,
    });
    if (isFirst(shards)) await bot.nameUnusedContexts();
    logger.info('the bot is ready', {
      botId: gateway.botId,
      owners: gateway.ownerIds,
      isOffline: model.isOffline,
    });

    metrics?.watch(() => {
      const { running, waiting } = model.openCalls;
      return { ...bot.openWork(), model_calls_running: running, model_calls_waiting: waiting };
    });
    const unhealthy = () =>
      lastWrite()?.isOk === false ? 'the newest write to the store failed' : undefined;
    const unready = () => (isConnected(client) ? undefined : 'the bot is not connected to Discord');
    return {
      unhealthy,
      unready,
      calls: {
        ...answersOfChannels(discordPorts, isHeld),
        health: async () => ({ unhealthy: unhealthy(), unready: unready() }),
        status: bot.status,
        sizesOf: bot.sizesOf,
        pageLink: async (person, path) => page?.linkFor(person, path),
      } satisfies Partial<ProcessCalls>,
      commandsRegistered: gateway.commandsRegistered,
      pageLink: pagePort.linkFor,
      /** Whether anything is held about a person. Rejects with `StoreError`. */
      remembers: async (userId: string): Promise<boolean> => (await store.list(`users/${userId}`)).length > 0,
      /** Resolves when all messages are answered and all background work is done. */
      async idle(): Promise<void> {
        await gateway.idle();
        await bot.idle();
      },
      /** Takes at most ten seconds; work that still runs then is left to the next start [G4]. */
      async stop(): Promise<void> {
        const finished = Promise.all([gateway.stopIntake(), page?.close()])
          .then(() => Promise.all([bot.drain(drainMs), gateway.idle()]))
          .then(() => reactions.close())
          .then(() => true);
        if (!(await withTimeout(waitMs, finished, false)))
          logger.warn('unfinished work is left to the next start', { waitMs });
        usage.close();
        await Promise.all([usage.flush(), spending.flush()]);
        presence.close();
        await gateway.destroy();
        await opened.close();
        logger.info('the bot has stopped');
      },
    };
  } catch (error) {
    usage.close();
    await client.destroy();
    await opened.close();
    throw error;
  }
}
