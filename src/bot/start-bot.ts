import { ConfigError, type Config } from '../config/config.ts';
import { RecentChanges } from '../core/changes.ts';
import type { CommandCall } from '../core/message.ts';
import { compareSnowflakes, snowflakeAt } from '../core/snowflake.ts';
import { processTimer, unlessAborted, withTimeout, type Clock } from '../core/time.ts';
import type { Logger } from '../core/logger.ts';
import { noUsage, type ModelUsage } from '../core/model.ts';
import { allShards, isFirst, isPart, type Shards } from '../core/processes.ts';
import {
  createDiscordClient,
  createDiscordTime,
  fetchApplication,
  gatewayPing,
  isConnected,
  readsContent,
} from '../discord/client.ts';
import { createAccess, createLockedOut, withOwners } from '../discord/access.ts';
import { createDiscordPorts } from '../discord/discord-ports.ts';
import { startGateway } from '../discord/gateway.ts';
import { callCost } from '../model/anthropic/models.ts';
import { withFallback } from '../model/fallback.ts';
import { createTranscriber } from '../model/transcriber.ts';
import type { Metrics } from '../observability/health-server.ts';
import { createSpending } from '../observability/spending.ts';
import { createUsageMeter } from '../observability/usage-meter.ts';
import { watchModel } from '../observability/watched-model.ts';
import { createBotSettings } from '../memory/settings/bot-settings.ts';
import { createOutbox, hideFromHistory } from '../turn/outbox.ts';
import type { Page, PageOptions } from '../page/page.ts';
import { errorCode } from '../storage/files/file-system.ts';
import type { PagePort } from './bot-ports.ts';
import { createBot } from './create-bot.ts';
import { assertPricesKnown, createModel, listServedModels } from './create-model.ts';
import { openStore } from './open-store.ts';

const clock: Clock = () => new Date();

/** Milliseconds until running work is aborted, and until the stop goes on without it [G4]. */
const drainMs = 6500;
const waitMs = 8500;
/** How long all writes fail before that is told as a fault of the disk [O3]. */
const unhealthyMs = 60_000;

const otherProcess =
  'Another process answers with my token, from a memory of its own: stop one of the two, or reset the token in the developer portal, on the page Bot, and set the new one here.';

export interface StartOptions {
  readonly token: string;
  /** When a sandbox server began: nothing from before can be fetched. */
  readonly serverBegan?: Date;
  /** Those that this process connects [X3]. Default: all. */
  readonly shards?: Shards;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
  /** Awaited before the bot logs in; the start rejects if it does. */
  readonly checked?: Promise<void>;
  /** Ends the start, which then rejects with the reason. */
  readonly signal?: AbortSignal;
  /** The connection, or the data folder, is gone for good, maybe long after the start. */
  readonly onLost: (error: Error) => void;
}

/** @throws {ConfigError} where a limit needs an unknown price. @throws {StoreError} @throws {GatewayError} */
export async function startBot(config: Config, options: StartOptions) {
  const { shards = allShards, logger, metrics } = options;
  const firstId = options.serverBegan === undefined ? '0' : snowflakeAt(options.serverBegan);
  assertPricesKnown(config);
  const timer = processTimer;
  const { signal, onLost } = options;
  const opened = await openStore(config, { as: 'bot', clock, logger, onLost, signal });
  const lockedOut = createLockedOut();
  const discordTime = createDiscordTime(clock, logger);
  const client = createDiscordClient({
    apiUrl: config.discord.apiUrl,
    onDate: (aheadMs) => discordTime.note(aheadMs),
    shards,
    logger,
  });
  const { timeZone } = config;
  const costOf = (name: string, used: ModelUsage) => callCost(name, used, config.model.prices);
  const usage = createUsageMeter({ store: opened.store, clock, timer, timeZone, costOf, logger });
  try {
    const { store } = opened;
    const application = await unlessAborted(options.signal, fetchApplication(client, options.token));
    await unlessAborted(options.signal, Promise.resolve(options.checked));
    const access = withOwners(config.discord, application);
    const { ownerIds } = access;
    const botSettings = createBotSettings(store);
    const readAdded = async () => (await botSettings.read()).letIn;
    const people = createAccess(access, { client, readAdded, logger });
    const spending = createSpending({
      store,
      clock,
      timeZone,
      limits: config.limits,
      tellOwner: (news) => bot.limits.tellOwners(ownerIds, news),
      logger,
    });
    const model = watchModel(await createModel(config.model, logger, spending.budget), {
      clock,
      onState(state, name) {
        if (state.kind === 'unreachable')
          logger.warn('the model is out of reach', { failure: state.failure, model: name });
        else logger.info('the model can be reached again', { model: name });
      },
      onUsage(request, { usage: used }) {
        if (model.isOffline) return;
        const { purpose, model: name } = request;
        logger.info('the model was used', { purpose, model: name, ...used });
        usage.add(request, used);
        metrics?.used({ model: name, purpose, usage: used, cost: costOf(name, used) });
      },
      onAccount: (failure, name) => void spending.tellOfAccount(failure, name),
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
              usage.add(call, noUsage, cost);
              metrics?.used({ ...call, usage: noUsage, cost });
            },
          });
    const recent = new RecentChanges();
    const outbox = createOutbox({ store, changes: recent, shards });
    const parseCommand = (text: string): CommandCall | undefined => bot.commands.parse(text, client.user?.id);
    // Discord and the bot need each other: the bot is asked only once it is connected.
    const discord = createDiscordPorts({
      client,
      shards,
      access: config.discord,
      proxied: config.discord.proxied,
      cdnUrl: config.discord.cdnUrl,
      hiddenIn: outbox.hiddenIn,
      isCommand: (text) => parseCommand(text) !== undefined,
      memberRole: (guildId) => bot.memory.placeSettings.memberRole(guildId),
      noteGone: (channelId) => void bot.channelsDeleted([channelId], channelId),
      onOtherProcess() {
        logger.error(otherProcess);
        for (const id of ownerIds)
          discord.directMessages
            .send(id, [{ text: `⚠️ ${otherProcess}` }], `${id}o`, (channelId, messageId) =>
              hideFromHistory({ outbox, logger }, channelId, [messageId]),
            )
            .catch((error: unknown) => logger.warn('the owner could not be told of it', { error }));
      },
      recent,
      clock,
      logger,
    });
    /** Open once the bot is connected. */
    let page: Page | undefined;
    const pagePort: PagePort = {
      url: () => config.page.url ?? page?.url,
      memoryChanged: (userId) => page?.memoryChanged(userId),
    };
    const bot = createBot(config, {
      keeping: { store, shared: opened.shared, outbox, recent },
      discord,
      model: {
        client: withFallback(model, {
          fallback: config.model.fallback,
          patienceMs: config.model.totalTimeoutMs / 2,
          now: () => performance.now(),
          logger,
        }),
        list: () => listServedModels(config.model),
        transcribe,
        spending,
      },
      time: { clock, discordClock: discordTime.clock },
      ownerIds,
      statusSources: {
        model,
        gateway: () => ({
          pingMs: gatewayPing(client),
          readsContent: readsContent(client),
          lockedOut: lockedOut.count(),
          servers: client.guilds.cache.size,
          shards: shards.count > 1 ? shards : undefined,
        }),
        letIn: () => people.all(),
        usage: () => usage.report(),
        lastWrite: store.lastWrite,
        quarantined: store.quarantined,
      },
      page: config.page.isOn || config.page.isElsewhere ? pagePort : undefined,
      logger,
    });
    opened.tellSetAside(bot.memory.oneTimeNotices.note);
    const { recovery } = bot;
    const gateway = await startGateway({
      connection: { client, shards, token: options.token, signal, onLost, applicationId: application.id },
      access: { settings: access, people, wasLetIn: bot.wasGreeted, lockedOut },
      commands: {
        definitions: bot.commands.definitions,
        menuNames: bot.commands.menuNames,
        menuForms: bot.commands.menuForms,
        parseCommand,
      },
      discord,
      channels: {
        answerModes: bot.memory.placeSettings,
        knownChannels: bot.knownChannels,
        guildOf: bot.guildOf,
        remembered: (channelId, messageId) =>
          bot.remembered(channelId, compareSnowflakes(messageId, firstId) < 0 ? firstId : messageId),
        isGone: async (channelId) => (await bot.memory.goneChannels()).has(channelId),
        isUnfinished: (message) => recovery.isUnfinished(message),
        recover: (channelId) => recovery.channel(channelId),
        resume: (channelId, end) => recovery.sessions(channelId, end),
        channelsDeleted: bot.channelsDeleted,
      },
      handlers: bot.handlers,
      recent,
      clock: discordTime.clock,
      logger,
    });
    if (config.page.isOn)
      page = await openPage({
        ...config.page,
        signIn: bot.signIn,
        isAlone: !isPart(shards),
        command: bot.handlers.command,
        parseCommand,
        dmOf: discord.dmOf,
        hasAccess: (userId) => people.of({ userId }),
        isOwner: (userId) => ownerIds.includes(userId),
        clock: discordTime.clock,
        logger,
      });
    const answered = bot.answered(gateway.caughtUp);
    void answered.then(opened.removeLeftovers).catch((error: unknown) => {
      logger.warn('temporary files of an earlier run could not be removed', { error });
    });
    const presentGuilds = {
      ids: gateway.guildIds,
      areKnown: gateway.hasGuild,
      findChannel: discord.places.find,
    };
    void bot.startRetention(presentGuilds, answered);
    if (isFirst(shards)) await bot.memory.workspace.checkAtStart();
    logger.info('the bot is ready', {
      botId: gateway.botId,
      owners: ownerIds,
      isOffline: model.isOffline,
    });

    metrics?.watch(() => {
      const { running, waiting } = model.openCalls;
      return { ...bot.openWork(), model_calls_running: running, model_calls_waiting: waiting };
    });
    // One that fails alone may be of a file that somebody edits just now.
    const unhealthy = () =>
      (store.lastWrite()?.failingMs ?? 0) >= unhealthyMs ? 'the store refuses all writes' : undefined;
    const unready = () => (isConnected(client) ? undefined : 'the bot is not connected to Discord');
    return {
      unhealthy,
      unready,
      commandsRegistered: gateway.commandsRegistered,
      pageLink: bot.pageLink,
      /** Whether anything is held about a person. Rejects with `StoreError`. */
      remembers: async (userId: string): Promise<boolean> =>
        (await store.list(`users/${userId}`)).some(({ path }) => path !== 'page.json'),
      /** Resolves when all messages are answered and all background work is done. */
      async idle(): Promise<void> {
        await gateway.idle();
        await bot.idle();
      },
      /**
       * Takes at most ten seconds; work that still runs then is left to the next start [G4]. With `isAtOnce` nothing
       * is finished, for where nothing can be stored any more.
       */
      async stop(isAtOnce = false): Promise<void> {
        const finished = Promise.all([gateway.stopIntake(), page?.close()])
          .then(() => Promise.all([bot.drain(isAtOnce ? 0 : drainMs), gateway.idle()]))
          .then(() => discord.reactions.close())
          .then(() => true);
        const withinMs = isAtOnce ? waitMs - drainMs : waitMs;
        if (!(await withTimeout(withinMs, finished, false)))
          logger.warn('unfinished work is left to the next start', { waitMs: withinMs });
        usage.close();
        await Promise.all([usage.flush(), spending.flush()]);
        await gateway.destroy();
        await opened.store.close();
        logger.info('the bot has stopped');
      },
    };
  } catch (error) {
    usage.close();
    await client.destroy();
    await opened.store.close();
    throw error;
  }
}

/** Opens everybody's own page [Y1], which nothing else loads. @throws {ConfigError} where the port cannot be used. */
async function openPage(options: PageOptions): Promise<Page> {
  const { startPage } = await import('../page/page.ts');
  return startPage(options).catch((error: unknown) => {
    throw unusablePort('DISCOCLAW_PAGE', options, error);
  });
}

/** Why a server could not listen, by the variables that say where. */
export function unusablePort(
  variables: string,
  { port, host }: { readonly port: number; readonly host: string },
  error: unknown,
): ConfigError {
  const reason = error instanceof Error ? error.message : String(error);
  return new ConfigError([
    errorCode(error) === 'EADDRINUSE' || errorCode(error) === 'EACCES'
      ? `${variables}_PORT: expected a free port, found ${port} (${reason})`
      : `${variables}_HOST: expected an address of this machine, found ${host} (${reason})`,
  ]);
}
