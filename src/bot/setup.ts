import { readFile, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

import writeFileAtomic from 'write-file-atomic';

import { type Config, type Environment, readConfig } from '../config/config.ts';
import { decodeEnvFile, readEnvFile, withVariable } from '../config/env-file.ts';
import { variables } from '../config/variables.ts';
import { withDiscord } from '../discord/client.ts';
import { GatewayError } from '../discord/gateway-error.ts';
import { inviteLink, personLink } from '../discord/permissions.ts';
import type { listModels, ProbeOptions } from '../model/anthropic/anthropic-client.ts';
import { resolveModel } from '../model/anthropic/models.ts';
import { createLogger } from '../observability/logger.ts';
import { unlessMissing } from '../storage/files/file-system.ts';
import { portalPage, tryModel, tryTalentsOf } from './doctor.ts';
import { useProxy } from './command-line.ts';

/** What the steps of `npm run setup` share. */
interface Setup {
  readonly asker: Asker;
  readonly config: Config;
  readonly environment: Environment;
}

type Secret = 'DISCORD_TOKEN' | 'ANTHROPIC_API_KEY';

const stoppedByHand = 'Stopped before the end';

/** `npm run setup`: asks for token, server of the model, key and model, and saves each once it is checked. Resolves with the exit code [O1]. */
export async function runSetup(environment: Environment): Promise<number> {
  // Some other variables are refused without a token.
  const { config } = readConfig({ ...environment, DISCORD_TOKEN: 'asked for' });
  await useProxy(config.proxy);
  const asker = createAsker();
  const setup = { asker, config, environment };
  const stopped = (reason: string): void =>
    asker.say(`\n${reason}. npm run setup goes on from what is in .env.`);
  const interrupted = (): void => {
    stopped(stoppedByHand);
    process.exit(1);
  };
  process.once('SIGINT', interrupted);
  try {
    asker.say(
      `This sets up Discoclaw: it checks a Discord token and a model, and writes them to ${envPath()}.\n`,
    );
    await setUpDiscord(setup);
    const fastModel = await setUpModel(setup);
    if (fastModel !== undefined) await setUpNoticing(setup, fastModel);
    asker.say('\nDone. npm start runs the bot; npm run doctor looks at any time whether all is in order.');
    return 0;
  } catch (error) {
    if (!(error instanceof InputEndedError) && !(error instanceof RangeError)) throw error;
    stopped(error instanceof RangeError ? error.message : stoppedByHand);
    return 1;
  } finally {
    process.off('SIGINT', interrupted);
    asker.close();
  }
}

async function setUpDiscord(setup: Setup): Promise<void> {
  const { asker } = setup;
  asker.say(
    'The token: https://discord.com/developers/applications → your application → Bot → Reset Token. Leave it empty to try the bot in a sandbox first.',
  );
  const askToken = () => asker.secret('Discord bot token (hidden):');
  let token = (await keptValue(setup, 'DISCORD_TOKEN')) ?? (await askToken());
  for (;;) {
    if (token === '')
      return asker.say('No token, then: npm start runs the bot in a sandbox, a small Discord.');
    const application = await askDiscord(setup, token);
    if (application === 'refused') {
      asker.say(
        'Discord refused this token. Copy it again: Reset Token on the page Bot makes a new one and shows it once.',
      );
      token = await askToken();
    } else if (application === 'unreachable') {
      if (await mayTryAgain(setup, 'Discord cannot be reached: check the network and DISCORD_API_URL.'))
        continue;
      return save(setup, 'DISCORD_TOKEN', token);
    } else {
      await save(setup, 'DISCORD_TOKEN', token);
      asker.say(`✓ Discord knows the bot as ${application.name}.`);
      asker.say(
        application.readsContent
          ? '✓ Message Content Intent is on.'
          : `Message Content Intent is off. Without it the bot reads only direct messages, mentions, replies to it and commands.\nSwitch it on, under Privileged Gateway Intents: ${portalPage(application.id)}`,
      );
      asker.say(`\nInvite it to your servers with this link:\n${inviteLink(application.id)}`);
      asker.say(
        `Who wants its commands in every chat installs it for themselves with this one:\n${personLink(application.id)}\n`,
      );
      return;
    }
  }
}

async function askDiscord({ config }: Setup, token: string) {
  const logger = createLogger({ level: 'error' });
  try {
    return await withDiscord({ token, apiUrl: config.discord.apiUrl, logger }, (discord) =>
      discord.application(),
    );
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return error.failure === 'token' ? 'refused' : 'unreachable';
  }
}

/** Whether to notice by itself what people say about themselves [A2]. */
async function setUpNoticing(setup: Setup, fastModel: string): Promise<void> {
  const { asker, config } = setup;
  asker.say(
    `\nThe bot remembers what people ask it to. It can also look through what they say to it for what will still matter in months; people see each thing, and can say no. That is one more call of ${fastModel} for each message, of about 600 tokens.`,
  );
  const isOn = config.durable.extractionEnabled;
  const isNoticing = await asker.confirm('Notice by itself?', isOn);
  if (isNoticing !== isOn) await save(setup, 'DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED', String(isNoticing));
}

interface ModelServer {
  readonly name: string;
  /** Absent: the vendor's own. */
  readonly address?: string | undefined;
  /** Where its key comes from; absent where it usually wants none. */
  readonly key?: string;
}

const anthropic: ModelServer = { name: 'Anthropic', key: 'https://console.anthropic.com → API keys' };

/** With their usual addresses [M10]. */
const servers: readonly ModelServer[] = [
  anthropic,
  { name: 'Ollama', address: 'http://127.0.0.1:11434' },
  { name: 'llama.cpp', address: 'http://127.0.0.1:8080' },
  { name: 'LM Studio', address: 'http://127.0.0.1:1234' },
  { name: 'vLLM', address: 'http://127.0.0.1:8000' },
  { name: 'LiteLLM', address: 'http://127.0.0.1:4000', key: 'its configuration (master_key)' },
  { name: 'OpenRouter', address: 'https://openrouter.ai/api', key: 'https://openrouter.ai/settings/keys' },
];

type Listed = Awaited<ReturnType<typeof listModels>>;

const patienceMs = 20_000;
const shownModels = 20;

/** Asks for server, key and model until the model answers. Resolves with the fast model's name, if there is any model. */
async function setUpModel(setup: Setup): Promise<string | undefined> {
  const { asker, config, environment } = setup;
  const server = await chooseServer(setup);
  const { address: baseUrl } = server;
  const from = server.key ?? server.name;
  const askKey = async () => (await asker.secret('Model key (hidden):')) || undefined;
  if (server.key !== undefined)
    asker.say(`The model's key, from ${from}. Leave it empty to go on without one.`);
  let apiKey =
    server.key === undefined
      ? environment['ANTHROPIC_API_KEY'] || undefined
      : ((await keptValue(setup, 'ANTHROPIC_API_KEY')) ?? (await askKey()));
  for (;;) {
    if (apiKey === undefined && baseUrl === undefined) {
      asker.say('No model, then: an offline stand-in answers, which is not a language model.');
      return undefined;
    }
    const access = { apiKey, baseUrl, timeoutMs: patienceMs };
    // The SDK is slow to load.
    const client = await import('../model/anthropic/anthropic-client.ts');
    const listed = await client.listModels(access);
    // Before anything else, the key is put right.
    const chosen = listed === 'key' ? config.model.main : await chooseModel(setup, listed);
    const finding = await tryModel({ ...access, model: chosen });
    if (finding.level === 'fine') {
      asker.say(`✓ ${finding.text}.`);
      await tellTalents(setup, { ...access, model: chosen });
    } else if (finding.wrong === 'key') {
      asker.say(`${finding.text}. Copy it again from ${from}.`);
      apiKey = await askKey();
      continue;
    } else if (finding.level === 'broken') {
      if (await mayTryAgain(setup, `${finding.text}: ${finding.remedy}.`)) continue;
    } else asker.say(`! ${finding.text}: ${finding.remedy}.`);
    await save(setup, 'ANTHROPIC_BASE_URL', baseUrl ?? '');
    if (apiKey !== undefined) await save(setup, 'ANTHROPIC_API_KEY', apiKey);
    return saveModels(setup, listed, chosen);
  }
}

async function chooseServer({ asker, config }: Setup): Promise<ModelServer> {
  const { baseUrl } = config.model;
  asker.say(
    '\nWhere does the model run? Choose a number, or give the address of another server with the Messages API.',
  );
  for (const [index, { name, address = '' }] of servers.entries())
    asker.say(`  ${index + 1}  ${name.padEnd(11)}${address}`.trimEnd());
  for (;;) {
    const answered = await asker.line('Server', baseUrl ?? '1');
    const chosen = servers[Number(answered) - 1];
    if (chosen !== undefined && chosen.address === undefined) return chosen;
    const address = addressIn(chosen === undefined ? answered : await asker.line('Address', chosen.address));
    const known = chosen ?? servers.find((each) => each.address === address);
    if (address !== undefined) return { ...(known ?? { name: address, key: address }), address };
    asker.say(`Please give a number from 1 to ${servers.length}, or an address that begins with http.`);
  }
}

function addressIn(text: string): string | undefined {
  try {
    return variables.Model.ANTHROPIC_BASE_URL.read(text);
  } catch {
    return undefined;
  }
}

/** A name that the server does not know is refused when it is tried. */
async function chooseModel({ asker, config }: Setup, listed: readonly string[]): Promise<string> {
  const { main } = config.model;
  if (listed.length === 0) return asker.line('Model name', main);
  for (const [index, name] of listed.slice(0, shownModels).entries()) asker.say(`  ${index + 1}  ${name}`);
  if (listed.length > shownModels) asker.say(`  and ${listed.length - shownModels} more`);
  const preset = listed.includes(resolveModel(main)) ? main : listed[0];
  const answered = await asker.line('Model, by number or name', preset);
  return listed[Number(answered) - 1] ?? answered;
}

/** A server that cuts long prompts in silence is sent shorter ones. */
async function tellTalents(setup: Setup, options: ProbeOptions): Promise<void> {
  const { asker, config } = setup;
  asker.say('Trying what it can do; a local model may take minutes to read a whole prompt.');
  const access = { ...options, timeoutMs: config.model.totalTimeoutMs };
  const logger = createLogger({ level: 'error' });
  for (const { level, text, remedy } of await tryTalentsOf(access, config.prompt.maxChars, logger)) {
    asker.say(level === 'fine' ? `✓ ${text}.` : `! ${text}: ${remedy}.`);
    const [, tokens] = /DISCOCLAW_CONTEXT_TOKENS=(\d+)/u.exec(remedy ?? '') ?? [];
    if (tokens === undefined) continue;
    await save(setup, 'DISCOCLAW_CONTEXT_TOKENS', tokens);
    asker.say('Take DISCOCLAW_CONTEXT_TOKENS out again once the server has a larger context.');
  }
}

/** The chosen model also stands in for the fast one, and that of summaries, where the server does not have them. Returns the fast one's name. */
async function saveModels(setup: Setup, listed: Listed, chosen: string): Promise<string> {
  const { environment, config } = setup;
  const { main, fast } = config.model;
  const isKept = (variable: string, name: string): boolean =>
    listed.length > 0 && listed !== 'key'
      ? listed.includes(resolveModel(name))
      : chosen === main || (environment[variable] ?? '') !== '';
  if (chosen !== main) await save(setup, 'DISCOCLAW_MODEL', chosen);
  const isFastKept = isKept('DISCOCLAW_FAST_MODEL', fast);
  if (!isFastKept) await save(setup, 'DISCOCLAW_FAST_MODEL', chosen);
  if (!isKept('DISCOCLAW_SUMMARY_MODEL', config.summary.model))
    await save(setup, 'DISCOCLAW_SUMMARY_MODEL', '');
  return isFastKept ? fast : chosen;
}

function envPath(): string {
  return resolve('.env');
}

/** Writes a variable to `.env`, unless it has that value already; empty takes it back. */
async function save({ asker, environment }: Setup, name: string, value: string): Promise<void> {
  if ((environment[name] ?? '') === value) return;
  const before = decodeEnvFile((await unlessMissing(readFile(envPath()))) ?? Buffer.alloc(0));
  const bytes = Buffer.from(withVariable(before, name, value));
  // A link leads to the file that is meant.
  const path = (await unlessMissing(realpath(envPath()))) ?? envPath();
  await writeFileAtomic(path, bytes, { mode: 0o600 });
  asker.say(`${name} is in ${envPath()}.`);
  const isElsewhere = environment[name] !== undefined && readEnvFile(before)[name] !== environment[name];
  if (isElsewhere) asker.say(`But the environment sets ${name} too, and wins over .env: take it out there.`);
}

async function keptValue({ asker, environment }: Setup, name: Secret): Promise<string | undefined> {
  const present = environment[name]?.trim() ?? '';
  if (present === '' || (await asker.confirm(`${name} is set. Replace it?`, false))) return undefined;
  return present;
}

/** Whether to check again; otherwise the value is kept unchecked. */
async function mayTryAgain({ asker }: Setup, what: string): Promise<boolean> {
  asker.say(what);
  if (await asker.confirm('Try again?', true)) return true;
  asker.say('Kept without being checked: npm run doctor checks it later.');
  return false;
}

class InputEndedError extends Error {
  override readonly name = 'InputEndedError';
}

type Asker = ReturnType<typeof createAsker>;

function createAsker() {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  let isHidden = false;
  const output = new Writable({
    write(chunk, _, done) {
      if (!isHidden) process.stdout.write(chunk);
      done();
    },
  });
  const reader = createInterface({ input: process.stdin, output, terminal: isTerminal });
  // The line editor of a terminal takes Ctrl-C for itself.
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const lines = reader[Symbol.asyncIterator]();

  async function answer(question: string, options: { readonly isSecret: boolean }): Promise<string> {
    reader.setPrompt(`${question} `);
    reader.prompt();
    isHidden = options.isSecret;
    const { done, value } = await lines.next();
    if (isHidden || !isTerminal) process.stdout.write('\n');
    isHidden = false;
    if (done === true) throw new InputEndedError('the input has ended');
    return value.trim();
  }

  return {
    say,
    /** Does not show the answer; trims it. @throws {InputEndedError} */
    secret: (question: string) => answer(question, { isSecret: true }),
    /** An empty line takes the preset; without one, asks again. @throws {InputEndedError} */
    async line(question: string, preset = ''): Promise<string> {
      const hint = preset === '' ? '' : ` (${preset})`;
      for (;;) {
        const answered = (await answer(`${question}${hint}:`, { isSecret: false })) || preset;
        if (answered !== '') return answered;
      }
    },
    /** An empty line takes the preset. @throws {InputEndedError} */
    async confirm(question: string, preset: boolean): Promise<boolean> {
      for (;;) {
        const word = await answer(`${question} (${preset ? 'Y/n' : 'y/N'})`, { isSecret: false });
        if (word === '') return preset;
        if (/^y(?:es)?$/iu.test(word)) return true;
        if (/^no?$/iu.test(word)) return false;
        say('Please answer yes or no.');
      }
    },
    close: () => reader.close(),
  };
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
