import {
  address,
  databaseOrFiles,
  dollars,
  flag,
  host,
  ids,
  oneOf,
  origin,
  prices,
  proxy,
  secret,
  shardCount,
  shardIds,
  text,
  textOr,
  timeZone,
  wholeNumber,
} from './variable.ts';

/** All that the bot reads; `.env.example` and docs/configuration.md are generated from it by scripts/documentation.ts. */
export const variables = {
  Discord: {
    DISCORD_TOKEN: secret('The bot token. Without it, the bot runs in its own sandbox in the terminal.'),
    DISCORD_API_URL: address(
      'REST API of another Discord-compatible server, such as `http://127.0.0.1:4000/api`.',
    ),
    DISCORD_CDN_URL: address(
      "Where that server hosts attachments, if elsewhere. Discord's own hosts are always allowed.",
    ),
    DISCORD_ALLOW_USER_IDS: ids('Users who may use the bot, besides its owners.'),
    DISCORD_ALLOW_ROLE_IDS: ids('Roles that let people in, each on its server and in direct messages.'),
    DISCORD_CHANNEL_IDS: ids('The only server channels the bot works in. Grants nobody access.'),
    DISCORD_AUTO_REPLY_CHANNEL_IDS: ids('Channels where the bot answers without being mentioned.'),
    DISCORD_ALLOW_BOT_IDS: ids('Other bots to answer. What they say is never remembered.'),
    DISCORD_PROXY_APP_IDS: ids(
      'Applications whose webhook messages are looked up in the record of PluralKit (default: PluralKit; `none` switches it off).',
      '466378653216014359',
    ),
    DISCOCLAW_PLURALKIT_URL: address(
      "PluralKit's API, which is asked whose message a copy is (default: `https://api.pluralkit.me/v2`).",
    ),
    DISCOCLAW_DISCORD_ACTIONS_ENABLED: flag(
      true,
      'Let the model react, pin, create polls, start threads and send to other channels, where both speaker and bot may.',
    ),
    DISCOCLAW_OWNER_IDS: ids("The bot's owners, in place of the application's owner."),
    DISCOCLAW_ACCESS: oneOf(
      ['allowlist', 'everyone'],
      'Who may use the bot. `allowlist`: owners and people they let in; `everyone`.',
    ),
    DISCOCLAW_ACCESS_REQUESTS: flag(
      false,
      'Tell the first owner by direct message who wrote to the bot without access, with buttons: once a person, five a day.',
    ),
  },
  Shards: {
    DISCOCLAW_SHARDS: shardCount(
      'Number of gateway shards in all, or `auto` for what Discord recommends. Needed from 2,500 servers on: see docs/scale.md.',
    ),
    DISCOCLAW_SHARD_IDS: shardIds(
      'The shards that this process runs, such as `0-3` or `0,1` (default: all). Fewer than all need a database.',
    ),
  },
  Model: {
    ANTHROPIC_API_KEY: secret(
      'With neither key nor base URL, an offline stand-in answers, which is not a language model.',
    ),
    ANTHROPIC_BASE_URL: address(
      'Another server that speaks the Messages API, such as a local one: see docs/models.md.',
      /(?:\/v1)?(?:\/messages)?$/u,
    ),
    DISCOCLAW_MODEL: textOr('sonnet', 'The model that answers: `haiku`, `sonnet`, `opus` or a model id.'),
    DISCOCLAW_FALLBACK_MODEL: text(
      'The model that answers while the main one is down, unknown to the server or over its rate limit.',
    ),
    DISCOCLAW_FAST_MODEL: textOr('haiku', 'The model for automatic extraction and reflection.'),
    DISCOCLAW_MODEL_CONCURRENCY: wholeNumber(4, 1, 'Maximum number of concurrent model calls.'),
    DISCOCLAW_MODEL_IDLE_TIMEOUT_MS: wholeNumber(
      30_000,
      100,
      'Milliseconds that a response stream may stay silent.',
    ),
    DISCOCLAW_MODEL_TIMEOUT_MS: wholeNumber(
      120_000,
      100,
      'Milliseconds for a whole answer, retries included.',
    ),
    DISCOCLAW_ANSWER_MAX_TOKENS: wholeNumber(
      4096,
      256,
      'Tokens of an answer. With a model that thinks in its answer, its thoughts count too.',
    ),
    DISCOCLAW_CONTEXT_TOKENS: wholeNumber(
      0,
      0,
      'Tokens that prompt and answer may have together, for a server that cuts longer ones without a word (0: as many as the server takes).',
    ),
  },
  Network: {
    HTTPS_PROXY: proxy('Proxy for the model and for Discord, the gateway aside (default: `HTTP_PROXY`).'),
    HTTP_PROXY: proxy('Proxy for servers that are reached by plain http, such as a model in your network.'),
    NO_PROXY: text(
      'Hosts that are reached without a proxy, separated by commas, `.example.com` for all below it. This machine always is.',
    ),
  },
  'Voice messages': {
    DISCOCLAW_TRANSCRIBE_URL: address(
      'An OpenAI-compatible server that transcribes voice messages, local or not, such as `https://api.openai.com/v1`: see docs/models.md.',
    ),
    DISCOCLAW_TRANSCRIBE_KEY: secret('Its key, if it wants one.'),
    DISCOCLAW_TRANSCRIBE_MODEL: textOr('whisper-1', 'The model that it uses.'),
    DISCOCLAW_TRANSCRIBE_PRICE: dollars(
      'What a minute costs in US dollars, 0 for nothing. A limit on cost needs it.',
      0,
    ),
  },
  Limits: {
    DISCOCLAW_RATE_PER_MINUTE: wholeNumber(
      10,
      0,
      'Turns that one person may begin per minute; what they write beyond that is answered together later. 0 sets no limit.',
    ),
    DISCOCLAW_DAILY_COST_USD: dollars(
      'Maximum cost of all model calls per day, in US dollars (default: no limit).',
    ),
    DISCOCLAW_DAILY_COST_PER_PERSON_USD: dollars(
      "Maximum cost of one person's answers, and of notes and summaries of them, per day (default: no limit).",
    ),
    DISCOCLAW_MODEL_PRICES: prices(
      'Model prices, if unknown to the bot or not the list price, in US dollars per million tokens: `model=input/output`, separated by commas.',
    ),
  },
  Prompt: {
    DISCOCLAW_PROMPT_MAX_CHARS: wholeNumber(
      40_000,
      1000,
      'Maximum characters of the system prompt and messages together.',
    ),
    DISCOCLAW_MESSAGE_HISTORY_BUDGET: wholeNumber(
      3000,
      0,
      'Maximum characters of message history in a prompt.',
    ),
    DISCOCLAW_TIMEZONE: timeZone(
      "Time zone for dates and times, such as Europe/Berlin, Tokyo or UTC+2 (default: the machine's).",
    ),
  },
  'Durable items': {
    DISCOCLAW_DURABLE_MEMORY_ENABLED: flag(true, 'Keep durable items about people and use them in answers.'),
    DISCOCLAW_DURABLE_INJECT_MAX_CHARS: wholeNumber(2000, 0, 'Maximum characters of items in a prompt.'),
    DISCOCLAW_DURABLE_MAX_ITEMS: wholeNumber(200, 1, 'Maximum number of active items per user.'),
    DISCOCLAW_MEMORY_MODE: oneOf(
      ['auto', 'ask', 'off'],
      'Mode of people who have not chosen with `!memory mode`: notice what they say about themselves, ask first, or notice nothing.',
    ),
    DISCOCLAW_MEMORY_COMMANDS_ENABLED: flag(true, 'Answer `!memory` and `/memory`.'),
    DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: flag(
      false,
      'Automatically extract items from what people say about themselves.',
    ),
  },
  'Rolling summary': {
    DISCOCLAW_SUMMARY_ENABLED: flag(true, 'Keep a rolling summary of each conversation.'),
    DISCOCLAW_SUMMARY_MODEL: text('The model that writes summaries (default: `DISCOCLAW_FAST_MODEL`).'),
    DISCOCLAW_SUMMARY_MAX_CHARS: wholeNumber(2000, 200, 'Maximum characters of a summary.'),
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: wholeNumber(5, 1, 'Number of turns between summary updates.'),
  },
  'Short-term memory': {
    DISCOCLAW_SHORTTERM_MEMORY_ENABLED: flag(false, 'Remember recent exchanges across public channels.'),
    DISCOCLAW_SHORTTERM_MAX_ENTRIES: wholeNumber(20, 1, 'Exchanges kept per user and server.'),
    DISCOCLAW_SHORTTERM_MAX_AGE_HOURS: wholeNumber(6, 1, 'Hours after which an exchange is dropped.'),
    DISCOCLAW_SHORTTERM_INJECT_MAX_CHARS: wholeNumber(
      1000,
      0,
      'Maximum characters of exchanges in a prompt.',
    ),
  },
  Notebook: {
    DISCOCLAW_WORKSPACE_DIR: textOr('./workspace', "Folder with SOUL.md and the owner's notebook."),
    DISCOCLAW_USER_PROFILE_MAX_CHARS: wholeNumber(4000, 0, 'Maximum characters of USER.md in a DM prompt.'),
    DISCOCLAW_WORKSPACE_INJECT_MAX_CHARS: wholeNumber(
      4000,
      0,
      'Maximum characters of MEMORY.md in a DM prompt.',
    ),
    DISCOCLAW_OVERVIEW_MAX_CHARS: wholeNumber(
      1500,
      0,
      "Maximum characters of the bot's notes on a conversation in a prompt.",
    ),
    DISCOCLAW_NOTEBOOK_INDEX_MAX_CHARS: wholeNumber(
      1000,
      0,
      'Maximum characters of the list of notebook files in a prompt.',
    ),
    DISCOCLAW_RECALL_ENABLED: flag(true, 'Let the model search what a person has said and noted.'),
    DISCOCLAW_RECALL_DEFAULT_LIMIT: wholeNumber(20, 1, 'Passages that a search returns by default.'),
    DISCOCLAW_REFLECTION_ENABLED: flag(true, 'Let the fast model look back on conversations and keep notes.'),
    DISCOCLAW_REFLECTION_IDLE_MINUTES: wholeNumber(
      30,
      0,
      'Minutes without a message before the bot reflects on a conversation.',
    ),
    DISCOCLAW_WEEKLY_TRIM_ENABLED: flag(
      false,
      'Let the fast model move less essential lines of an overlong USER.md to topics once a week.',
    ),
  },
  Storage: {
    DISCOCLAW_STORE: databaseOrFiles(
      '`files`, or a PostgreSQL database as `postgres://user:password@host/database`: see docs/scale.md.',
    ),
    DISCOCLAW_DATA_DIR: textOr('./data', 'Folder for everything the bot remembers.'),
    DISCOCLAW_PERSON_QUOTA_MB: wholeNumber(
      50,
      1,
      'Megabytes on disk per person. Beyond it, their oldest messages and replaced summaries go, never items.',
    ),
    DISCOCLAW_RETENTION_DAYS: wholeNumber(
      0,
      0,
      'Days after which messages, and what was derived from them alone, are deleted; 0 keeps them.',
      36_500,
    ),
    DISCOCLAW_NO_MEMORY_CHANNELS: ids(
      'Channels, categories and forums where nothing is stored, threads included, whatever `/settings` says.',
    ),
    DISCOCLAW_DURABLE_DATA_DIR: text('A separate folder for durable items.'),
    DISCOCLAW_SUMMARY_DATA_DIR: text('A separate folder for session state, summaries included.'),
    DISCOCLAW_SHORTTERM_DATA_DIR: text('A separate folder for short-term memory.'),
    DISCOCLAW_HTTP_PORT: wholeNumber(
      0,
      0,
      'A port for `/healthz`, `/readyz` and `/metrics`; 0 opens none.',
      65_535,
    ),
    DISCOCLAW_HTTP_HOST: host(),
    DISCOCLAW_PAGE_PORT: wholeNumber(
      0,
      0,
      "A port for everybody's own page in the browser: see docs/page.md; 0 opens none.",
      65_535,
    ),
    DISCOCLAW_PAGE_HOST: host(),
    DISCOCLAW_PAGE_URL: origin('Where people reach it, such as `https://memory.example.org`.'),
    DISCOCLAW_PAGE_MCP: flag(
      false,
      'Let people have their own memory read by other assistants (MCP), by tokens that they make there.',
    ),
    DISCOCLAW_LOG_LEVEL: oneOf(['info', 'debug', 'warn', 'error'], 'Minimum log level.'),
  },
} as const;
