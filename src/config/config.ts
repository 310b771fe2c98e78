import type { z } from 'zod';

import type { variables } from './variables.ts';

type Themes = (typeof variables)[keyof typeof variables];
type ByName = Themes extends infer Theme
  ? Theme extends unknown
    ? { [Name in keyof Theme]: Theme[Name] }
    : never
  : never;
type Union<T> = (T extends unknown ? (value: T) => void : never) extends (value: infer All) => void
  ? All
  : never;
type AllVariables = Union<ByName>;

/** The value of each variable under its own name. */
export type Values = {
  readonly [Name in keyof AllVariables]: AllVariables[Name] extends {
    readonly schema: z.ZodType<infer Value>;
  }
    ? Value
    : never;
};

/** The frozen configuration, arranged by who uses it. */
export type Config = ReturnType<typeof arrangeConfig>;

export function arrangeConfig(values: Values) {
  return Object.freeze({
    discord: {
      token: values.DISCORD_TOKEN,
      apiUrl: values.DISCORD_API_URL,
      cdnUrl: values.DISCORD_CDN_URL ?? originOf(values.DISCORD_API_URL),
      ownerIds: values.DISCOCLAW_OWNER_IDS,
      access: values.DISCOCLAW_ACCESS,
      allowedUserIds: values.DISCORD_ALLOW_USER_IDS,
      allowedBotIds: values.DISCORD_ALLOW_BOT_IDS,
      channelIds: values.DISCORD_CHANNEL_IDS,
      actionsEnabled: values.DISCOCLAW_DISCORD_ACTIONS_ENABLED,
      commandGuildIds: values.DISCORD_COMMAND_GUILD_IDS,
      autoReplyChannelIds: values.DISCORD_AUTO_REPLY_CHANNEL_IDS,
    },
    model: {
      apiKey: values.ANTHROPIC_API_KEY,
      baseUrl: values.ANTHROPIC_BASE_URL,
      main: values.DISCOCLAW_MODEL,
      fast: values.DISCOCLAW_FAST_MODEL,
      concurrency: values.DISCOCLAW_MODEL_CONCURRENCY,
      idleTimeoutMs: values.DISCOCLAW_MODEL_IDLE_TIMEOUT_MS,
      totalTimeoutMs: values.DISCOCLAW_MODEL_TIMEOUT_MS,
    },
    prompt: {
      maxChars: values.DISCOCLAW_PROMPT_MAX_CHARS,
      historyBudget: values.DISCOCLAW_MESSAGE_HISTORY_BUDGET,
    },
    timeZone: values.DISCOCLAW_TIMEZONE,
    commandsEnabled: values.DISCOCLAW_MEMORY_COMMANDS_ENABLED,
    durable: {
      enabled: values.DISCOCLAW_DURABLE_MEMORY_ENABLED,
      injectMaxChars: values.DISCOCLAW_DURABLE_INJECT_MAX_CHARS,
      maxItems: values.DISCOCLAW_DURABLE_MAX_ITEMS,
      extractionEnabled: values.DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED,
    },
    summary: {
      enabled: values.DISCOCLAW_SUMMARY_ENABLED,
      model: values.DISCOCLAW_SUMMARY_MODEL,
      maxChars: values.DISCOCLAW_SUMMARY_MAX_CHARS,
      everyTurns: values.DISCOCLAW_SUMMARY_EVERY_N_TURNS,
    },
    shortTerm: {
      enabled: values.DISCOCLAW_SHORTTERM_MEMORY_ENABLED,
      maxEntries: values.DISCOCLAW_SHORTTERM_MAX_ENTRIES,
      maxAgeHours: values.DISCOCLAW_SHORTTERM_MAX_AGE_HOURS,
      injectMaxChars: values.DISCOCLAW_SHORTTERM_INJECT_MAX_CHARS,
    },
    recall: {
      enabled: values.DISCOCLAW_RECALL_ENABLED,
      defaultLimit: values.DISCOCLAW_RECALL_DEFAULT_LIMIT,
    },
    notebook: {
      profileMaxChars: values.DISCOCLAW_USER_PROFILE_MAX_CHARS,
      memoryMaxChars: values.DISCOCLAW_WORKSPACE_INJECT_MAX_CHARS,
      overviewMaxChars: values.DISCOCLAW_OVERVIEW_MAX_CHARS,
      indexMaxChars: values.DISCOCLAW_NOTEBOOK_INDEX_MAX_CHARS,
    },
    reflection: {
      enabled: values.DISCOCLAW_REFLECTION_ENABLED,
      idleMs: values.DISCOCLAW_REFLECTION_IDLE_MINUTES * 60_000,
      weeklyTrimEnabled: values.DISCOCLAW_WEEKLY_TRIM_ENABLED,
    },
    storage: {
      dataDir: values.DISCOCLAW_DATA_DIR,
      workspaceDir: values.DISCOCLAW_WORKSPACE_DIR,
      durableDir: values.DISCOCLAW_DURABLE_DATA_DIR,
      summaryDir: values.DISCOCLAW_SUMMARY_DATA_DIR,
      shortTermDir: values.DISCOCLAW_SHORTTERM_DATA_DIR,
    },
    logLevel: values.DISCOCLAW_LOG_LEVEL,
  });
}

/** Another server's files are taken to lie at its own address, so that one variable is enough to use it. */
function originOf(address: string | undefined): string | undefined {
  return address === undefined ? undefined : new URL(address).origin;
}
