import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { closest, distance } from 'fastest-levenshtein';

import { localDateTime, offsetOfFixed } from '../core/time.ts';
import { decodeEnvFile, readEnvFile, saysSomething } from './env-file.ts';
import type { Variable } from './variable.ts';
import { variables } from './variables.ts';

type Theme = (typeof variables)[keyof typeof variables];
type NameIn<T> = T extends unknown ? keyof T : never;

type Values = {
  readonly [Name in NameIn<Theme>]: Extract<Theme, Record<Name, unknown>>[Name] extends Variable<infer Value>
    ? Value
    : never;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** The frozen configuration, arranged by user. */
export type Config = ReturnType<typeof arrangeConfig>;

/** Every bad variable at once [I1]; `main.ts` prints it and exits with code 78. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

const pluralKitUrl = 'https://api.pluralkit.me/v2';

/** Typing errors that make a name another. */
const mostTypingErrors = 3;

/**
 * Reads the environment once; an empty variable counts as unset.
 * @returns the frozen configuration, and notes for the log: probable typing errors, options without effect.
 * @throws {ConfigError} naming every bad variable with what was found and what is expected; secrets are not
 * printed.
 */
export function readConfig(environment: Environment): { config: Config; notes: readonly string[] } {
  const known = new Map<string, Variable<unknown>>(
    Object.values(variables).flatMap((theme) => Object.entries<Variable<unknown>>(theme)),
  );
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, variable] of known) {
    const raw = environment[name];
    try {
      values[name] = variable.read(raw);
    } catch {
      const found = variable.secret ? 'something else' : JSON.stringify(raw);
      problems.push(`${name}: expected ${variable.expects}, found ${found}`);
    }
  }
  for (const name of Object.keys(environment)) {
    const capitals = name.toUpperCase();
    if (name !== capitals && known.has(capitals) && (environment[capitals] ?? '') === '')
      problems.push(`${name}: expected the name ${capitals}, found it in small letters`);
  }
  if (values['DISCORD_API_URL'] !== undefined && values['DISCORD_TOKEN'] === undefined) {
    problems.push('DISCORD_TOKEN: expected the token for the server at DISCORD_API_URL, found nothing');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value has just been made by the schema of its own name
  const config = arrangeConfig(values as Values);
  const contradictions = shardProblems(config);
  if (contradictions.length > 0) throw new ConfigError(contradictions);
  return { config, notes: [...notesOn(environment, known), ...zoneNote(environment, config)] };
}

/**
 * The folder of `.env`, `data` and `workspace`: the program's own, where only that has an `.env`, and the one where it
 * was started has none of the three [O7].
 */
export function baseFolder(here: string, program: string): string {
  const isBare = ['.env', 'data', 'workspace'].every((name) => !existsSync(join(here, name)));
  const isSet = (process.env['DISCORD_TOKEN'] ?? '') !== '';
  return isBare && !isSet && existsSync(join(program, '.env')) ? program : here;
}

/**
 * The environment, with `.env` of the working folder behind it. Proxies may be named in small letters.
 * @throws {ConfigError} where the file cannot be read: the bot would start as if nothing were set.
 */
export function loadEnvironment(path: string = resolve('.env')): Environment {
  const { https_proxy, http_proxy, no_proxy, ...given } = { ...fromEnvFile(path), ...process.env };
  return { HTTPS_PROXY: https_proxy, HTTP_PROXY: http_proxy, NO_PROXY: no_proxy, ...given };
}

function fromEnvFile(path: string): Environment {
  try {
    const text = decodeEnvFile(readFileSync(path));
    const set = readEnvFile(text);
    if (Object.keys(set).length === 0 && saysSomething(text))
      throw new RangeError('no line of it sets anything: expected NAME=value on each');
    return set;
  } catch (error) {
    const { code } = Object(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return {};
    throw new ConfigError([`${path}: ${whyUnreadable(error, code)}`]);
  }
}

function whyUnreadable(error: unknown, code: unknown): string {
  if (code === 'EISDIR') return 'expected a file, found a folder: put the file in its place';
  if (code === 'EACCES' || code === 'EPERM')
    return `the user that runs the bot (${process.getuid?.() ?? 'this one'}) may not read it: give it to that user with chown`;
  return error instanceof Error ? error.message : String(error);
}

function notesOn(environment: Environment, known: ReadonlyMap<string, unknown>): readonly string[] {
  const names = Object.keys(environment).filter((name) => /^(?:DISCOCLAW|DISCORD)_/u.test(name));
  const unknown = names.filter((name) => !known.has(name));
  return unknown.map((name) => {
    const nearest = closest(name, [...known.keys()]);
    const isNear = distance(name, nearest) <= mostTypingErrors;
    return `${name} is not a variable of this bot${isNear ? `; did you mean ${nearest}?` : ''}`;
  });
}

/** A machine whose zone has no name may show another hour than its operator thinks [N5]. */
function zoneNote({ DISCOCLAW_TIMEZONE = '' }: Environment, { timeZone }: Config): readonly string[] {
  if (DISCOCLAW_TIMEZONE.trim() !== '' || timeZone === 'UTC' || offsetOfFixed(timeZone) === undefined)
    return [];
  return [
    `the time zone of this machine has no name that is known here, so days and times go by ${timeZone}, where it is ${localDateTime(new Date(), timeZone)} now; DISCOCLAW_TIMEZONE sets another`,
  ];
}

function arrangeConfig(values: Values) {
  return Object.freeze({
    discord: {
      token: values.DISCORD_TOKEN,
      apiUrl: values.DISCORD_API_URL,
      cdnUrl: values.DISCORD_CDN_URL ?? originOf(values.DISCORD_API_URL),
      ownerIds: values.DISCOCLAW_OWNER_IDS,
      access: values.DISCOCLAW_ACCESS,
      accessRequests: values.DISCOCLAW_ACCESS_REQUESTS,
      allowedUserIds: values.DISCORD_ALLOW_USER_IDS,
      allowedRoleIds: values.DISCORD_ALLOW_ROLE_IDS,
      allowedBotIds: values.DISCORD_ALLOW_BOT_IDS,
      channelIds: values.DISCORD_CHANNEL_IDS,
      proxied: {
        appIds: values.DISCORD_PROXY_APP_IDS,
        pluralKitUrl: values.DISCOCLAW_PLURALKIT_URL ?? pluralKitUrl,
      },
      actionsEnabled: values.DISCOCLAW_DISCORD_ACTIONS_ENABLED,
      autoReplyChannelIds: values.DISCORD_AUTO_REPLY_CHANNEL_IDS,
    },
    shards: {
      count: values.DISCOCLAW_SHARDS,
      ids: values.DISCOCLAW_SHARD_IDS,
    },
    model: {
      apiKey: values.ANTHROPIC_API_KEY,
      baseUrl: values.ANTHROPIC_BASE_URL,
      main: values.DISCOCLAW_MODEL,
      fallback: values.DISCOCLAW_FALLBACK_MODEL,
      fast: values.DISCOCLAW_FAST_MODEL,
      concurrency: values.DISCOCLAW_MODEL_CONCURRENCY,
      idleTimeoutMs: values.DISCOCLAW_MODEL_IDLE_TIMEOUT_MS,
      totalTimeoutMs: values.DISCOCLAW_MODEL_TIMEOUT_MS,
      answerMaxTokens: values.DISCOCLAW_ANSWER_MAX_TOKENS,
      contextTokens: values.DISCOCLAW_CONTEXT_TOKENS || undefined,
      prices: values.DISCOCLAW_MODEL_PRICES,
    },
    proxy: { http: values.HTTP_PROXY, https: values.HTTPS_PROXY, except: values.NO_PROXY },
    transcription: {
      url: values.DISCOCLAW_TRANSCRIBE_URL,
      key: values.DISCOCLAW_TRANSCRIBE_KEY,
      model: values.DISCOCLAW_TRANSCRIBE_MODEL,
      /** US dollars. */
      minutePrice: values.DISCOCLAW_TRANSCRIBE_PRICE,
    },
    limits: {
      turnsPerMinute: values.DISCOCLAW_RATE_PER_MINUTE,
      dailyCost: values.DISCOCLAW_DAILY_COST_USD,
      dailyCostPerPerson: values.DISCOCLAW_DAILY_COST_PER_PERSON_USD,
    },
    prompt: {
      maxChars: values.DISCOCLAW_PROMPT_MAX_CHARS,
      historyBudget: values.DISCOCLAW_MESSAGE_HISTORY_BUDGET,
    },
    timeZone: values.DISCOCLAW_TIMEZONE,
    commandsEnabled: values.DISCOCLAW_MEMORY_COMMANDS_ENABLED,
    memoryMode: values.DISCOCLAW_MEMORY_MODE,
    durable: {
      enabled: values.DISCOCLAW_DURABLE_MEMORY_ENABLED,
      injectMaxChars: values.DISCOCLAW_DURABLE_INJECT_MAX_CHARS,
      maxItems: values.DISCOCLAW_DURABLE_MAX_ITEMS,
      extractionEnabled: values.DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED,
    },
    summary: {
      enabled: values.DISCOCLAW_SUMMARY_ENABLED,
      model: values.DISCOCLAW_SUMMARY_MODEL ?? values.DISCOCLAW_FAST_MODEL,
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
      databaseUrl: values.DISCOCLAW_STORE,
      dataDir: values.DISCOCLAW_DATA_DIR,
      personQuotaBytes: values.DISCOCLAW_PERSON_QUOTA_MB * 1024 * 1024,
      retentionDays: values.DISCOCLAW_RETENTION_DAYS,
      noMemoryChannelIds: values.DISCOCLAW_NO_MEMORY_CHANNELS,
      workspaceDir: values.DISCOCLAW_WORKSPACE_DIR,
      durableDir: values.DISCOCLAW_DURABLE_DATA_DIR,
      summaryDir: values.DISCOCLAW_SUMMARY_DATA_DIR,
      shortTermDir: values.DISCOCLAW_SHORTTERM_DATA_DIR,
    },
    http: { port: values.DISCOCLAW_HTTP_PORT, host: values.DISCOCLAW_HTTP_HOST },
    page: {
      port: values.DISCOCLAW_PAGE_PORT,
      host: values.DISCOCLAW_PAGE_HOST,
      url: values.DISCOCLAW_PAGE_URL,
      hasMcp: values.DISCOCLAW_PAGE_MCP,
      /** Nobody could be led to it without an address, and it acts by the memory commands. */
      isOn:
        values.DISCOCLAW_PAGE_PORT !== 0 &&
        values.DISCOCLAW_PAGE_URL !== undefined &&
        values.DISCOCLAW_MEMORY_COMMANDS_ENABLED,
      /** Another process has it, and this one makes links to it [X3]. */
      isElsewhere:
        values.DISCOCLAW_PAGE_PORT === 0 &&
        values.DISCOCLAW_PAGE_URL !== undefined &&
        values.DISCOCLAW_SHARD_IDS !== undefined &&
        values.DISCOCLAW_MEMORY_COMMANDS_ENABLED,
    },
    logLevel: values.DISCOCLAW_LOG_LEVEL,
  });
}

/** Another server's files are at its own address, so one variable is enough. */
function originOf(address: string | undefined): string | undefined {
  return address === undefined ? undefined : new URL(address).origin;
}

/** What of the shards does not go together, each with what to do. */
function shardProblems({ shards, storage }: Config): readonly string[] {
  const { count, ids } = shards;
  const problems: string[] = [];
  if (count === 'auto' && ids !== undefined)
    problems.push(
      'DISCOCLAW_SHARD_IDS: processes must agree on how many shards there are: give their number in DISCOCLAW_SHARDS instead of auto',
    );
  if (count !== 'auto' && ids?.some((id) => id >= count) === true)
    problems.push(
      `DISCOCLAW_SHARD_IDS: expected numbers of shards from 0 to ${count - 1}, found ${ids.at(-1)}; DISCOCLAW_SHARDS is the number of all, ${count}`,
    );
  if (storage.databaseUrl === undefined && count !== 'auto' && ids !== undefined && ids.length < count)
    problems.push(
      'DISCOCLAW_SHARD_IDS: files belong to one process: set DISCOCLAW_STORE to a database that the processes share, or run all shards in one without DISCOCLAW_SHARD_IDS',
    );
  return problems;
}
