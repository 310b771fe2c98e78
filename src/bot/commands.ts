import program from '../../package.json' with { type: 'json' };

import { askDefinition, createAskCommand } from '../commands/ask-command.ts';
import { type CatchupPorts, catchupDefinition, createCatchupCommand } from '../commands/catchup-command.ts';
import { type CommandSet, createCommandSet, createMenuEntries, menuNames } from '../commands/commands.ts';
import { createMemoryCommand, memoryDefinition } from '../commands/memory-command.ts';
import type { MemoryCommandPorts, PrivacyFacts } from '../commands/memory-ports.ts';
import {
  createRemindCommand,
  createRemindersCommand,
  remindDefinition,
  remindMenu,
  remindersDefinition,
} from '../commands/remind-command.ts';
import { createSettingsCommand, settingsDefinition } from '../commands/settings-command.ts';
import type { ModelChoice } from '../commands/settings-owner.ts';
import { type StatusFacts, createStatusCommand, statusDefinition } from '../commands/status-command.ts';
import type { BotPorts, DiscordPorts, StatusSources } from './bot-ports.ts';
import type { Memory } from './layers.ts';
import type { Config } from '../config/config.ts';
import { letInByConfig } from '../discord/access.ts';
import type { AnswerMode } from '../core/channels.ts';
import type { Place } from '../core/place.ts';
import { dataLine } from '../core/section.ts';
import type { Store } from '../core/store.ts';
import type { Clock } from '../core/time.ts';
import { askers, type BotSettings } from '../memory/settings/bot-settings.ts';
import { priceListDate } from '../model/anthropic/models.ts';
import type { PagePath, PagePerson } from '../page/sign-in.ts';
import { type Outbox, saveBestEffort } from '../turn/outbox.ts';

export interface CommandPorts extends Pick<BotPorts, 'ownerIds' | 'logger'> {
  readonly discord: Pick<DiscordPorts, 'directMessages' | 'attachments' | 'readReplied' | 'server'>;
  readonly outbox: Pick<Outbox, 'isHidden' | 'hide'>;
  readonly pageLink: (person: PagePerson, path?: PagePath) => Promise<string | undefined>;
  readonly modelChoice: ModelChoice;
  readonly tellOfChannel: CatchupPorts['tell'];
  /** Without it there is no status command. */
  readonly readStatus: (() => Promise<StatusFacts>) | undefined;
}

export function createCommands(config: Config, memory: Memory, ports: CommandPorts): CommandSet {
  const { outbox, logger, readStatus } = ports;
  const { directMessages, attachments, readReplied, server } = ports.discord;
  const memoryPorts: MemoryCommandPorts = {
    memory,
    discord: {
      sendDirect: (userId, messages, nonceBase) =>
        directMessages.send(userId, messages, nonceBase, (channelId, messageId) =>
          saveBestEffort(logger, 'messages hidden from history', () => outbox.hide(channelId, [messageId])),
        ),
      deleteOwn: (channelId, before) => directMessages.deleteOwn(channelId, before),
      readAttachment: attachments.read,
      readReplied,
      isHidden: outbox.isHidden,
      titleOf: (guildId) => server.titleOf(guildId),
      pageLink: ports.pageLink,
    },
    config,
    privacyFacts: async () => privacyFacts(config, await ports.modelChoice.current()),
    logger,
  };
  const settings = createSettingsCommand({
    placeSettings: memory.placeSettings,
    botSettings: memory.botSettings,
    modelChoice: ports.modelChoice,
    configured: {
      access: config.discord.access,
      owners: ports.ownerIds.map((id) => `<@${id}>`),
      letIn: letInByConfig(config.discord),
    },
    server,
    defaults: {
      answer: (place) => defaultAnswerMode(config, place),
      actionsEnabled: config.discord.actionsEnabled,
    },
  });
  const reminding = [createRemindCommand(memory), createRemindersCommand(memory)];
  const catchup = createCatchupCommand({
    tell: ports.tellOfChannel,
    timesPerMinute: config.limits.turnsPerMinute,
    timeZone: config.timeZone,
    now: () => performance.now(),
  });
  const statusPage = (person: PagePerson) => ports.pageLink(person, '/status');
  const status = readStatus === undefined ? [] : [createStatusCommand(readStatus, statusPage)];
  const ofMemory = config.commandsEnabled ? [createMemoryCommand(memoryPorts)] : [];
  return createCommandSet(
    [...ofMemory, createAskCommand(), ...reminding, catchup, settings, ...status],
    config.commandsEnabled ? createMenuEntries(memoryPorts) : {},
    logger,
    memory.oneTimeNotices,
    remindMenu,
  );
}

/** What is registered with Discord: the commands of {@link createCommands}, status included. */
export function registeredCommands({ commandsEnabled }: Pick<Config, 'commandsEnabled'>) {
  return {
    definitions: [
      ...(commandsEnabled ? [memoryDefinition] : []),
      askDefinition,
      remindDefinition,
      remindersDefinition,
      catchupDefinition,
      settingsDefinition,
      statusDefinition,
    ],
    menuNames: [...(commandsEnabled ? menuNames : []), ...Object.keys(remindMenu)],
  };
}

function privacyFacts(config: Config, main: string): PrivacyFacts {
  const { model, transcription, durable, summary, shortTerm, reflection, storage } = config;
  const { appIds, pluralKitUrl } = config.discord.proxied;
  const { apiKey, baseUrl, fallback, fast } = model;
  const name = baseUrl === undefined ? "Anthropic's API" : `the model server at ${new URL(baseUrl).host}`;
  return {
    provider:
      apiKey === undefined && baseUrl === undefined
        ? undefined
        : { name, models: [main, fallback, fast].filter((each) => each !== undefined) },
    hearingHost: transcription.url === undefined ? undefined : new URL(transcription.url).host,
    proxyHost: appIds.length === 0 ? undefined : new URL(pluralKitUrl).host,
    hasMcp: config.page.isOn && config.page.hasMcp,
    isInDatabase: storage.databaseUrl !== undefined,
    layers: {
      durable: durable.enabled,
      extraction: durable.enabled && durable.extractionEnabled,
      summary: summary.enabled,
      reflection: reflection.enabled,
      recentHours: shortTerm.enabled ? shortTerm.maxAgeHours : undefined,
    },
    retentionDays: storage.retentionDays,
    quotaMegabytes: storage.personQuotaBytes / (1024 * 1024),
  };
}

function defaultAnswerMode(
  { discord }: Config,
  { channelId, parentId }: Place,
): { readonly value: AnswerMode; readonly from: string } {
  const listed = discord.autoReplyChannelIds.some((id) => id === channelId || id === parentId);
  return listed
    ? { value: 'everything', from: 'DISCORD_AUTO_REPLY_CHANNEL_IDS' }
    : { value: 'mentions', from: 'nothing is set' };
}

const folders = ['users', 'sessions', 'channels', 'guilds'] as const;

/** Reads this process's status; leaves out what the store cannot tell. */
export function createReadStatus(
  config: Config,
  ports: {
    readonly store: Pick<Store, 'list'>;
    readonly botSettings: Pick<BotSettings, 'read'>;
    readonly clock: Clock;
    readonly mainModel: () => Promise<string>;
    readonly queues: () => Pick<StatusFacts, 'turns' | 'afterTurn' | 'writes' | 'unwritten' | 'noRoomFor'>;
    readonly sources: StatusSources;
  },
): () => Promise<StatusFacts> {
  const { store, clock, mainModel, sources } = ports;
  const startedAt = clock().getTime();
  return async () => {
    const [main, letIn, settings, usage, kept, quarantined] = await Promise.all([
      mainModel(),
      sources.letIn?.(),
      ports.botSettings.read().catch(unknown),
      sources.usage().catch(unknown),
      keptIn(store).catch(unknown),
      sources.quarantined().catch(unknown),
    ]);
    const now = clock();
    const { fast } = config.model;
    return {
      version: program.version,
      upMs: now.getTime() - startedAt,
      now,
      models: sources.model.isOffline ? undefined : { main, fast },
      modelState: sources.model.state,
      refused: sources.model.refused,
      modelLimits: sources.model.limitsOf?.(main),
      ...sources.gateway(),
      letIn: letIn?.map(dataLine),
      askers: settings && askers(settings, 'waiting'),
      ...ports.queues(),
      modelCalls: sources.model.openCalls,
      pricesOf:
        Object.keys(config.model.prices).length === 0 ? priceListDate : `${priceListDate} and your own`,
      lastWrite: sources.lastWrite(),
      usage,
      kept,
      quarantined,
    };
  };
}

const unknown = () => undefined;

async function keptIn(store: Pick<Store, 'list'>) {
  const lists = await Promise.all(folders.map((folder) => store.list(folder)));
  const [users = [], sessions = []] = lists.map((files) => files.map(({ path }) => path.split('/')));
  const people = [...users.map(([userId]) => userId), ...sessions.map(([, userId]) => userId)];
  const files = lists.flat();
  return {
    sessions: new Set(sessions.map(([channelId, userId]) => `${channelId}/${userId}`)).size,
    users: new Set(people).size,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
