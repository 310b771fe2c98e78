import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { placesOfShards, type ShardPlace } from '../support/two-shards.ts';
import { openStage, type Stage } from './stage.ts';

const shards = 4;
let stage: Stage;
let places: readonly ShardPlace[];

beforeEach(async () => {
  const port = await freePort();
  stage = await openStage({
    isBuilt: true,
    sharding: { shards, maxConcurrency: 16 },
    model: () => ({ text: 'Understood.' }),
    environment: {
      DISCOCLAW_SHARDS: String(shards),
      DISCOCLAW_PROCESSES: '2',
      DISCOCLAW_PAGE_PORT: String(port),
      DISCOCLAW_PAGE_URL: `http://127.0.0.1:${port}`,
    },
  });
  places = await placesOfShards(stage.sandbox, shards);
});

afterEach(() => stage[Symbol.asyncDispose]());

/** JSON lines of the log, of one event. */
function linesOf(event: string): readonly Record<string, unknown>[] {
  return stage
    .bot()
    .output()
    .split('\n')
    .flatMap((line) => {
      if (!line.includes(`"${event}"`)) return [];
      const parsed: Record<string, unknown> = JSON.parse(line);
      return [parsed];
    });
}

/** Resolves when so many starts of processes have come to their ends. */
async function started(times: number): Promise<void> {
  await eventually(() => expect(linesOf('the bot is ready').length).toBe(times));
}

/** The id of one of the bot's processes, which its log numbers. */
async function pidOf(number: number): Promise<number> {
  const { readdir, readFile } = await import('node:fs/promises');
  const parent = stage.bot().pid;
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/u.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    const [, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(ppid) === parent && command.includes(`--supervised=${number}/`)) return Number(name);
  }
  throw new Error(`Process ${number} does not run`);
}

describe('two processes with two shards each over one database [X3]', () => {
  it('answer a person in servers of both and in direct messages, and remember for both', async () => {
    await started(2);
    const sessions = await stage.sandbox.sessions();
    expect(sessions.map(({ shard }) => shard.id).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    for (const { channel } of places) {
      const said = await stage.sandbox.say({ as: 'bob', in: channel, text: 'hello', mentionBot: true });
      expect((await stage.answerTo(said)).text).toBe('Understood.');
    }
    const { text: answers } = await stage.ask('bob', '@bob', '!memory answers');
    expect(answers.match(/ of 40,000 characters/gu)).toHaveLength(places.length);
    await stage.ask('bob', '@bob', '!memory remember I drink oolong tea');
    const last = places.at(-1)?.channel ?? '';
    const shown = await stage.ask('bob', last, '!memory search oolong');
    expect(shown.text).not.toContain('tea');
    expect((await stage.ask('bob', '@bob', '!memory show')).text).toContain('oolong tea');
    const { text } = await stage.ask('alice', '@alice', '!status');
    expect(text).toContain('4 servers · 4 of 4 shards · 2 of 2 processes');
    const registered = await stage.sandbox.requests({ method: 'PUT', path: '/applications/*/commands' });
    expect(registered).toHaveLength(1);
    expect(await stage.stopBot()).toBe(0);
    expect(await stage.sandbox.sessions()).toEqual([]);
  });

  it('have one page, to which each of them gives links [Y1]', async () => {
    await started(2);
    for (const { channel } of places) {
      const { answer } = await stage.sandbox.slash({
        as: 'bob',
        in: channel,
        name: 'memory',
        subcommand: 'page',
      });
      const page = await fetch(answer?.components.rows[0]?.buttons[0]?.url ?? '');
      expect(await page.text()).toContain('Hello, bob');
    }
  });

  it('end in order by Ctrl-C, which each of them gets from the terminal and some get once more [O7]', async () => {
    await started(2);
    process.kill(-(stage.bot().pid ?? 0), 'SIGINT');
    expect(await stage.stopBot()).toBe(0);
    expect(linesOf('the bot has stopped')).toHaveLength(2);
    expect(await stage.sandbox.sessions()).toEqual([]);
  });

  it('go on where one is killed, which is started again, and then answers what it missed', async () => {
    await started(2);
    process.kill(await pidOf(2), 'SIGKILL');
    const [first, , , last] = places;
    const missed = await stage.sandbox.say({
      as: 'bob',
      in: last?.channel ?? '',
      text: 'are you there?',
      mentionBot: true,
    });
    const heard = await stage.sandbox.say({
      as: 'bob',
      in: first?.channel ?? '',
      text: 'hello',
      mentionBot: true,
    });
    expect((await stage.answerTo(heard)).text).toBe('Understood.');
    expect((await stage.answerTo(missed)).text).toBe('Understood.');
    expect(linesOf('the bot is ready').map(({ process: number }) => number)).toEqual(
      expect.arrayContaining([1, 2, 2]),
    );
    expect(linesOf('a process of the bot has ended and is started again')).toMatchObject([
      { ended: 2, shards: '2-3', signal: 'SIGKILL' },
    ]);
  });

  it('end with their supervisor, however it ends', async () => {
    await started(2);
    const pids = [await pidOf(1), await pidOf(2)];
    await stage.killBot();
    await eventually(async () => expect(pids.filter(isRunning)).toEqual([]));
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
