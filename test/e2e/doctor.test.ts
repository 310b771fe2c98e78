import { utimesSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { runDoctor } from '../../src/bot/doctor.ts';
import {
  startTestSandbox,
  type TestSandboxOptions,
  type TestSandbox,
} from '../support/sandbox/test-sandbox.ts';
import { tokensIn } from '../model/servers/tokens.ts';
import { captured } from '../support/captured.ts';
import type { ModelAnswer } from '../support/model-answer.ts';
import { startModelServer, type ModelScript, type ModelServer } from '../support/model-server.ts';
import { startChild } from './child.ts';
import { laterBy } from './later.ts';
import { openStage } from './stage.ts';

/** Does what the doctor tries [M13]. */
const able: ModelScript = ({ tools, output_config: output }) => {
  if (tools !== undefined) return { toolUse: [{ name: 'note', input: { drink: 'tea' } }] };
  return output?.format === undefined ? { text: 'A heron' } : { json: { summary: 'Alice moved to Graz.' } };
};

/** A folder where a bot is set up in order, against a Discord and a model of its own. */
interface Practice extends AsyncDisposable {
  readonly sandbox: TestSandbox;
  readonly model: ModelServer;
  readonly folder: string;
  /** What the doctor says, line by line, with this in the environment. */
  examine(environment?: Readonly<Record<string, string>>): Promise<readonly string[]>;
  write(path: string, text: string): Promise<string>;
}

async function openPractice(
  options: { readonly sandbox?: TestSandboxOptions; readonly probe?: ModelScript } = {},
): Promise<Practice> {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-doctor-'));
  const sandbox = await startTestSandbox(options.sandbox);
  const model = await startModelServer(able, options.probe);
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
  readonly told: readonly Finding[];
}

/** One line's sign and subject, and what its text and its remedy name. */
type Finding = readonly [subject: string, named: string | RegExp, remedy: string];

/** Those that not exactly one line tells of, with the lines. */
function untold(lines: readonly string[], ...findings: readonly Finding[]): readonly unknown[] {
  const missing = findings.filter(([subject, named, remedy]) => {
    const isMeant = (text: string) => (typeof named === 'string' ? text.includes(named) : named.test(text));
    const found = lines.filter((line) => line.startsWith(`${subject}: `) && isMeant(line));
    return found.length !== 1 || found[0]?.split(' → ')[1]?.includes(remedy) !== true;
  });
  return missing.length === 0 ? [] : [...missing, lines];
}

const ofFiles = (all: readonly string[]) => all.filter((line) => line.includes(' files: '));

describe('npm run doctor [O1]', () => {
  it('finds no problem beside a running bot, and changes nothing', async () => {
    await using stage = await openStage({
      isBuilt: true,
      model: (body, index) =>
        body.tools?.[0]?.name === 'note' || body.system === undefined
          ? able(body, index)
          : { text: 'Here you are.' },
    });
    await stage.ask('alice', '#general', 'Are you there?');
    const { code, output } = await examined(stage.folder, {
      DISCORD_TOKEN: stage.info.token,
      DISCORD_API_URL: stage.info.apiUrl,
      ANTHROPIC_BASE_URL: stage.model.url,
    });
    expect(code).toBe(0);
    const lines = output.trim().split('\n');
    expect(lines.at(-1)).toMatch(/^0 broken, 0 to look at, \d+ in order$/u);
    for (const subject of ['process', 'files', 'servers', 'commands', 'model'])
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^✓ ${subject}: `, 'u')));
    expect((await stage.ask('alice', '#general', 'And now?')).text).toBe('Here you are.');
    expect(await stage.sandbox.sessions()).toHaveLength(1);
  });

  it.each<Situation>([
    {
      name: 'little room, no model server, a clock that is a little off, and commands that nobody registered',
      environment: {
        ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
        ...together(diskWith(500 * 2 ** 20), laterBy(60_000)),
      },
      told: [
        ['! disk', '500 MB', ''],
        ['✗ model', 'reached', 'ANTHROPIC_BASE_URL'],
        ['! clock', /ahead/u, 'timedatectl'],
        ['! commands', '', 'start the bot'],
      ],
    },
    {
      name: 'a variable that is none, a wrong token, no room, and no model',
      environment: {
        DISCOCLAW_DATADIR: 'x',
        DISCORD_TOKEN: 'wrong-token',
        ANTHROPIC_API_KEY: '',
        ANTHROPIC_BASE_URL: '',
        ...together(diskWith(5 * 2 ** 20), laterBy(-3_600_000)),
      },
      told: [
        ['! configuration', /DISCOCLAW_DATADIR .* DISCOCLAW_DATA_DIR/u, '.env'],
        ['✗ token', 'refused', 'DISCORD_TOKEN'],
        ['✗ disk', '5 MB', ''],
        ['✗ clock', /behind/u, 'timedatectl'],
        ['! model', '', 'npm run setup'],
      ],
    },
    {
      name: 'no Discord, and a wrong key',
      environment: { DISCORD_API_URL: 'http://127.0.0.1:9/api' },
      answer: { status: 401 },
      told: [
        ['✗ token', 'reached', 'DISCORD_API_URL'],
        ['✗ model', 'key', 'ANTHROPIC_API_KEY'],
      ],
    },
    {
      name: 'no token, and a web page in place of a model',
      environment: { DISCORD_TOKEN: '', DISCORD_API_URL: '' },
      answer: 'html',
      told: [
        ['! token', 'DISCORD_TOKEN', 'npm run setup'],
        ['✗ model', 'message', 'ANTHROPIC_BASE_URL'],
      ],
    },
  ])('tells of $name', async ({ environment, answer, told }) => {
    await using practice = await openPractice(answer === undefined ? {} : { probe: () => answer });
    expect(untold(await practice.examine(environment), ...told)).toEqual([]);
  });

  it('reports what is wrong with account, fast model and intents, and tries no longer prompt than the context that is set by hand holds [M13]', async () => {
    await using practice = await openPractice({
      sandbox: { disallowedIntents: ['messageContent'] },
      probe: () => ({ status: 400, error: 'Your credit balance is too low' }),
    });
    expect(
      untold(
        await practice.examine(),
        ['✗ intents', 'Message Content', 'https://discord.com/developers/applications/'],
        ['✗ model', 'Your credit balance is too low', 'account'],
      ),
    ).toEqual([]);
    await using small = await openPractice({
      probe: ({ model }) => (model === 'tiny' ? { status: 404 } : { text: 'Hello' }),
    });
    const lines = await small.examine({ DISCOCLAW_CONTEXT_TOKENS: '4096', DISCOCLAW_FAST_MODEL: 'tiny' });
    expect(untold(lines, ['✗ model', '"tiny"', 'DISCOCLAW_FAST_MODEL'])).toEqual([]);
    const longest = Math.max(...small.model.requests.map(({ body }) => tokensIn(body)));
    expect(longest).toBeGreaterThan(1_500);
    expect(longest).toBeLessThan(3_072);
  });

  it('reports missing permissions in a server and its channels, and a bot that is in no server', async () => {
    await using practice = await openPractice();
    const { sandbox } = practice;
    const { bot, guilds } = await sandbox.info();
    const [name, id] = Object.entries(guilds)[0] ?? ['', ''];
    const deny = ['SendMessages', 'AddReactions'] as const;
    await sandbox.setOverwrite({ channel: '#dev', for: '@everyone', deny: [...deny] });
    await sandbox.setOverwrite({ channel: '#dev', for: bot.name, allow: ['AddReactions'] });
    await sandbox.changePermissions({ for: bot.name, guild: name, deny: ['SendPolls'] });
    expect(
      untold(
        await practice.examine(),
        ['! servers', `(${id}) does not give Send Polls`, '&permissions='],
        ['! channels', /: #dev \(Send Messages\)/u, 'allow it'],
      ),
    ).toEqual([]);
    for (const role of [bot.name, '@everyone'])
      await sandbox.changePermissions({ for: role, guild: name, deny: ['ReadMessageHistory'] });
    expect(untold(await practice.examine(), ['✗ servers', id, '&permissions='])).toEqual([]);
    for (const guild of Object.keys(guilds)) await sandbox.setBotMembership({ guild, isMember: false });
    const invite = 'https://discord.com/oauth2/authorize?client_id=';
    expect(untold(await practice.examine(), ['! servers', 'no server', invite])).toEqual([]);
  });

  it('takes a server that does not tell its permissions [L5]', async () => {
    await using practice = await openPractice({
      sandbox: {
        sends: (body): unknown =>
          JSON.parse(
            JSON.stringify(body, (key, value: unknown) => (key === 'permissions' ? undefined : value)),
          ),
      },
    });
    expect(await practice.examine()).toContainEqual(expect.stringContaining('✓ servers: Sandbox'));
  });

  it('reports a path that is not a folder, an .env that others may read, and another bot on the data folder', async () => {
    await using practice = await openPractice();
    const file = await practice.write('file', '');
    expect(
      untold(await practice.examine({ DISCOCLAW_DATA_DIR: file }), ['✗ folders', file, 'DISCOCLAW_DATA_DIR']),
    ).toEqual([]);
    expect(
      untold(await practice.examine({ DISCOCLAW_PAGE_URL: 'http://memory.example.org' }), [
        '✗ configuration',
        'DISCOCLAW_PAGE_URL',
        '.env',
      ]),
    ).toEqual([]);
    const env = await practice.write('.env', 'DISCORD_TOKEN=x');
    await chmod(env, 0o644);
    const lock = await practice.write('data/.owner-12345678-7-1-00000000', '');
    let beats = 0;
    const beating = setInterval(() => utimesSync(lock, 0, (beats += 1)), 100);
    expect(
      untold(
        await practice.examine(),
        ['! configuration', 'others', `chmod 600 ${env}`],
        ['! process', '', 'DISCOCLAW_DATA_DIR'],
      ),
    ).toEqual([]);
    clearInterval(beating);
  });

  it('reports damaged files, and leaves them in place', async () => {
    await using practice = await openPractice();
    const files = ['users/1/durable.json', 'sessions/2/1/state.json', 'usage.json'];
    for (const file of files) await practice.write(`data/${file}`, '{ "version": 1, "items": ');
    await practice.write('data/users/2/settings.json', '{ "version": 99 }');
    await practice.write('data/quarantine/users/3/durable.json.20260115T120000000Z', 'nonsense');
    const lines = await practice.examine();
    expect(
      untold(
        lines,
        ...files.map((file) => ['✗ files', ` ${file} `, 'quarantine'] as const),
        ['✗ files', /users\/2\/settings\.json .*99/u, ''],
        ['! files', /quarantine/u, ''],
      ),
    ).toEqual([]);
    expect(ofFiles(await practice.examine())).toEqual(ofFiles(lines));
  });
});
