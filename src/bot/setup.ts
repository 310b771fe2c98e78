import { Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import { estimateTokenCount } from 'tokenx';

import { type Config, type Environment, readConfig } from '../config/config.ts';
import { decodeEnvFile, readEnvFile, withVariable } from '../config/env-file.ts';
import { withDiscord } from '../discord/checkup.ts';
import { noUsage } from '../core/model.ts';
import { typicalExtraction } from '../memory/durable/extraction.ts';
import { callCost, priceListDate } from '../model/anthropic/models.ts';
import { inviteLink } from '../discord/required-permissions.ts';
import { GatewayError } from '../discord/gateway-error.ts';
import { createLogger } from '../observability/logger.ts';
import { createDisk } from '../storage/files/disk.ts';
import { nodeFileSystem, unlessMissing } from '../storage/files/file-system.ts';
import { portalPage, tryModel } from './checks.ts';
import { useProxy } from './proxy.ts';

const stoppedByHand = 'Stopped before the end';

const patienceMs = 20_000;

/** `npm run setup`: asks for token and key, and saves each once it is checked. Resolves with the exit code [O1]. */
export async function runSetup(environment: Environment): Promise<number> {
  // Some other variables are refused without a token.
  const { config } = readConfig({ ...environment, DISCORD_TOKEN: 'asked for' });
  await useProxy(config.proxy);
  const asker = createAsker();
  const setup = { asker, config, environment };
  const stopped = (reason: string): void =>
    asker.say(`\n${reason}. What was checked by then is in .env; npm run setup goes on from there.`);
  const interrupted = (): void => {
    stopped(stoppedByHand);
    process.exit(1);
  };
  process.once('SIGINT', interrupted);
  try {
    asker.say(
      `This sets up Discoclaw: it checks a Discord token and a model key, and writes both to ${envPath()}.\n`,
    );
    await setUpDiscord(setup);
    if (await setUpModel(setup)) await setUpNoticing(setup);
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

interface Setup {
  readonly asker: Asker;
  readonly config: Config;
  readonly environment: Environment;
}

type SecretName = 'DISCORD_TOKEN' | 'ANTHROPIC_API_KEY';
const noticing = 'DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED';

function envPath(): string {
  return resolve('.env');
}

async function save(
  { asker, environment }: Setup,
  name: SecretName | typeof noticing,
  value: string,
): Promise<void> {
  if (environment[name] === value) return;
  const before = decodeEnvFile((await unlessMissing(readFile(envPath()))) ?? Buffer.alloc(0));
  const text = withVariable(before, name, value);
  const bytes = Buffer.from(text);
  const replacement = { key: '.env', path: envPath(), bytes };
  await createDisk(nodeFileSystem).replaceFile(replacement);
  asker.say(`${name} is in ${envPath()}.`);
  const isElsewhere = environment[name] !== undefined && readEnvFile(before)[name] !== environment[name];
  if (isElsewhere) asker.say(`But the environment sets ${name} too, and wins over .env: take it out there.`);
}

async function keptValue({ asker, environment }: Setup, name: SecretName): Promise<string | undefined> {
  const present = environment[name]?.trim() ?? '';
  if (present === '' || (await asker.confirm(`${name} is set. Replace it?`, false))) return undefined;
  return present;
}

async function setUpDiscord(setup: Setup): Promise<void> {
  const { asker } = setup;
  asker.say('The token: https://discord.com/developers/applications → your application → Bot → Reset Token.');
  const askToken = () => asker.secret('Discord bot token (hidden):');
  let token = (await keptValue(setup, 'DISCORD_TOKEN')) ?? (await askToken());
  for (;;) {
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
      await lookAtIntents(setup, token, application);
      asker.say(`\nInvite it to your servers with this link:\n${inviteLink(application.id)}\n`);
      return;
    }
  }
}

/** Whether to check again; otherwise the value is kept unchecked. */
async function mayTryAgain({ asker }: Setup, what: string): Promise<boolean> {
  asker.say(what);
  if (await asker.confirm('Try again?', true)) return true;
  asker.say('Kept without being checked: npm run doctor checks it later.');
  return false;
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

async function lookAtIntents(
  setup: Setup,
  token: string,
  application: { readonly id: string; readonly readsContent: boolean },
): Promise<void> {
  const { asker } = setup;
  let { readsContent } = application;
  while (!readsContent) {
    asker.say(
      `Message Content Intent is off. Without it the bot reads only direct messages, mentions, replies to it and commands.\nSwitch it on, under Privileged Gateway Intents: ${portalPage(application.id)}`,
    );
    if (!(await asker.confirm('Look again?', true))) return;
    const found = await askDiscord(setup, token);
    if (typeof found === 'string') asker.say('Discord cannot be asked at the moment.');
    else ({ readsContent } = found);
  }
  asker.say('✓ Message Content Intent is on.');
}

/** Whether there is a model. */
async function setUpModel(setup: Setup): Promise<boolean> {
  const { asker, config } = setup;
  const { baseUrl, main } = config.model;
  const server = baseUrl === undefined ? 'Anthropic (https://console.anthropic.com → API keys)' : baseUrl;
  asker.say(`The model's key, for ${server}. Leave it empty to go on without one.`);
  const askKey = async () => (await asker.secret('Model key (hidden):')) || undefined;
  let apiKey = (await keptValue(setup, 'ANTHROPIC_API_KEY')) ?? (await askKey());
  for (;;) {
    if (apiKey === undefined && baseUrl === undefined) {
      asker.say('No model, then: an offline stand-in answers, which is not a language model.');
      return false;
    }
    const finding = await tryModel({ apiKey, baseUrl, model: main, timeoutMs: patienceMs });
    if (finding.level === 'fine') asker.say(`✓ ${finding.text}.`);
    else if (finding.wrong === 'key') {
      asker.say(`${finding.text}. Copy it again from ${server}.`);
      apiKey = await askKey();
      continue;
    } else if (finding.level === 'broken' && finding.wrong === undefined) {
      if (await mayTryAgain(setup, `${finding.text}: ${finding.remedy}.`)) continue;
    } else asker.say(`! ${finding.text}: ${finding.remedy}.`);
    if (apiKey !== undefined) await save(setup, 'ANTHROPIC_API_KEY', apiKey);
    return true;
  }
}

/** Whether to notice by itself what people say about themselves [A2], and what that costs. */
async function setUpNoticing(setup: Setup): Promise<void> {
  const { asker, config } = setup;
  const { fast, prices } = config.model;
  asker.say(
    `\nThe bot remembers what people ask it to. It can also look through what they say to it for what will still matter in months; people see each thing, and can say no. ${noticingCost(fast, prices)}`,
  );
  const isOn = config.durable.extractionEnabled;
  const wanted = await asker.confirm('Notice by itself?', isOn);
  if (wanted !== isOn) await save(setup, noticing, String(wanted));
}

const pricedTurns = 1000;

function noticingCost(model: string, prices: Config['model']['prices']): string {
  const { request, answer } = typicalExtraction(model);
  const used = {
    ...noUsage,
    inputTokens: estimateTokenCount(JSON.stringify(request)),
    outputTokens: estimateTokenCount(answer),
  };
  const cost = callCost(model, used, prices);
  const calls = `That is one more call of ${model} for each message`;
  return cost === undefined
    ? `${calls}, of about ${used.inputTokens} tokens; its price is not known here.`
    : `${calls}: about $${(cost * pricedTurns).toFixed(2)} for ${pricedTurns} messages, at prices of ${priceListDate}.`;
}

export class InputEndedError extends Error {
  override readonly name = 'InputEndedError';
}

export type Asker = ReturnType<typeof createAsker>;

export function createAsker() {
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
