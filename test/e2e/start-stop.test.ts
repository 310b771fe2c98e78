import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

import { startTestSandbox } from '../support/sandbox/test-sandbox.ts';
import { halfText } from '../support/model-answer.ts';
import { startModelServer } from '../support/model-server.ts';
import { answersTo } from './answers-to.ts';
import { startBotHere } from './bot-here.ts';
import { startChild, startNpm, type Child } from './child.ts';
import { deferred } from '../support/deferred.ts';
import { eventually } from '../support/eventually.ts';
import { laterBy } from './later.ts';
import { openStage, type Stage } from './stage.ts';

/** What is said outside the log. */
function plainLines({ output }: Pick<Child, 'output'>): readonly string[] {
  return output()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('{'));
}

describe.concurrent('a bot that cannot start', () => {
  let root: string;
  const started: Child[] = [];
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'discoclaw-start-'));
  });
  afterAll(async () => {
    await Promise.all(started.map((child) => child.end('SIGKILL')));
    await rm(root, { recursive: true, force: true });
  });

  /** Starts the bot in a folder of its own. */
  async function start(environment: Readonly<Record<string, string>>): Promise<Child & { folder: string }> {
    const folder = await mkdtemp(join(root, 'bot-'));
    const child = startChild({ folder, environment });
    started.push(child);
    return { ...child, folder };
  }

  it('names every bad variable in one message, ends with code 78, and has started nothing [I1]', async () => {
    const child = await start({
      DISCORD_TOKEN: 'secret-token',
      DISCORD_ALLOW_USER_IDS: 'alice',
      DISCOCLAW_DURABLE_MAX_ITEMS: 'many',
      ANTHROPIC_BASE_URL: 'nowhere',
    });
    expect(await child.exited).toBe(78);
    const [head, ...lines] = child.output().trim().split('\n');
    expect(head).toContain('3 problems');
    expect(lines.map((line) => /^ {2}- (\w+): expected/.exec(line)?.[1])).toEqual([
      'DISCORD_ALLOW_USER_IDS',
      'ANTHROPIC_BASE_URL',
      'DISCOCLAW_DURABLE_MAX_ITEMS',
    ]);
    expect(child.output()).not.toContain('secret-token');
    expect(await readdir(child.folder)).toEqual([]);
  });

  it('started from another folder takes .env and data of its own, says so, waits for a Discord that cannot be reached, and connects once it can [O2] [O7]', async () => {
    const probe = await startTestSandbox();
    const { apiUrl, token, url } = probe;
    await probe.close();
    const program = await mkdtemp(join(root, 'program-'));
    const elsewhere = await mkdtemp(join(root, 'elsewhere-'));
    await mkdir(join(program, 'dist'));
    await symlink(inject('program'), join(program, 'dist/main.mjs'));
    const env = { DISCORD_TOKEN: token, DISCORD_API_URL: apiUrl, DISCOCLAW_ACCESS: 'everyone' };
    const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(join(program, '.env'), lines);
    const child = startChild({ script: join(program, 'dist/main.mjs'), folder: elsewhere });
    started.push(child);
    await child.waitFor('Discord cannot be reached: check the network and DISCORD_API_URL');
    const sandbox = await startTestSandbox({ token, port: Number(new URL(url).port) });
    await child.waitFor('"the bot is ready"');
    expect(await child.end('SIGTERM')).toBe(0);
    await sandbox.close();
    expect(child.output()).toContain(`it uses .env, data and workspace of ${program}`);
    expect(child.output()).not.toContain('Alice');
    expect(await readdir(elsewhere)).toEqual([]);
    expect(await readdir(program)).toContain('data');
  });

  it('goes on where nobody can read its log, as on a full disk, and a closed terminal stops it in order [O7]', async () => {
    const sandbox = await startTestSandbox();
    const folder = await mkdtemp(join(root, 'bot-'));
    const full = await open('/dev/full', 'w');
    const child = spawn(process.execPath, [inject('program')], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        DISCORD_TOKEN: sandbox.token,
        DISCORD_API_URL: sandbox.apiUrl,
        DISCOCLAW_ACCESS: 'everyone',
      },
      stdio: ['ignore', full.fd, full.fd],
    });
    const ended = once(child, 'exit');
    const registered = () => sandbox.requests({ method: 'PUT', path: '/applications/*/commands' });
    await expect.poll(async () => (await registered()).length, { timeout: 60_000 }).toBeGreaterThan(0);
    await sandbox.say({ as: 'alice', in: 'dm', text: '!memory help' });
    const answers = () => sandbox.messages({ in: '@alice', from: 'bot' });
    await expect.poll(async () => (await answers()).length, { timeout: 60_000 }).toBeGreaterThan(0);
    child.kill('SIGHUP');
    expect(await ended).toEqual([0, null]);
    await full.close();
    await sandbox.close();
  });

  it('says in one line that Discord refuses the token, and ends with code 78 [O2]', async () => {
    const sandbox = await startTestSandbox();
    const child = await start({ DISCORD_TOKEN: 'wrong-token', DISCORD_API_URL: sandbox.apiUrl });
    expect(await child.exited).toBe(78);
    await sandbox.close();
    expect(plainLines(child)).toEqual([expect.stringContaining('DISCORD_TOKEN')]);
    expect(child.output()).not.toContain('wrong-token');
  });

  it('ends with code 78 where the gateway refuses it for good while it runs, after it has stopped in order [O2] [O7]', async () => {
    await using stage = await openStage({ isBuilt: true });
    const { exited } = stage.bot();
    await stage.sandbox.setGatewayFault({ kind: 'closed', code: 4013, times: 5 });
    await stage.sandbox.dropConnection({ code: 4013 });
    expect(await exited).toBe(78);
    expect(plainLines(stage.bot())).toHaveLength(1);
    expect(stage.bot().output()).toContain('"the bot has stopped"');
    expect(stage.bot().output()).toContain('update the bot');
    // No stack of the library's.
    expect(stage.bot().output()).not.toContain('node_modules');
  });

  it('says that the key is wrong also while Discord cannot be reached [O2]', async () => {
    const model = await startModelServer(
      () => 'silent',
      () => ({ status: 401 }),
    );
    const child = await start({
      DISCORD_TOKEN: 'some-token',
      DISCORD_API_URL: 'http://127.0.0.1:9/api',
      ANTHROPIC_BASE_URL: model.url,
    });
    expect(await child.exited).toBe(78);
    expect(child.output()).toContain("The model's server wants a key: set ANTHROPIC_API_KEY");
    await model.close();
  });

  describe.skipIf(inject('databaseUrl') !== undefined)('on a folder that cannot be used [O2] [O7]', () => {
    it('ends with code 75 and one line when its folder is taken from it while it runs, and writes nothing more [S8]', async () => {
      await using stage = await openStage({ isBuilt: true });
      const { exited } = stage.bot();
      const data = join(stage.folder, 'data');
      const lock = (await readdir(data)).find((name) => name.startsWith('.owner-'));
      await rm(join(data, lock ?? 'no lock'));
      expect(await exited).toBe(75);
      expect(plainLines(stage.bot())).toEqual([expect.stringContaining('writes nothing more')]);
      expect(await readdir(data)).not.toContainEqual(expect.stringMatching(/^\.owner-/u));
    });

    /** Nobody special: root may do everything. */
    const user = process.getuid?.() === 0 ? 65_534 : (process.getuid?.() ?? 0);
    const isOwner = process.getuid?.() === user;
    const group = isOwner ? process.getgid?.() : user;
    const variables = [
      'DISCOCLAW_DATA_DIR',
      'DISCOCLAW_WORKSPACE_DIR',
      'DISCOCLAW_DURABLE_DATA_DIR',
    ] as const;
    const ways = [
      {
        name: 'is a file',
        make: (path: string) => writeFile(path, ''),
        says: (path: string) => `${path} cannot be used, since ${path} is not a folder`,
      },
      {
        name: 'has a parent that may not be written',
        make: (path: string) => chmod(dirname(path), 0o555),
        says: (path: string) =>
          `${path} cannot be written by the user ${userName()} (${user}) (EACCES at ${dirname(path)}): make it for that user (mkdir -p ${path} && chown ${user}:${group} ${path})`,
      },
    ];
    const userName = () => (isOwner ? userInfo().username : 'nobody');

    async function startThere(environment: Readonly<Record<string, string>>): Promise<Child> {
      const folder = await mkdtemp(join(root, 'bot-'));
      // Its operator can get that far.
      for (const above of [tmpdir(), root]) await chmod(above, (await stat(above)).mode | 0o011);
      await chmod(folder, 0o777);
      const child = startChild({
        folder,
        user,
        environment: { DISCORD_TOKEN: 'x', DISCORD_API_URL: 'http://127.0.0.1:9/api', ...environment },
      });
      started.push(child);
      return child;
    }

    it.each(ways)(
      'says so in one line for each variable where it $name, with the user and what to do, and ends with code 78',
      async ({ make, says }) => {
        const folders = await Promise.all(
          variables.map(async (variable) => {
            const above = await mkdtemp(join(root, 'folder-'));
            await chmod(above, 0o755);
            await make(join(above, 'folder'));
            return [variable, join(above, 'folder')] as const;
          }),
        );
        const child = await startThere(Object.fromEntries(folders));
        expect(await child.exited).toBe(78);
        const lines = plainLines(child);
        expect(lines).toEqual(folders.map(([, path]) => expect.stringContaining(says(path))));
        for (const [index, [variable]] of folders.entries())
          expect(lines[index]).toContain(`or set ${variable} to another folder`);
      },
    );
  });

  it('stops at once while Discord asks for a pause at login [O7]', async () => {
    const sandbox = await startTestSandbox();
    await sandbox.setFault({ kind: '429', retryAfterSeconds: 3600, route: '*', times: 100 });
    const child = await start({ DISCORD_TOKEN: sandbox.token, DISCORD_API_URL: sandbox.apiUrl });
    await child.waitFor('asks for a pause (for 60 minutes)');
    const began = Date.now();
    expect(await child.end('SIGTERM')).toBe(0);
    // Long before Discord would have answered, also on a machine that is busy.
    expect(Date.now() - began).toBeLessThan(60_000);
    await sandbox.close();
  });

  // In a database several may be at home [X3].
  it.skipIf(inject('databaseUrl') !== undefined)(
    'leaves a data folder to the bot that is using it',
    async () => {
      await using stage = await openStage({ isBuilt: true });
      const second = await start({
        DISCORD_TOKEN: stage.info.token,
        DISCORD_API_URL: stage.info.apiUrl,
        DISCOCLAW_DATA_DIR: join(stage.folder, 'data'),
      });
      expect(await second.exited).toBe(1);
      expect(second.output()).toMatch(/^The data folder \S+ is in use by process \d+ /m);
      expect(await stage.sandbox.sessions()).toHaveLength(1);
    },
  );
});

describe.concurrent('a bot that is told to stop [G4]', () => {
  it('finishes the reply that it is working on and the work after it, and ends with code 0', async () => {
    const thought = deferred<void>();
    await using stage = await openStage({
      environment: { DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1' },
      model: (body) =>
        body.model?.includes('haiku') === true
          ? { text: 'A summary of what Alice said.', delayMs: 300 }
          : { text: 'Here you are.', held: thought.promise },
    });
    await stage.startBuilt();
    const said = await stage.sandbox.say({ as: 'alice', in: '#general', text: 'Something long, please' });
    await eventually(() => expect(stage.model.requests).toHaveLength(1));
    const code = stage.stopBot();
    const late = await stage.sandbox.say({ as: 'bob', in: '#dev', text: 'Am I too late?' });
    thought.resolve();
    expect(await code).toBe(0);

    const replies = await answersTo(stage.sandbox, said);
    expect(replies.map(({ text }) => text)).toEqual(['Here you are.']);
    const summarised = async () =>
      expect(await stage.readFile(`data/sessions/${said.channelId}/${said.author.id}/state.json`)).toContain(
        'A summary of what Alice said.',
      );
    // Over a database the work waits for whichever process takes it next.
    if (inject('databaseUrl') === undefined) await summarised();

    await stage.startBot();
    await stage.answerTo(late);
    await eventually(summarised);
    expect(await answersTo(stage.sandbox, said)).toHaveLength(1);
    expect(await answersTo(stage.sandbox, late)).toHaveLength(1);
  });

  it('leaves a reply that takes too long to the next start, and marks one that people see the beginning of', async () => {
    let isSlow = true;
    await using stage = await openStage({
      model: (body) => {
        if (!isSlow) return { text: 'At last.' };
        return JSON.stringify(body.messages).includes('Begin') ? 'stall' : 'silent';
      },
    });
    await stage.startBuilt();
    const said = await stage.sandbox.say({ as: 'alice', in: 'dm', text: 'Take your time' });
    const begun = await stage.sandbox.say({ as: 'bob', in: '#general', text: 'Begin, and then wait' });
    await stage.sandbox.waitForReply({ in: '#general', containing: halfText.trim() });
    await eventually(() => expect(stage.model.requests).toHaveLength(2));
    expect(await stage.stopBot()).toBe(0);
    expect(await answersTo(stage.sandbox, said)).toEqual([]);
    const marked = await stage.sandbox.messages({ in: '#general', from: 'bot' });
    expect(marked.map(({ text }) => text.split('\n-# '))).toEqual([
      [halfText.trim(), expect.stringContaining('broke off here')],
    ]);

    isSlow = false;
    await stage.startBot();
    const reply = await stage.answerTo(said);
    expect(reply.text).toBe('At last.');
    expect(await answersTo(stage.sandbox, said)).toHaveLength(1);
    expect((await answersTo(stage.sandbox, begun)).map(({ text }) => text)).toEqual(
      marked.map(({ text }) => text),
    );
  });
});

/** A folder from which npm runs what is built here. */
async function openProject(): Promise<{ readonly folder: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-npm-'));
  const root = new URL('../..', import.meta.url).pathname;
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  for (const name of ['scripts', 'src', 'dist', 'node_modules'])
    await symlink(join(root, name), join(folder, name));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** `npm start` in place of the stage's bot. */
async function npmStart(stage: Stage, folder: string, more: Readonly<Record<string, string>> = {}) {
  await stage.stopBot();
  return startNpm({ arguments: ['start'], folder, environment: { ...stage.environment, ...more } });
}

/** As from the terminal. */
const toGroup = ({ pid = 0 }: Child, signal: NodeJS.Signals | 0) => process.kill(-pid, signal);

describe.concurrent('a signal to npm reaches what it runs [O7]', () => {
  it.each([
    ['SIGTERM to npm alone', (npm: Child) => void npm.end('SIGTERM')],
    // Once from the terminal, and once from npm, which passes it on.
    ['Ctrl-C, which all of them get', (npm: Child) => toGroup(npm, 'SIGINT')],
  ])('%s: the bot finishes its reply and ends in order, and can be started again', async (_, send) => {
    const thought = deferred<void>();
    await using project = await openProject();
    await using stage = await openStage({ model: () => ({ text: 'Here you are.', held: thought.promise }) });
    const npm = await npmStart(stage, project.folder);
    await npm.waitFor('"the bot is ready"');
    const said = await stage.sandbox.say({ as: 'alice', in: '#general', text: 'Something long, please' });
    await eventually(() => expect(stage.model.requests).toHaveLength(1));
    send(npm);
    // Long enough for both signals, and still the first reply is awaited.
    await delay(500);
    thought.resolve();
    await npm.waitFor('"the bot has stopped"');
    await npm.exited;
    const replies = await answersTo(stage.sandbox, said);
    expect(replies.map(({ text }) => text)).toEqual(['Here you are.']);
    await stage.startBot();
  });

  it('a second Ctrl-C a while later ends the bot at once', async () => {
    await using project = await openProject();
    await using stage = await openStage({ model: () => 'silent' });
    const npm = await npmStart(stage, project.folder);
    await npm.waitFor('"the bot is ready"');
    await stage.sandbox.say({ as: 'alice', in: '#general', text: 'Something long, please' });
    await eventually(() => expect(stage.model.requests).toHaveLength(1));
    toGroup(npm, 'SIGINT');
    await delay(1500);
    toGroup(npm, 'SIGINT');
    await npm.exited;
    expect(npm.output()).not.toContain('"the bot has stopped"');
  });

  it('npm start says what to do where nothing is built yet', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'discoclaw-unbuilt-'));
    await cp(new URL('../../package.json', import.meta.url), join(folder, 'package.json'));
    await mkdir(join(folder, 'scripts'));
    await cp(new URL('../../scripts/is-built.mjs', import.meta.url), join(folder, 'scripts/is-built.mjs'));
    const npm = startNpm({ arguments: ['start'], folder });
    expect(await npm.exited).toBe(1);
    expect(npm.output()).toContain('Nothing is built here yet: run npm ci');
    expect(npm.output()).not.toContain('MODULE_NOT_FOUND');
    await rm(folder, { recursive: true });
  });

  it('every script gives its place to the program that it runs', async () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(
      await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
    );
    expect(Object.values(scripts).filter((command) => !/^exec [^&]+$/u.test(command))).toEqual([]);
  });
});

describe.concurrent('a clock that is wrong [O7]', () => {
  it('is reported at the start, and only then, and loses no fresh message', async () => {
    await using stage = await openStage({ model: () => ({ text: 'Here you are.' }) });
    expect(stage.bot().output()).not.toContain("this machine's clock");
    await stage.ask('alice', 'dm', 'Are you there?');
    await stage.stopBot();
    const missed = await stage.sandbox.say({ as: 'alice', in: 'dm', text: 'And now?' });
    await stage.startBuilt(laterBy(10 * 60_000));
    expect(stage.bot().output()).toContain("this machine's clock is 10 minutes ahead of Discord's");
    expect((await stage.answerTo(missed)).text).toBe('Here you are.');
  });
});

describe.skipIf(inject('databaseUrl') !== undefined)('a second bot with the same token', () => {
  it('is reported in the log, and to the owner, once [O7]', async () => {
    let answers = 0;
    await using stage = await openStage({ model: () => ({ text: `Answer number ${(answers += 1)}.` }) });
    const folders = { DISCOCLAW_DATA_DIR: 'other-data', DISCOCLAW_WORKSPACE_DIR: 'other-workspace' };
    const away = Object.entries(folders).map(([name, folder]) => [name, join(stage.folder, folder)]);
    const other = await startBotHere({ ...stage.environment, ...Object.fromEntries(away) });
    const told = 'Another process answers with my token';
    const both = () => stage.bot().output() + other.output();
    const { owner } = stage.info;
    try {
      for (let round = 0; round < 2; round += 1) await stage.ask('alice', '#general', `Question ${round}`);
      expect(both()).not.toContain(told);
      await eventually(async () => {
        await stage.ask('alice', '#general', 'And another question?');
        expect(both()).toContain(told);
      });
      const toOwner = async () =>
        (await stage.sandbox.messages({ as: owner.id, in: 'dm' })).filter(({ text }) => text.includes(told));
      await eventually(async () => expect(await toOwner()).toHaveLength(1));
      await stage.ask('alice', '#general', 'And one more?');
      expect(await toOwner()).toHaveLength(1);
    } finally {
      await other.stop();
    }
  });
});
