import { createCommandSet } from './commands/command-set.ts';
import type { CommandSet } from './commands/command-set.ts';
import { createMemoryCommand } from './commands/memory-command.ts';
import { createSettingsCommand } from './commands/settings-command.ts';
import type { Memory } from './compose-memory.ts';
import type { Config } from './config/config.ts';
import type { AnswerMode } from './core/chat.ts';
import type { Logger } from './core/logger.ts';
import type { Place } from './core/place.ts';

/** Characters of one durable item at most [K2]. */
const itemMaxChars = 500;

/** All commands that are switched on. */
export function composeCommands(config: Config, memory: Memory, logger: Logger): CommandSet {
  const memoryCommand = createMemoryCommand({
    durable: memory.durable,
    rolling: memory.rolling,
    shortTerm: memory.shortTerm,
    settings: {
      durableEnabled: config.durable.enabled,
      itemMaxChars,
      summaryEnabled: config.summary.enabled,
      summaryMaxChars: config.summary.maxChars,
      shortTermEnabled: config.shortTerm.enabled,
      shortTermMaxChars: config.shortTerm.injectMaxChars,
    },
    isMemoryOff: memory.placeSettings.isMemoryOff,
    timeZone: config.timeZone,
    logger,
  });
  const settingsCommand = createSettingsCommand({
    placeSettings: memory.placeSettings,
    defaults: { answer: (place) => defaultAnswerMode(config, place), actionsEnabled: true },
    logger,
  });
  return createCommandSet([...(config.commandsEnabled ? [memoryCommand] : []), settingsCommand]);
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
