import { mkdtemp, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { startTestSandbox, type TestSandbox } from '../support/sandbox/test-sandbox.ts';
import { runSetup } from '../../src/bot/setup.ts';
import { readEnvFile } from '../../src/config/env-file.ts';
import { captured } from '../support/captured.ts';
import { eventually } from '../support/eventually.ts';
import { startModelServer, type ModelServer } from '../support/model-server.ts';
import type { Outcome } from '../support/processes.ts';
import {
  anthropic,
  liteLlm,
  llamaCpp,
  lmStudio,
  ollama,
  openRouter,
  vllm,
} from '../model/servers/doubles.ts';
import { serverDouble } from '../model/servers/server-double.ts';
import { startBotHere } from './bot-here.ts';
import { hasTerminals, startChild, startInTerminal } from './child.ts';

const goodKey = 'sk-right';

/** A folder without an `.env`, and a Discord and a model's server that know one token and one key. */
interface Place extends AsyncDisposable {
  readonly sandbox: TestSandbox;
  readonly model: ModelServer;
  readonly folder: string;
  /** Where the servers are. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Sets up with these answers, one a line, in this process. */
  setUp(answers: readonly string[], environment?: Readonly<Record<string, string>>): Promise<Outcome>;
  writeEnv(text: string): Promise<void>;
  env(): Promise<string>;
}

async function openPlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-setup-'));
  const sandbox = await startTestSandbox();
  const model = await startModelServer(
    () => ({ text: 'A heron' }),
    (_body, index) =>
      model.probes[index]?.headers.authorization === `Bearer ${goodKey}` ? { text: 'Hi' } : { status: 401 },
    ({ authorization }) => (authorization === `Bearer ${goodKey}` ? undefined : 401),
  );
  const addresses = { DISCORD_API_URL: sandbox.apiUrl, ANTHROPIC_BASE_URL: model.url };
  const path = join(folder, '.env');
  return {
    sandbox,
    model,
    folder,
    addresses,
    async setUp(answers, environment = {}) {
      const given = {
        ...readEnvFile(await readFile(path, 'utf8').catch(() => '')),
        ...addresses,
        ...environment,
      };
      const input = Readable.from(answers.map((answer) => `${answer}\n`));
      return inPlace(folder, input, () => captured(() => runSetup(given)));
    },
    writeEnv: (text) => writeFile(path, text, { mode: 0o644 }),
    env: () => readFile(path, 'utf8'),
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await model.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** With another working folder and another standard input. */
async function inPlace<Result>(folder: string, input: Readable, run: () => Promise<Result>): Promise<Result> {
  const before = process.cwd();
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {};
  process.chdir(folder);
  Object.defineProperty(process, 'stdin', { value: input, configurable: true });
  try {
    return await run();
  } finally {
    Object.defineProperty(process, 'stdin', stdin);
    process.chdir(before);
  }
}

describe('npm run setup [O1]', () => {
  it('asks again for a wrong token and a wrong key, names the intent that is off, and writes what is right to an .env of its own', async () => {
    await using place = await openPlace();
    await place.sandbox.allowIntents({ messageContent: false });
    const { output, code } = await place.setUp([
      'wrong-token',
      place.sandbox.token,
      '',
      'sk-wrong',
      goodKey,
      '',
      '',
    ]);
    for (const named of [
      'Discord refused this token',
      'Discord knows the bot as Discoclaw',
      'Message Content Intent is off',
      'https://discord.com/developers/applications/130000000000000001/bot',
      'https://discord.com/oauth2/authorize?client_id=130000000000000001&scope=bot+applications.commands&permissions=',
      "The model's server refused the key",
      'sonnet answers',
    ])
      expect(output).toContain(named);
    expect(output).not.toMatch(/wrong-token|sk-wrong|sk-right|sandbox-token/u);
    expect(code).toBe(0);
    expect(await place.env()).toBe(`DISCORD_TOKEN=${place.sandbox.token}\nANTHROPIC_API_KEY=${goodKey}\n`);
    expect((await stat(join(place.folder, '.env'))).mode & 0o777).toBe(0o600);

    await place.sandbox.allowIntents({ messageContent: true });
    const bot = startChild({ folder: place.folder, environment: place.addresses });
    await bot.waitFor('"the bot is ready"');
    expect(await bot.end('SIGTERM')).toBe(0);
  });

  it('asks before it replaces a value, and keeps what else stands in .env', async () => {
    await using place = await openPlace();
    const others = '# mine\nDISCOCLAW_TIMEZONE="Europe/Berlin"\n';
    await place.writeEnv(
      `${others}DISCORD_TOKEN=old-token\nDISCOCLAW_MODEL=opus # dear\nANTHROPIC_API_KEY='${goodKey}'\n`,
    );
    // The old token is wrong, the key is right.
    const first = await place.setUp(['', place.sandbox.token, '', 'no', '', '']);
    expect(first.output).toContain('DISCORD_TOKEN is set. Replace it? (y/N)');
    expect(first.output).toContain('ANTHROPIC_API_KEY is set. Replace it? (y/N)');
    expect(first.code).toBe(0);
    const after = `${others}DISCORD_TOKEN=${place.sandbox.token}\nDISCOCLAW_MODEL=opus # dear\nANTHROPIC_API_KEY='${goodKey}'\n`;
    expect(await place.env()).toBe(after);
    const second = await place.setUp(['no', '', 'maybe', 'yes', goodKey, '', '']);
    expect(second.output).toContain('Please answer yes or no.');
    expect(second.code).toBe(0);
    expect(await place.env()).toBe(after);
  });

  it('asks whether to notice by itself, with what that costs, leaves it off unless told, and writes into the file that a linked .env leads to', async () => {
    await using place = await openPlace();
    const { token } = place.sandbox;
    const secrets = join(place.folder, 'secrets');
    await writeFile(secrets, '# mine\n');
    await symlink(secrets, join(place.folder, '.env'));
    const first = await place.setUp([token, '', goodKey, '', '']);
    expect(first.code).toBe(0);
    expect(first.output).toContain('one more call of haiku for each message');
    expect(await readlink(join(place.folder, '.env'))).toBe(secrets);
    expect(await readFile(secrets, 'utf8')).toContain(`# mine\nDISCORD_TOKEN=${token}\n`);
    expect(await place.env()).not.toContain('DISCOCLAW_SUMMARY');
    const unpriced = await place.setUp(['no', '', 'no', '', 'yes'], { DISCOCLAW_FAST_MODEL: 'qwen' });
    expect(unpriced.output).toContain('call of qwen');
    expect(await place.env()).toMatch(/\nDISCOCLAW_SUMMARY_TO_DURABLE_ENABLED=true\n$/u);
  });

  it('loses nothing where the network is away or the input ends', async () => {
    await using place = await openPlace();
    const nowhere = { DISCORD_API_URL: 'http://127.0.0.1:2/api', ANTHROPIC_BASE_URL: 'http://127.0.0.1:2' };
    const first = await place.setUp(['the-token', 'yes', 'no', '', 'the-key', '', 'no', ''], nowhere);
    for (const variable of ['DISCORD_API_URL', 'ANTHROPIC_BASE_URL'])
      expect(first.output).toContain(variable);
    expect(first.code).toBe(0);
    expect(await place.env()).toBe('DISCORD_TOKEN=the-token\nANTHROPIC_API_KEY=the-key\n');

    await place.writeEnv('');
    const second = await place.setUp([place.sandbox.token]);
    expect(second.output).toContain('Stopped before the end. npm run setup goes on from what is in .env.');
    expect(second.code).toBe(1);
    expect(await place.env()).toBe(`DISCORD_TOKEN=${place.sandbox.token}\n`);
  });

  it('sets up a model without a token, and says so where the environment wins over what it wrote', async () => {
    await using place = await openPlace();
    expect((await place.setUp(['', '', goodKey, '', ''])).code).toBe(0);
    expect(await place.env()).toBe(`ANTHROPIC_API_KEY=${goodKey}\n`);
    const { output } = await place.setUp(['yes', place.sandbox.token, ''], { DISCORD_TOKEN: 'another' });
    expect(output).toContain('the environment sets DISCORD_TOKEN too, and wins over .env');
  });

  it.skipIf(!hasTerminals)(
    'shows no secret in a terminal, and ends by Ctrl-C with what was checked',
    async () => {
      await using place = await openPlace();
      const { said, type, exited } = startInTerminal({
        arguments: ['setup'],
        folder: place.folder,
        environment: place.addresses,
      });
      await eventually(() => expect(said()).toContain('Discord bot token'));
      type(`${place.sandbox.token}\r`);
      await eventually(() => expect(said()).toContain('Server ('));
      type('\r');
      await eventually(() => expect(said()).toContain('Model key'));
      type('sk-wrong\r');
      await eventually(() => expect(said()).toContain('refused the key'));
      type('\u0003');
      await exited;
      expect(said()).toContain('Stopped before the end');
      expect(said()).not.toMatch(/sandbox-token|sk-wrong/u);
      expect(await place.env()).toBe(`DISCORD_TOKEN=${place.sandbox.token}\n`);
    },
  );
});

it('npm run setup leads from nothing to a first answer by a server of the list [M10]', async () => {
  await using place = await openPlace();
  const mind = serverDouble(ollama, ({ hasTools }) => ({ text: hasTools ? 'It is tea.' : 'It is coffee.' }));
  const model = await startModelServer(
    mind,
    ({ model: asked }) => (asked === ollama.model ? { text: 'Hi' } : { status: 404 }),
    () => ollama.list,
  );
  const answers = [
    place.sandbox.token,
    'nowhere',
    '2',
    `${model.url}/v1/`,
    'qwen4',
    '',
    ollama.model,
    '',
    '',
  ];
  const child = startChild({
    arguments: ['setup'],
    folder: place.folder,
    environment: { DISCORD_API_URL: place.sandbox.apiUrl },
    input: answers.join('\n'),
  });
  expect(await child.exited).toBe(0);
  for (const [index, { name }] of [
    anthropic,
    ollama,
    llamaCpp,
    lmStudio,
    vllm,
    liteLlm,
    openRouter,
  ].entries())
    expect(child.output()).toContain(`${index + 1}  ${name}`);
  expect(child.output()).toContain('knows no model "qwen4"');
  expect(child.output()).toContain(`✓ ${ollama.model} answers.`);
  // It needs no key, and cuts long prompts without a word.
  expect(child.output()).not.toContain('Model key (hidden)');
  const env = readEnvFile(await place.env());
  expect(env).toEqual({
    DISCORD_TOKEN: place.sandbox.token,
    ANTHROPIC_BASE_URL: model.url,
    DISCOCLAW_CONTEXT_TOKENS: '4096',
    DISCOCLAW_MODEL: ollama.model,
    DISCOCLAW_FAST_MODEL: ollama.model,
  });
  const bot = await startBotHere({
    ...env,
    DISCORD_API_URL: place.sandbox.apiUrl,
    DISCOCLAW_DATA_DIR: join(place.folder, 'data'),
    DISCOCLAW_WORKSPACE_DIR: join(place.folder, 'workspace'),
  });
  const { owner } = await place.sandbox.info();
  const asked = await place.sandbox.say({ as: owner.name, in: 'dm', text: 'What is my drink?' });
  const answer = await place.sandbox.waitForReply({ in: asked.channelId, after: asked.id });
  expect(answer.text).toContain('It is ');
  await bot.stop();
  await model.close();
});
