import { createCommandSet, type CommandSet } from '../commands/commands.ts';
import { createMemoryCommand } from '../commands/memory-command.ts';
import { createMenuEntries } from '../commands/menus.ts';
import { createSettingsCommand } from '../commands/settings-command.ts';
import { createStatusCommand, type StatusFacts } from '../commands/status-command.ts';
import type { Memory } from './layers.ts';
import type { Config } from '../config/config.ts';
import type { AnswerMode, ServerPort } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import type { Place, SessionKey } from '../core/place.ts';
import type { ChannelJournal } from '../turn/journal.ts';

/** Characters of one durable item at most [K2]. */
const itemMaxChars = 500;

export interface CommandPorts {
  readonly journal: Pick<ChannelJournal, 'isHidden'>;
  readonly server: ServerPort;
  readonly logger: Logger;
  /** Without it there is no status command. */
  readonly readStatus: (() => Promise<StatusFacts>) | undefined;
}

/** All commands that are switched on. */
export function createCommands(config: Config, memory: Memory, ports: CommandPorts): CommandSet {
  const { journal, server, logger, readStatus } = ports;
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
    isMemoryOff: memory.placeSettings.isMemoryOff,
    logged: (session: SessionKey, messageId: string) => memory.sessionLog.message(session, messageId),
    isHidden: (channelId: string, messageId: string) => journal.isHidden(channelId, messageId),
    logger,
  };
  const settings = createSettingsCommand({
    placeSettings: memory.placeSettings,
    server,
    defaults: {
      answer: (place) => defaultAnswerMode(config, place),
      actionsEnabled: config.discord.actionsEnabled,
    },
  });
  const status = readStatus === undefined ? [] : [createStatusCommand(readStatus)];
  return config.commandsEnabled
    ? createCommandSet(
        [createMemoryCommand(memoryPorts), settings, ...status],
        createMenuEntries(memoryPorts),
        logger,
      )
    : createCommandSet([settings, ...status], [], logger);
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
