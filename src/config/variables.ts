import {
  address,
  databaseOrFiles,
  dollars,
  flag,
  host,
  ids,
  oneOf,
  prices,
  secret,
  shardCount,
  shardIds,
  text,
  textOr,
  timeZone,
  wholeNumber,
  type Variable,
} from './variable.ts';

/**
 * Every environment variable that the bot reads. `.env.example` and the table in docs/configuration.md are
 * generated from this.
 */
export const variables = {
  Discord: {
    DISCORD_TOKEN: secret('The bot token. Without it, the bot runs in its own sandbox in the terminal.'),
    DISCORD_API_URL: address(
      'REST API address of another Discord-compatible server, such as `http://127.0.0.1:4000/api`.',
    ),
    DISCORD_CDN_URL: address(
      "Where that server hosts attachments, if not at the same address. Discord's own hosts are always allowed.",
    ),
    DISCORD_ALLOW_USER_IDS: ids('Users who may use the bot, besides its owners.'),
    DISCORD_CHANNEL_IDS: ids('If set, the only server channels the bot works in. Grants nobody access.'),
    DISCORD_AUTO_REPLY_CHANNEL_IDS: ids('Channels where the bot answers without being mentioned.'),
    DISCORD_ALLOW_BOT_IDS: ids('Other bots that the bot answers. What they say is never remembered.'),
    DISCOCLAW_DISCORD_ACTIONS_ENABLED: flag(
      true,
      'Let the model react, pin, create polls, start threads and send to other channels, wherever both the speaker and the bot may.',
    ),
    DISCOCLAW_OWNER_IDS: ids("The bot's owners, in place of the application's owner."),
    DISCOCLAW_ACCESS: oneOf(
      ['allowlist', 'everyone'],
      'Who may use the bot: owners and allowed users only, or everyone.',
    ),
  },
  Shards: {
    DISCOCLAW_SHARDS: shardCount(
      'Into how many shards the gateway is divided in all: a number, or `auto` for what Discord recommends. Discord asks for them from 2,500 servers on: see docs/scale.md.',
    ),
    DISCOCLAW_SHARD_IDS: shardIds(
      'On one of several machines, the shards that it runs, such as `0-3` (default: all).',
    ),
    DISCOCLAW_PROCESSES: wholeNumber(
      1,
      1,
      "Over how many processes this machine's shards are spread. More than one needs a database.",
      1000,
    ),
  },
  Model: {
    ANTHROPIC_API_KEY: secret(
      'If neither a key nor a base URL is set, an offline stand-in answers, which is not a language model.',
    ),
    ANTHROPIC_BASE_URL: address(
      'Any server that speaks the Messages API, also in part, such as a local one: see docs/models.md.',
    ),
    DISCOCLAW_MODEL: textOr('sonnet', 'The model that answers: `haiku`, `sonnet`, `opus` or a model id.'),
    DISCOCLAW_FAST_MODEL: textOr('haiku', 'The model for automatic extraction and reflection.'),
    DISCOCLAW_MODEL_CONCURRENCY: wholeNumber(4, 1, 'Maximum number of concurrent model calls.'),
    DISCOCLAW_MODEL_IDLE_TIMEOUT_MS: wholeNumber(
      30_000,
      100,
      'How long a response stream may stay silent, in milliseconds.',
    ),
    DISCOCLAW_MODEL_TIMEOUT_MS: wholeNumber(
      120_000,
      100,
      'Time limit for a whole answer, retries included, in milliseconds.',
    ),
  },
  Limits: {
    DISCOCLAW_RATE_PER_MINUTE: wholeNumber(
      10,
      0,
      'Turns that one person may begin per minute. What they write beyond that waits and is answered together; 0 sets no limit.',
    ),
    DISCOCLAW_DAILY_COST_USD: dollars(
      'What all model calls of a day may cost together, in US dollars (default: no limit).',
    ),
    DISCOCLAW_DAILY_COST_PER_PERSON_USD: dollars(
      "What one person's answers, and the notes and summaries made of them, may cost a day (default: no limit).",
    ),
    DISCOCLAW_MODEL_PRICES: prices(
      'Prices of models in US dollars per million tokens, as `model=input/output` separated by commas: for models whose price the bot does not know, or that cost something else than the list price.',
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
    DISCOCLAW_TIMEZONE: timeZone("IANA time zone for dates and times (default: the machine's)."),
  },
  'Durable items': {
    DISCOCLAW_DURABLE_MEMORY_ENABLED: flag(true, 'Keep durable items about people and use them in answers.'),
    DISCOCLAW_DURABLE_INJECT_MAX_CHARS: wholeNumber(2000, 0, 'Maximum characters of items in a prompt.'),
    DISCOCLAW_DURABLE_MAX_ITEMS: wholeNumber(200, 1, 'Maximum number of active items per user.'),
    DISCOCLAW_MEMORY_MODE: oneOf(
      ['auto', 'ask', 'off'],
      'What is noticed of people who have not chosen with `!memory mode`: what they say of themselves, the same after asking them, or nothing.',
    ),
    DISCOCLAW_MEMORY_COMMANDS_ENABLED: flag(true, 'Answer `!memory` and `/memory`.'),
    DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: flag(
      false,
      'Automatically extract items from what people say about themselves.',
    ),
  },
  'Rolling summary': {
    DISCOCLAW_SUMMARY_ENABLED: flag(true, 'Keep a rolling summary of each conversation.'),
    DISCOCLAW_SUMMARY_MODEL: textOr('haiku', 'The model that writes summaries.'),
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
  'Channel memory': {
    DISCOCLAW_CHANNEL_NOTES_IDLE_MINUTES: wholeNumber(
      10,
      0,
      'Minutes without a message after which a talk is looked through for notes, where `/settings channel-memory` is on.',
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
    DISCOCLAW_RECALL_DEFAULT_LIMIT: wholeNumber(
      10,
      1,
      'Number of passages a search returns if the model does not ask for another number.',
    ),
    DISCOCLAW_REFLECTION_ENABLED: flag(
      true,
      'Let the fast model reflect on past conversations and keep notes on them.',
    ),
    DISCOCLAW_REFLECTION_IDLE_MINUTES: wholeNumber(
      30,
      0,
      'Minutes without a message before the bot reflects on a conversation.',
    ),
    DISCOCLAW_WEEKLY_TRIM_ENABLED: flag(
      false,
      'Once a week, let the fast model move less essential lines of an overlong USER.md to topics.',
    ),
    DISCOCLAW_RECENT_LOG_DAYS: text('Deprecated: accepted and ignored.'),
  },
  Storage: {
    DISCOCLAW_STORE: databaseOrFiles(
      'Where everything is kept: `files`, or a PostgreSQL database as `postgres://user:password@host/database`, which several processes may share: see docs/scale.md.',
    ),
    DISCOCLAW_DATA_DIR: textOr('./data', 'Folder for everything the bot remembers.'),
    DISCOCLAW_PERSON_QUOTA_MB: wholeNumber(
      50,
      1,
      'Megabytes on disk per person. Over it, their oldest messages and replaced summaries go, never items.',
    ),
    DISCOCLAW_RETENTION_DAYS: wholeNumber(
      0,
      0,
      'Days after which messages, and what rests on them alone, leave the disk by themselves; 0 keeps them.',
      36_500,
    ),
    DISCOCLAW_NO_MEMORY_CHANNELS: ids(
      'Channels, categories and forums where nothing is stored or noticed, threads in them included, whatever `/settings` says.',
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
    DISCOCLAW_HTTP_HOST: host(
      '127.0.0.1',
      'Address at which that port is opened: this machine alone by default, `0.0.0.0` for all its networks (in the container).',
    ),
    DISCOCLAW_LOG_LEVEL: oneOf(['info', 'debug', 'warn', 'error'], 'Minimum log level.'),
  },
} as const;

const themes = Object.entries(variables).map(
  ([theme, entries]) => [theme, Object.entries<Variable<unknown>>(entries)] as const,
);

export function envExample(): string {
  const blocks = themes.map(([theme, entries]) => {
    const lines = entries.map(
      ([name, { about, fallback }]) => `# ${about.replaceAll('`', '')}\n# ${name}=${fallback}`,
    );
    return `## ${theme}\n\n${lines.join('\n\n')}\n`;
  });
  return `# Copy to .env and remove the # before what you set. Generated by: npm run docs\n\n${blocks.join('\n')}`;
}

export function configurationTable(): string {
  const rows = themes.flatMap(([theme, entries]) => [
    `| **${theme}** | | |`,
    ...entries.map(
      ([name, { about, fallback }]) =>
        `| \`${name}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${about} |`,
    ),
  ]);
  return ['| variable | default | what it does |', '|---|---|---|', ...rows].join('\n');
}
