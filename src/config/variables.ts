import { address, flag, ids, oneOf, secret, text, textOr, timeZone, wholeNumber } from './variable.ts';

/**
 * Every environment variable that the bot reads, by theme. `.env.example` and the README's table are generated from this.
 */
export const variables = {
  Discord: {
    DISCORD_TOKEN: secret({
      about: 'The bot token. Without it the bot runs in its own sandbox, in the terminal.',
    }),
    DISCORD_API_URL: address({
      about: 'REST address of another Discord-compatible server, such as `http://127.0.0.1:4000/api`.',
    }),
    DISCORD_CDN_URL: address({
      about:
        "Where that server keeps attached files, if not at the same address; Discord's own hosts are always allowed.",
    }),
    DISCORD_ALLOW_USER_IDS: ids({ about: 'People who may use the bot besides its owner.' }),
    DISCORD_CHANNEL_IDS: ids({
      about: 'If set, the only guild channels the bot works in. Grants nobody access.',
    }),
    DISCORD_AUTO_REPLY_CHANNEL_IDS: ids({ about: 'Channels where it answers without being mentioned.' }),
    DISCORD_ALLOW_BOT_IDS: ids({ about: 'Other bots that it answers; what they say is never remembered.' }),
    DISCOCLAW_DISCORD_ACTIONS_ENABLED: flag(true, {
      about:
        'Let the model react, pin, make polls, start threads and send to other channels, where speaker and bot both may.',
    }),
    DISCORD_COMMAND_GUILD_IDS: ids({
      about: 'For development: register commands for these guilds only, where changes show at once.',
    }),
    DISCOCLAW_OWNER_IDS: ids({ about: "The bot's owners, instead of the application's owner." }),
    DISCOCLAW_ACCESS: oneOf(['allowlist', 'everyone'], {
      about: 'Who may use the bot: owners and allowed people, or everyone.',
    }),
  },
  Model: {
    ANTHROPIC_API_KEY: secret({
      about: 'Without key and base URL the offline stand-in answers, which is no language model.',
    }),
    ANTHROPIC_BASE_URL: address({ about: 'Any server that speaks the Messages API.' }),
    DISCOCLAW_MODEL: textOr('sonnet', {
      about: 'The model that answers: `haiku`, `sonnet`, `opus` or a model id.',
    }),
    DISCOCLAW_FAST_MODEL: textOr('haiku', {
      about: 'The model for automatic extraction and for looking back.',
    }),
    DISCOCLAW_MODEL_CONCURRENCY: wholeNumber(4, 1, { about: 'Model calls at the same time.' }),
    DISCOCLAW_MODEL_IDLE_TIMEOUT_MS: wholeNumber(30_000, 100, {
      about: 'Milliseconds a stream may be silent.',
    }),
    DISCOCLAW_MODEL_TIMEOUT_MS: wholeNumber(120_000, 100, {
      about: 'Milliseconds for a whole answer, retries included.',
    }),
  },
  Prompt: {
    DISCOCLAW_PROMPT_MAX_CHARS: wholeNumber(40_000, 1000, {
      about: 'Characters of system text and messages together.',
    }),
    DISCOCLAW_MESSAGE_HISTORY_BUDGET: wholeNumber(3000, 0, { about: 'Characters of earlier messages.' }),
    DISCOCLAW_TIMEZONE: timeZone({
      about: "IANA time zone of dates and clock times (default: the machine's).",
    }),
  },
  'Durable items': {
    DISCOCLAW_DURABLE_MEMORY_ENABLED: flag(true, { about: 'Keep items about people and use them.' }),
    DISCOCLAW_DURABLE_INJECT_MAX_CHARS: wholeNumber(2000, 0, { about: 'Characters of items in a prompt.' }),
    DISCOCLAW_DURABLE_MAX_ITEMS: wholeNumber(200, 1, { about: 'Active items a person at most.' }),
    DISCOCLAW_MEMORY_COMMANDS_ENABLED: flag(true, { about: 'Answer `!memory` and `/memory`.' }),
    DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: flag(false, {
      about: 'Extract items from what people say about themselves.',
    }),
  },
  'Rolling summary': {
    DISCOCLAW_SUMMARY_ENABLED: flag(true, { about: 'Keep a rolling summary of each conversation.' }),
    DISCOCLAW_SUMMARY_MODEL: textOr('haiku', { about: 'The model that writes summaries.' }),
    DISCOCLAW_SUMMARY_MAX_CHARS: wholeNumber(2000, 200, { about: 'Characters of a summary.' }),
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: wholeNumber(5, 1, { about: 'Turns between two summaries.' }),
  },
  'Short-term memory': {
    DISCOCLAW_SHORTTERM_MEMORY_ENABLED: flag(false, {
      about: 'Remember recent exchanges across public channels.',
    }),
    DISCOCLAW_SHORTTERM_MAX_ENTRIES: wholeNumber(20, 1, { about: 'Exchanges kept a person and guild.' }),
    DISCOCLAW_SHORTTERM_MAX_AGE_HOURS: wholeNumber(6, 1, {
      about: 'Hours after which an exchange is dropped.',
    }),
    DISCOCLAW_SHORTTERM_INJECT_MAX_CHARS: wholeNumber(1000, 0, {
      about: 'Characters of exchanges in a prompt.',
    }),
  },
  Notebook: {
    DISCOCLAW_WORKSPACE_DIR: textOr('./workspace', { about: "Folder of SOUL.md and the owner's notebook." }),
    DISCOCLAW_USER_PROFILE_MAX_CHARS: wholeNumber(4000, 0, { about: 'Characters of USER.md in a DM.' }),
    DISCOCLAW_WORKSPACE_INJECT_MAX_CHARS: wholeNumber(4000, 0, { about: 'Characters of MEMORY.md in a DM.' }),
    DISCOCLAW_OVERVIEW_MAX_CHARS: wholeNumber(1500, 0, {
      about: "Characters of the bot's notes on a conversation.",
    }),
    DISCOCLAW_NOTEBOOK_INDEX_MAX_CHARS: wholeNumber(1000, 0, {
      about: 'Characters of the list of notebook files.',
    }),
    DISCOCLAW_RECALL_ENABLED: flag(true, {
      about: 'Let the model search what a person said and noted.',
    }),
    DISCOCLAW_RECALL_DEFAULT_LIMIT: wholeNumber(5, 1, {
      about: 'Passages that a search gives where the model does not say how many.',
    }),
    DISCOCLAW_REFLECTION_ENABLED: flag(true, {
      about: 'Look back on conversations with the fast model, and keep notes on them.',
    }),
    DISCOCLAW_REFLECTION_IDLE_MINUTES: wholeNumber(30, 0, {
      about: 'Minutes without a message after which a conversation is looked back on.',
    }),
    DISCOCLAW_WEEKLY_TRIM_ENABLED: flag(false, {
      about: 'Once a week, let the fast model move less essential lines of an overlong USER.md to topics.',
    }),
    DISCOCLAW_RECENT_LOG_DAYS: text({ about: 'Old; accepted and ignored.' }),
  },
  Storage: {
    DISCOCLAW_DATA_DIR: textOr('./data', { about: 'Folder of everything the bot remembers.' }),
    DISCOCLAW_DURABLE_DATA_DIR: text({ about: 'Another folder for durable items.' }),
    DISCOCLAW_SUMMARY_DATA_DIR: text({
      about: 'Another folder for the state of sessions, summaries included.',
    }),
    DISCOCLAW_SHORTTERM_DATA_DIR: text({ about: 'Another folder for short-term memory.' }),
    DISCOCLAW_LOG_LEVEL: oneOf(['info', 'debug', 'warn', 'error'], { about: 'Least level of log lines.' }),
  },
} as const;
