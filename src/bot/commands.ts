import { type CatchupPorts, catchupDefinition, createCatchupCommand } from '../commands/catchup-command.ts';
import { type CommandSet, createCommandSet, createMenuEntries, menuNames } from '../commands/commands.ts';
import { createMemoryCommand, memoryDefinition } from '../commands/memory-command.ts';
import type { PrivacyFacts } from '../commands/memory-ports.ts';
import { createSettingsCommand, settingsDefinition } from '../commands/settings-command.ts';
import type { ModelChoice } from '../commands/settings-model.ts';
import { type StatusFacts, createStatusCommand, statusDefinition } from '../commands/status-command.ts';
import type { BotPorts } from './bot-ports.ts';
import type { Memory } from './layers.ts';
import type { Config } from '../config/config.ts';
import { letInByConfig } from '../discord/access.ts';
import type { AnswerMode, ChannelPort, DirectMessage } from '../core/chat.ts';
import { countHoldings, countNotesSaying, countSaying } from '../memory/holdings.ts';
import { limits } from '../core/limits.ts';
import type { Place } from '../core/place.ts';
import { mayUse, pickReach } from '../core/visibility.ts';
import type { PagePerson } from '../page/sign-in.ts';
import { itemMaxChars } from '../memory/durable/document.ts';
import { type Outbox, saveBestEffort } from '../turn/outbox.ts';

export interface CommandPorts extends Pick<
  BotPorts,
  'directMessages' | 'readAttachment' | 'server' | 'page' | 'others' | 'ownerIds' | 'logger'
> {
  readonly outbox: Pick<Outbox, 'isHidden' | 'hide'>;
  readonly modelChoice: ModelChoice;
  readonly tellOfChannel: CatchupPorts['tell'];
  readonly channels: Pick<ChannelPort, 'personMay'>;
  /** Without it there is no status command. */
  readonly readStatus: (() => Promise<StatusFacts>) | undefined;
}

export function createCommands(config: Config, memory: Memory, ports: CommandPorts): CommandSet {
  const { outbox, directMessages, readAttachment, server, channels, logger, readStatus } = ports;
  const memoryPorts = {
    ...memory,
    settings: {
      durableEnabled: config.durable.enabled,
      itemMaxChars,
      recallEnabled: config.recall.enabled,
      summaryEnabled: config.summary.enabled,
      summaryMaxChars: config.summary.maxChars,
      shortTermEnabled: config.shortTerm.enabled,
      shortTermMaxChars: config.shortTerm.injectMaxChars,
    },
    async answersTo(userId: string) {
      const elsewhere = (await ports.others?.ask('sizesOf', [userId])) ?? [];
      const all = [...memory.provenance.sizesOf(userId), ...elsewhere.flat()];
      return all.toSorted((a, b) => (a.at < b.at ? 1 : -1)).slice(0, limits.answerSizes.answers);
    },
    pageLink: async (person: PagePerson) => ports.page?.linkFor(person),
    privacyText: memory.workspace.privacyText,
    privacyFacts: async () => privacyFacts(config, await ports.modelChoice.current()),
    isMemoryOff: memory.placeSettings.isMemoryOff,
    personMay: channels.personMay,
    titleOf: (guildId: string) => server.titleOf(guildId),
    logged: memory.sessionLog.message,
    mentions: (userId: string, words: string, place: Place) =>
      memory.sessionLog.mentions(userId, words, (message) =>
        mayUse({ ownerId: userId, ...pickReach(message) }, place, userId),
      ),
    sessionsOf: memory.sessionLog.sessionsOfPerson,
    isHidden: outbox.isHidden,
    sendDirect: (userId: string, messages: readonly DirectMessage[], nonceBase: string) =>
      directMessages.send(userId, messages, nonceBase, (channelId, messageId) =>
        saveBestEffort(logger, 'messages hidden from history', () => outbox.hide(channelId, [messageId])),
      ),
    readAttachment,
    holdings: (userId: string) => countHoldings(userId, memory),
    erase: async (userId: string, at: string) => ({
      isDone: (await memory.changes.erase(userId, at)).size === 0,
    }),
    saying: (userId: string, words: string) =>
      countSaying(userId, words, { ...memory, noted: [memory.rolling, memory.notes, memory.channelNotes] }),
    notesSaying: (userId: string, words: string) => countNotesSaying(userId, words, [memory.notes]),
    async purge(userId: string, words: string, commandId: string) {
      // Otherwise undo could bring back what was forgotten before.
      await memory.undo.expireAll(userId);
      const { failures, messages } = await memory.changes.purge({ userId, words, commandId });
      return { messages, isDone: failures.size === 0 };
    },
    deleteOwnMessages: (channelId: string, before: string) => directMessages.deleteOwn(channelId, before),
    logger,
  };
  const settings = createSettingsCommand({
    placeSettings: memory.placeSettings,
    botSettings: memory.botSettings,
    modelChoice: ports.modelChoice,
    configured: {
      access: config.discord.access,
      owners: () => ports.ownerIds().map((id) => `<@${id}>`),
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
  const statusPage = async (person: PagePerson) => ports.page?.linkFor(person, '/status');
  const status = readStatus === undefined ? [] : [createStatusCommand(readStatus, statusPage)];
  const ofMemory = config.commandsEnabled ? [createMemoryCommand(memoryPorts)] : [];
  return createCommandSet(
    [...ofMemory, catchup, settings, ...status],
    config.commandsEnabled ? createMenuEntries(memoryPorts) : [],
    logger,
    memory.greeting,
    memory.setAside,
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
