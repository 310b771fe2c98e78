import { createCommandSet } from './commands/command-set.ts';
import type { CommandSet } from './commands/command-set.ts';
import { createMemoryCommand } from './commands/memory-command.ts';
import type { Memory } from './compose-memory.ts';
import type { Config } from './config/config.ts';
import type { Logger } from './core/logger.ts';

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
    timeZone: config.timeZone,
    logger,
  });
  return createCommandSet(config.commandsEnabled ? [memoryCommand] : []);
}
