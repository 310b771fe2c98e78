import { type CatchupPorts, catchupDefinition, createCatchupCommand } from '../commands/catchup-command.ts';
import { type CommandSet, createCommandSet, createMenuEntries, menuNames } from '../commands/commands.ts';
import { createMemoryCommand, memoryDefinition } from '../commands/memory-command.ts';
import type { MemoryCommandPorts, PrivacyFacts } from '../commands/memory-ports.ts';
import { createSettingsCommand, settingsDefinition } from '../commands/settings-command.ts';
import type { ModelChoice } from '../commands/settings-owner.ts';
import { type StatusFacts, createStatusCommand, statusDefinition } from '../commands/status-command.ts';
import type { BotPorts, DiscordPorts } from './bot-ports.ts';
import type { Memory } from './layers.ts';
import type { Config } from '../config/config.ts';
import { letInByConfig } from '../discord/access.ts';
import type { AnswerMode } from '../core/channels.ts';
import type { Place } from '../core/place.ts';
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
    [...ofMemory, catchup, settings, ...status],
    config.commandsEnabled ? createMenuEntries(memoryPorts) : {},
    logger,
    memory.oneTimeNotices,
  );
}

/** What is registered with Discord: the commands of {@link createCommands}, status included. */
export function registeredCommands({ commandsEnabled }: Pick<Config, 'commandsEnabled'>) {
  return {
    definitions: [
      ...(commandsEnabled ? [memoryDefinition] : []),
      catchupDefinition,
      settingsDefinition,
      statusDefinition,
    ],
    menuNames: commandsEnabled ? menuNames : [],
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
