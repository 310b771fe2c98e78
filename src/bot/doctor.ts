import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';

import { ConfigError, readConfig, type Config, type Environment } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import { clip } from '../core/text.ts';
import { type DiscordCheckup, withDiscord } from '../discord/client.ts';
import { inviteLink } from '../discord/permissions.ts';
import { GatewayError } from '../discord/gateway-error.ts';
import type { ProbeOptions } from '../model/anthropic/anthropic-client.ts';
import type { Trial } from '../model/anthropic/trial.ts';
import { createLogger } from '../observability/logger.ts';
import { registeredCommands } from './commands.ts';
import { checkDatabase, checkDisk, checkFiles, checkFolders, checkOwner } from './disk-checks.ts';
import { type Finding, UnusableError, broken, fine, useProxy, warning } from './command-line.ts';

/** Characters of the channels that one line names. */
const deniedMaxChars = 500;

type Check = (config: Config, logger: Logger) => Promise<readonly Finding[]>;

/** In the doctor's order [O1]. None changes anything or rejects. */
const checks: readonly Check[] = [
  checkDatabase,
  checkFolders,
  checkOwner,
  checkDisk,
  checkFiles,
  checkDiscord,
  checkModels,
];

const signs = { fine: '✓', warning: '!', broken: '✗' } as const;

/** `npm run doctor`: prints a line for each finding. Resolves with the exit code [O1]. */
export async function runDoctor(environment: Environment): Promise<number> {
  const levels: Finding['level'][] = [];
  const tell = (finding: Finding): void => {
    levels.push(finding.level);
    const advice = finding.remedy === undefined ? '' : ` → ${finding.remedy}`;
    process.stdout.write(`${signs[finding.level]} ${finding.about}: ${finding.text}${advice}\n`);
  };
  for (const finding of await checkEnvFile()) tell(finding);
  const { config, findings } = checkConfiguration(environment);
  for (const finding of findings) tell(finding);
  if (config !== undefined) {
    // Warnings are printed as findings.
    const logger = createLogger({ level: 'error' });
    await useProxy(config.proxy);
    for (const check of checks) for (const finding of await check(config, logger)) tell(finding);
  }
  const count = (level: Finding['level']) => levels.filter((each) => each === level).length;
  process.stdout.write(
    `\n${count('broken')} broken, ${count('warning')} to look at, ${count('fine')} in order\n`,
  );
  return count('broken') > 0 ? 1 : 0;
}

const setRight = 'put it right in .env or the environment; docs/configuration.md has all variables';

/** Without a configuration where it cannot be used: nothing else could be looked at as the bot would. */
function checkConfiguration(environment: Environment): {
  readonly config?: Config;
  readonly findings: readonly Finding[];
} {
  const about = 'configuration';
  try {
    const { config, notes } = readConfig(environment);
    const doubts = notes.map((text) => warning(about, text, setRight));
    return { config, findings: doubts.length > 0 ? doubts : [fine(about, 'all variables can be used')] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { findings: error.problems.map((text) => broken(about, text, `${setRight}, and look again`)) };
  }
}

/** It holds the token and the key. */
async function checkEnvFile(): Promise<readonly Finding[]> {
  const path = resolve('.env');
  const { mode } = await stat(path).catch(() => ({ mode: 0 }));
  if ((mode & 0o077) === 0) return [];
  const text = `others on this machine may read ${path} (mode ${(mode & 0o777).toString(8)})`;
  return [warning('configuration', text, `chmod 600 ${path}`)];
}

/** The checks of every start; logs warnings. May be awaited later. @throws {UnusableError} */
export function checkStart(config: Config, logger: Logger): Promise<void> {
  const checked = runStartChecks(config, logger);
  checked.catch(() => undefined);
  return checked;
}

async function runStartChecks(config: Config, logger: Logger): Promise<void> {
  const { apiKey, baseUrl, main: model } = config.model;
  const found = await checkDisk(config);
  if (apiKey !== undefined || baseUrl !== undefined)
    found.push(await tryModel({ apiKey, baseUrl, model, timeoutMs: startPatienceMs }));
  for (const finding of found) {
    if (finding.level === 'fine') continue;
    const sentence = `${finding.text}: ${finding.remedy}`;
    const isReplaced = finding.wrong === 'model' && config.model.fallback !== undefined;
    if (finding.wrong !== undefined && !isReplaced) throw new UnusableError(sentence);
    logger.warn(sentence);
  }
}

/** Milliseconds that a start and the doctor wait for a model's answer. */
const startPatienceMs = 5000;
const patienceMs = 20_000;

/** Messages are answered up to five minutes after they were written; HTTP dates are in whole seconds. */
const brokenClockMs = 300_000;
const wrongClockMs = 30_000;

async function checkDiscord(config: Config, logger: Logger): Promise<readonly Finding[]> {
  const { token, apiUrl } = config.discord;
  if (token === undefined)
    return [warning('token', 'DISCORD_TOKEN is not set, so the bot runs in its sandbox', 'npm run setup')];
  return withDiscord({ token, apiUrl, logger }, async (discord) => {
    const found: Finding[] = [];
    try {
      const { id, name, readsContent, botId } = await discord.application();
      found.push(fine('token', `Discord knows the bot as ${name}, application ${id}`));
      found.push(checkIntents(id, readsContent));
      found.push(...(await checkServers(discord, id, botId)));
      found.push(await checkCommands(discord, id, config));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      found.push(broken(found.length === 0 ? 'token' : 'Discord', error.what, error.remedy));
    }
    return [...found, ...checkClock(discord)];
  });
}

function checkIntents(applicationId: string, readsContent: boolean): Finding {
  if (readsContent) return fine('intents', 'Message Content is switched on');
  const text =
    'Message Content is switched off, so the bot reads only direct messages, mentions, replies that ping it and commands, and no channel around them';
  const remedy = `switch it on, under Privileged Gateway Intents: ${portalPage(applicationId)}`;
  return broken('intents', text, remedy);
}

export function portalPage(applicationId: string): string {
  return `https://discord.com/developers/applications/${applicationId}/bot`;
}

function checkClock(discord: DiscordCheckup): readonly Finding[] {
  const ahead = discord.aheadMs();
  if (ahead === undefined) return [];
  const text = `this machine's clock is ${Math.round(Math.abs(ahead) / 1000)} seconds ${ahead > 0 ? 'behind' : 'ahead of'} Discord's`;
  if (Math.abs(ahead) < wrongClockMs) return [fine('clock', "this machine's clock is that of Discord")];
  const remedy = 'have it set by the network: timedatectl set-ntp true';
  return [Math.abs(ahead) < brokenClockMs ? warning('clock', text, remedy) : broken('clock', text, remedy)];
}

async function checkServers(
  discord: DiscordCheckup,
  applicationId: string,
  botId: string,
): Promise<readonly Finding[]> {
  const link = inviteLink(applicationId);
  const servers = await discord.servers();
  if (servers.length === 0) return [warning('servers', 'the bot is in no server', `invite it: ${link}`)];
  const denials = servers.map(async ({ id, name, granted }): Promise<readonly Finding[]> => {
    const denied = await discord.denied(id, granted, botId);
    if (denied.length === 0) return [];
    const text = `${name} (${id}) has channels that deny the bot what the server grants: ${clip(denied.join('; '), deniedMaxChars)}`;
    return [warning('channels', text, "allow it to the bot's role in them, where it is to answer there")];
  });
  const found = servers.map(({ id, name, missing, isMute }) => {
    if (missing === undefined) return fine('servers', `${name} (${id}) does not tell its permissions`);
    if (missing.length === 0) return fine('servers', `${name} (${id}) gives all permissions`);
    const text = `${name} (${id}) does not give ${missing.join(', ')}`;
    const remedy = `give it to the bot's role there, or invite it again: ${link}`;
    return isMute
      ? broken('servers', `${text}, so the bot cannot answer there`, remedy)
      : warning('servers', text, remedy);
  });
  return [...found, ...(await Promise.all(denials)).flat()];
}

async function checkCommands(
  discord: DiscordCheckup,
  applicationId: string,
  config: Config,
): Promise<Finding> {
  const { definitions, menuNames } = registeredCommands(config);
  const isRegistered = await discord.hasCommands(applicationId, definitions, menuNames);
  if (isRegistered) return fine('commands', 'Discord has the slash commands');
  const text = 'Discord does not have the slash commands of this version';
  return warning(
    'commands',
    text,
    'start the bot, which registers them; where it runs, its log says what Discord refuses',
  );
}

async function checkModels({ model, summary, prompt }: Config, logger: Logger): Promise<readonly Finding[]> {
  const { apiKey, baseUrl } = model;
  if (apiKey === undefined && baseUrl === undefined)
    return [warning('model', 'no model is set, so an offline stand-in answers', 'npm run setup')];
  // No longer prompt is sent where the context is set by hand.
  const mostChars = Math.min(prompt.maxChars, 2 * (model.contextTokens ?? Infinity));
  const found: Finding[] = [];
  const variableOf = new Map<string | undefined, string>([
    [summary.model, 'DISCOCLAW_SUMMARY_MODEL'],
    [model.fast, 'DISCOCLAW_FAST_MODEL'],
    [model.fallback, 'DISCOCLAW_FALLBACK_MODEL'],
    [model.main, 'DISCOCLAW_MODEL'],
  ]);
  for (const name of new Set([model.main, model.fallback, model.fast, summary.model])) {
    if (name === undefined) continue;
    const options = { apiKey, baseUrl, model: name, timeoutMs: patienceMs };
    const finding = await tryModel(options, variableOf.get(name));
    found.push(finding);
    if (finding.level === 'fine' && name === model.main)
      found.push(...(await tryTalentsOf({ ...options, timeoutMs: model.totalTimeoutMs }, mostChars, logger)));
    // Only a wrong name concerns this model alone.
    if (finding.level !== 'fine' && finding.wrong !== 'model') break;
  }
  return found;
}

/** What an answering model can do of what the bot asks of it, and what to set where it cannot; by three short calls. Never rejects. */
export async function tryTalentsOf(
  options: ProbeOptions,
  promptMaxChars: number,
  logger: Logger,
): Promise<readonly Finding[]> {
  const { tryTalents } = await import('../model/anthropic/trial.ts');
  try {
    return talentsFound(options.model, promptMaxChars, await tryTalents(options, promptMaxChars, logger));
  } catch (error) {
    const text = `${options.model} could not be tried: ${error instanceof Error ? error.message : String(error)}`;
    return [warning('model', text, 'npm run doctor tries it again')];
  }
}

const largerContext =
  'give it a context of 16384 tokens (Ollama: OLLAMA_CONTEXT_LENGTH=16384, llama.cpp: --ctx-size, vLLM: --max-model-len), which takes about 2 GB of memory with a model of 8 billion parameters';

function talentsFound(model: string, promptMaxChars: number, trial: Trial): readonly Finding[] {
  const { callsTools, keepsToSchema, thinksAloud, context } = trial;
  const able: string[] = [];
  const found: Finding[] = [];
  const lacks = (text: string, remedy: string) => found.push(warning('model', text, remedy));
  if (callsTools) able.push('calls tools');
  else
    lacks(
      `${model} calls no tools, so it can store and look up nothing by itself`,
      'choose a model that calls tools; what is remembered stands in its prompt all the same',
    );
  if (keepsToSchema) able.push('writes summaries');
  else lacks(`${model} writes no summary that can be used`, 'set DISCOCLAW_FAST_MODEL to a model that does');
  if (context === undefined) able.push(`reads ${promptMaxChars} characters at once`);
  else if (context.cuts)
    lacks(
      `The server of ${model} cuts prompts at ${context.tokens} tokens without a word`,
      `${largerContext}, or set DISCOCLAW_CONTEXT_TOKENS=${context.tokens}`,
    );
  else lacks(`The context of ${model} holds ${context.tokens} tokens, so less memory fits`, largerContext);
  if (thinksAloud) able.push('thinks in its answers, which is left out of them');
  return able.length === 0 ? found : [fine('model', `${model} ${able.join(', ')}`), ...found];
}

/** Asks a model for one token; `variable` is the setting that names the model. */
export async function tryModel(options: ProbeOptions, variable = 'DISCOCLAW_MODEL'): Promise<Finding> {
  const { apiKey, baseUrl, model } = options;
  // The SDK is slow to load.
  const { probeModel } = await import('../model/anthropic/anthropic-client.ts');
  const { failure, text } = await probeModel(options);
  const about = 'model';
  if (failure === undefined) return fine(about, `${model} answers`);
  if (failure === 'unauthorized')
    return apiKey === undefined
      ? broken(about, "The model's server wants a key", 'set ANTHROPIC_API_KEY', 'key')
      : broken(about, "The model's server refused the key", 'check ANTHROPIC_API_KEY', 'key');
  if (failure === 'out-of-credit')
    return broken(about, `${model} is out of credit (${text})`, 'add credit to the account of the key');
  if (failure === 'unknown-model')
    return broken(about, `The model's server knows no model "${model}"`, `check ${variable}`, 'model');
  if (failure === 'rate-limited' || failure === 'overloaded')
    return warning(about, text, 'wait, or raise the limits of the key with the vendor');
  if (failure === 'rejected')
    return broken(about, text, 'look into the account of the key, and check the variables of the model');
  const address = baseUrl === undefined ? '' : ' and ANTHROPIC_BASE_URL';
  return broken(about, text, `check the network${address}`);
}
