import { chmod, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { runDoctor } from '../../src/bot/doctor.ts';
import {
  startSandboxServer,
  type SandboxOptions,
  type SandboxServer,
} from '../../src/sandbox/sandbox-server.ts';
import { captured } from '../support/captured.ts';
import { freePort } from '../support/free-port.ts';
import type { ModelAnswer } from '../support/model-answer.ts';
import { startModelServer, type ModelScript, type ModelServer } from '../support/model-server.ts';
import { startChild } from './child.ts';
import { laterBy } from './later.ts';
import { openStage } from './stage.ts';

/** A folder where a bot is set up in order, against a Discord and a model of its own. */
interface Practice extends AsyncDisposable {
  readonly sandbox: SandboxServer;
  readonly model: ModelServer;
  readonly folder: string;
  /** What the doctor says, line by line, with this in the environment. */
  examine(environment?: Readonly<Record<string, string>>): Promise<readonly string[]>;
  write(path: string, text: string): Promise<string>;
}

async function openPractice(
  options: { readonly sandbox?: SandboxOptions; readonly probe?: ModelScript } = {},
): Promise<Practice> {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-doctor-'));
  const sandbox = await startSandboxServer(options.sandbox);
  const model = await startModelServer(() => 'silent', options.probe);
  const base = {
    DISCORD_TOKEN: sandbox.token,
    DISCORD_API_URL: sandbox.apiUrl,
    ANTHROPIC_API_KEY: 'sk-of-the-test',
    ANTHROPIC_BASE_URL: model.url,
  };
  return {
    sandbox,
    model,
    folder,
    async examine(environment = {}) {
      const { code, output } = await examined(folder, { ...base, ...environment });
      expect(output).not.toMatch(/sk-of-the-test|sandbox-token|wrong-token/u);
      const lines = output.trim().split('\n');
      expect(code).toBe(lines.some((line) => line.startsWith('✗')) ? 1 : 0);
      return lines;
    },
    async write(path, text) {
      await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
      await writeFile(join(folder, path), text, { mode: 0o600 });
      return join(folder, path);
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await model.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs the doctor in a folder: in this process, or in one of its own where that has to be prepared. */
async function examined(
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly output: string }> {
  if (environment['NODE_OPTIONS'] !== undefined) {
    const child = startChild({ arguments: ['doctor'], folder, environment });
    return { code: await child.exited, output: child.output() };
  }
  const before = process.cwd();
  process.chdir(folder);
  try {
    return await captured(() => runDoctor(environment));
  } finally {
    process.chdir(before);
  }
}

/** Loaded into the doctor's process before it: the disk has so many bytes left. */
function diskWith(bytes: number): Readonly<Record<string, string>> {
  const script = `import fs from 'node:fs/promises';
    import { syncBuiltinESMExports } from 'node:module';
    fs.statfs = async () => ({ bavail: ${bytes}, bsize: 1 });
    syncBuiltinESMExports();`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

/** Two of these at once. */
function together(
  first: Readonly<Record<string, string>>,
  second: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return { ...first, ...second, NODE_OPTIONS: `${first['NODE_OPTIONS']} ${second['NODE_OPTIONS']}` };
}

/** Things that are not in order at the same time, and hide nothing of each other. */
interface Situation {
  readonly name: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** What the model's server answers; default: a message. */
  readonly answer?: ModelAnswer;
  /** What begins the line on each, and what that says to do. */
  readonly told: readonly (readonly [said: string | RegExp, remedy: string])[];
}

const anyServer = /^✓ servers: .+ gives all permissions$/u;

describe('npm run doctor [O1]', () => {
  it('finds no problem beside a running bot, and changes nothing', async () => {
    const port = await freePort();
    const page = { DISCOCLAW_PAGE_PORT: String(port), DISCOCLAW_PAGE_URL: `http://127.0.0.1:${port}` };
    await using stage = await openStage({
      isBuilt: true,
      environment: page,
      model: () => ({ text: 'Here you are.' }),
    });
    await stage.ask('alice', '#general', 'Are you there?');
    const { code, output } = await examined(stage.folder, {
      DISCORD_TOKEN: stage.info.token,
      DISCORD_API_URL: stage.info.apiUrl,
      ANTHROPIC_BASE_URL: stage.model.url,
      ...page,
    });
    expect(code).toBe(0);
    const lines = output.trim().split('\n');
    expect(lines.at(-1)).toMatch(/^0 broken, 0 to look at, \d+ in order$/u);
    expect(lines).toContainEqual(expect.stringMatching(/^✓ process: process \d+ runs on the data folder/u));
    expect(lines).toContainEqual(expect.stringMatching(/^✓ files: [1-9]\d* files can be read$/u));
    expect(lines).toContainEqual(expect.stringMatching(anyServer));
    expect(lines).toContain('✓ commands: Discord has the slash commands');
    expect(lines).toContain('✓ model: sonnet answers');
    expect(lines).toContain(`✓ page: http://127.0.0.1:${port} answers, on this machine alone`);
    expect((await stage.ask('alice', '#general', 'And now?')).text).toBe('Here you are.');
    expect(await stage.sandbox.sessions()).toHaveLength(1);
  });

  it.each<Situation>([
    {
      name: 'a bad variable, little room, no model server, a clock that is a little off, and commands that nobody registered',
      environment: {
        DISCOCLAW_TIMEZONE: 'Atlantis/Centre',
        DISCOCLAW_STORE: 'postgre://user@host/database',
        DISCOCLAW_SHARDS: '4',
        DISCOCLAW_PROCESSES: '2',
        ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
        ...together(diskWith(500 * 2 ** 20), laterBy(60_000)),
      },
      told: [
        ['✗ configuration: DISCOCLAW_TIMEZONE: expected an IANA time zone', 'put it right in .env'],
        ['✗ configuration: DISCOCLAW_STORE: expected', 'put it right in .env'],
        ['! disk: 500 MB are free', 'make room on the disk'],
        ["✗ model: The model's server cannot be reached", 'check the network and ANTHROPIC_BASE_URL'],
        [
          /^! clock: this machine's clock is (?:59|6\d) seconds ahead of Discord's/u,
          'timedatectl set-ntp true',
        ],
        [
          '! commands: Discord does not have the slash commands of this version',
          'start the bot, which registers them',
        ],
      ],
    },
    {
      name: 'a variable that is none, a wrong token, no room, and no model',
      environment: {
        DISCOCLAW_DATADIR: 'x',
        DISCORD_TOKEN: 'wrong-token',
        ANTHROPIC_API_KEY: '',
        ANTHROPIC_BASE_URL: '',
        ...diskWith(5 * 2 ** 20),
      },
      told: [
        [
          '! configuration: DISCOCLAW_DATADIR is not a variable of this bot; did you mean DISCOCLAW_DATA_DIR?',
          'put it right in .env',
        ],
        ['✗ token: Discord refused the token', 'check DISCORD_TOKEN'],
        ['✗ disk: 5 MB are free', 'make room on the disk'],
        ['! model: no model is set', 'npm run setup'],
      ],
    },
    {
      name: 'a clock that is far off, and a wrong key',
      environment: laterBy(-3_600_000),
      answer: { status: 401 },
      told: [
        [
          /^✗ clock: this machine's clock is (?:3600|35\d\d) seconds behind Discord's/u,
          'timedatectl set-ntp true',
        ],
        ["✗ model: The model's server refused the key", 'check ANTHROPIC_API_KEY'],
      ],
    },
    {
      name: 'no token, and a model that there is not',
      environment: { DISCORD_TOKEN: '', DISCORD_API_URL: '' },
      answer: { status: 404 },
      told: [
        ['! token: DISCORD_TOKEN is not set', 'npm run setup'],
        ['✗ model: The model\'s server knows no model "sonnet"', 'check DISCOCLAW_MODEL'],
      ],
    },
    {
      name: 'no Discord, and a key that is used up for now',
      environment: { DISCORD_API_URL: 'http://127.0.0.1:9/api' },
      answer: { status: 429 },
      told: [
        ['✗ token: Discord cannot be reached', 'check the network and DISCORD_API_URL'],
        ["! model: The model's server answered 429 rate_limit_error", 'raise the limits of the key'],
      ],
    },
    {
      name: 'a key without credit',
      answer: { status: 400, error: 'Your credit balance is too low' },
      told: [
        [
          "✗ model: The model's server answered 400 invalid_request_error: Your credit balance is too low",
          'look into the account',
        ],
      ],
    },
    {
      name: 'a page that nobody serves at its address',
      environment: { DISCOCLAW_PAGE_PORT: '8080', DISCOCLAW_PAGE_URL: 'https://127.0.0.1:9' },
      told: [
        [
          '! page: https://127.0.0.1:9 cannot be reached from this machine (',
          'pass requests on to 127.0.0.1:8080',
        ],
      ],
    },
    {
      name: 'a page whose address is not https',
      environment: { DISCOCLAW_PAGE_PORT: '8080', DISCOCLAW_PAGE_URL: 'http://memory.example.org' },
      told: [['✗ configuration: DISCOCLAW_PAGE_URL: expected an https address', 'put it right in .env']],
    },
    {
      name: 'a web page in place of a model',
      answer: 'html',
      told: [["✗ model: The model's answer is not a message", 'check the network and ANTHROPIC_BASE_URL']],
    },
  ])('tells of $name', async ({ environment, answer, told }) => {
    await using practice = await openPractice(answer === undefined ? {} : { probe: () => answer });
    const lines = await practice.examine(environment);
    for (const [said, remedy] of told) expect(remedyFor(said, lines)).toContain(remedy);
  });

  it('reports that something else answers at the address of the page', async () => {
    await using practice = await openPractice();
    const lines = await practice.examine({
      DISCOCLAW_PAGE_PORT: '8080',
      DISCOCLAW_PAGE_URL: new URL(practice.sandbox.apiUrl).origin,
    });
    expect(remedyFor(/^! page: .+ answers, but not with the page \(status 404\)/u, lines)).toContain(
      'start the bot',
    );
  });

  it('reports that Message Content is switched off', async () => {
    await using practice = await openPractice({ sandbox: { disallowedIntents: ['messageContent'] } });
    const lines = await practice.examine();
    expect(remedyFor('✗ intents: Message Content is switched off', lines)).toContain(
      'https://discord.com/developers/applications/',
    );
  });

  it('reports missing permissions in a server, and a bot that is in no server', async () => {
    await using practice = await openPractice();
    const { bot, guilds } = await practice.sandbox.info();
    const [[name, id] = []] = Object.entries(guilds);
    await practice.sandbox.changePermissions({ for: bot.name, guild: name ?? '', deny: ['SendPolls'] });
    const first = await practice.examine();
    expect(remedyFor(`! servers: ${name} (${id}) does not give Send Polls`, first)).toContain(
      '&permissions=',
    );
    for (const essential of ['ViewChannel', 'SendMessages', 'ReadMessageHistory'] as const) {
      const change = async (how: 'allow' | 'deny') => {
        for (const role of [bot.name, '@everyone'])
          await practice.sandbox.changePermissions({ for: role, guild: name ?? '', [how]: [essential] });
      };
      await change('deny');
      const line = new RegExp(`^✗ servers: ${name} .+ does not give .+, so the bot cannot answer there`, 'u');
      expect(remedyFor(line, await practice.examine())).toContain('&permissions=');
      await change('allow');
    }
    for (const guild of Object.keys(guilds))
      await practice.sandbox.setBotMembership({ guild, isMember: false });
    const second = await practice.examine();
    expect(remedyFor('! servers: the bot is in no server', second)).toContain(
      'invite it: https://discord.com/oauth2/authorize?client_id=',
    );
  });

  it.each([undefined, null])('takes a server that does not tell its permissions: %s', async (left) => {
    const leaveOut = (key: string, value: unknown): unknown => (key === 'permissions' ? left : value);
    await using practice = await openPractice({
      sandbox: { sends: (body) => JSON.parse(JSON.stringify(body), leaveOut) },
    });
    const { guilds } = await practice.sandbox.info();
    const lines = await practice.examine();
    expect(lines).toContain(`✓ servers: Sandbox (${guilds['Sandbox']}) does not tell its permissions`);
  });

  it('reports a path that is not a folder, and a folder that others may read', async () => {
    await using practice = await openPractice();
    const file = await practice.write('file', '');
    const first = await practice.examine({ DISCOCLAW_DATA_DIR: file });
    expect(remedyFor(`✗ folders: ${file} is not a folder`, first)).toContain(
      'set DISCOCLAW_DATA_DIR to another folder',
    );
    await mkdir(join(practice.folder, 'data'));
    await chmod(join(practice.folder, 'data'), 0o755);
    const second = await practice.examine();
    expect(remedyFor('! folders: others on this machine may look into', second)).toContain(
      `chmod 700 ${join(practice.folder, 'data')}`,
    );
  });

  it('reports an .env that others may read', async () => {
    await using practice = await openPractice();
    await chmod(await practice.write('.env', 'DISCORD_TOKEN=x'), 0o644);
    const lines = await practice.examine();
    expect(remedyFor('! configuration: others on this machine may read', lines)).toContain(
      `chmod 600 ${join(practice.folder, '.env')}`,
    );
  });

  it('reports another bot on the data folder', async () => {
    await using practice = await openPractice();
    const lock = await practice.write('data/.owner-12345678-7-1-00000000', '');
    const first = await practice.examine();
    expect(remedyFor('! process: a bot on another machine or in a container runs on', first)).toContain(
      'set DISCOCLAW_DATA_DIR to a folder of its own',
    );
    await utimes(lock, 0, 0);
    expect(await practice.examine()).toContain('✓ process: no bot runs on the data folder');
  });

  it('reports damaged files, and leaves them in place', async () => {
    await using practice = await openPractice();
    const files = ['data/users/1/durable.json', 'data/sessions/2/1/state.json', 'data/usage.json'];
    for (const file of files) await practice.write(file, '{ "version": 1, "items": ');
    await practice.write('data/users/2/settings.json', '{ "version": 99 }');
    await practice.write(
      'data/sessions/2/1/messages.jsonl',
      '{"sequence":1}\nnonsense\n{"sequence":2}\nhalf a li',
    );
    await practice.write('data/quarantine/users/3/durable.json.20260115T120000000Z', 'nonsense');
    const lines = await practice.examine();
    for (const file of files)
      expect(remedyFor(`✗ files: ${file.slice('data/'.length)} is damaged (not JSON)`, lines)).toContain(
        'put it right by hand; otherwise it goes to quarantine',
      );
    expect(remedyFor('✗ files: users/2/settings.json has version 99', lines)).toContain(
      'start the version that wrote it',
    );
    expect(remedyFor('! files: 1 damaged lines of sessions/2/1/messages.jsonl', lines)).toContain(
      'put them right by hand',
    );
    expect(remedyFor('! files: 1 damaged files lie in', lines)).toContain(
      'put right what you can, and remove them',
    );
    expect(ofFiles(await practice.examine())).toEqual(ofFiles(lines));
  });
});

function ofFiles(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line.includes(' files: '));
}

/** What the one line that says so tells to do. */
function remedyFor(said: string | RegExp, lines: readonly string[]): string | undefined {
  const found = lines.filter((line) => (typeof said === 'string' ? line.startsWith(said) : said.test(line)));
  if (found.length !== 1) throw new Error(`${found.length} lines say so:\n${lines.join('\n')}`);
  return found[0]?.split(' → ')[1];
}
