import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Readable } from 'node:stream';

import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';

import { connectSandbox } from '../../src/sandbox/control/control-http.ts';

const infoSchema = z.object({ url: z.string(), token: z.string(), people: z.record(z.string(), z.string()) });
const root = new URL('../..', import.meta.url).pathname;
const program = [
  process.execPath,
  '--import',
  'ts-blank-space/register',
  `${root}src/sandbox/standalone.ts`,
] as const;

interface Running {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly exited: Promise<unknown[]>;
  /** Resolves with all of standard output once it contains this. */
  readonly printed: (wanted: string) => Promise<string>;
  /** Standard error so far. */
  readonly complaints: () => string;
}

/** Starts the sandbox in a process group of its own, as a terminal does; it ends with the test. */
function start(arguments_: readonly string[], [command, ...first]: readonly [string, ...string[]]): Running {
  const child = spawn(command, [...first, ...arguments_], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let complaints = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const exited = once(child, 'close');
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) signalGroup(child, 'SIGKILL');
  });
  return {
    child,
    exited,
    complaints: () => complaints,
    printed: async (wanted) => {
      while (!output.includes(wanted)) {
        await Promise.race([
          once(child.stdout, 'data'),
          exited.then(() => Promise.reject(new Error(`It ended: ${complaints}`))),
        ]);
      }
      return output;
    },
  };
}

function signalGroup(child: { readonly pid?: number | undefined }, signal: NodeJS.Signals): void {
  if (child.pid !== undefined) process.kill(-child.pid, signal);
}

describe('the sandbox on its own', () => {
  it('prints its addresses as one line for programs, serves, and exits on SIGTERM', async () => {
    const { child, exited, printed } = start(
      ['--json', '--port', '0', '--token', 'mine', '--rate-limits'],
      program,
    );
    const output = await printed('\n');
    const info = infoSchema.parse(JSON.parse(output));
    expect(info.token).toBe('mine');
    expect(info.people).toEqual({
      alice: '140000000000000001',
      bob: '140000000000000002',
      carol: '140000000000000003',
    });
    const said = await connectSandbox(info.url).say({ as: 'alice', in: '#general', text: 'hello' });
    expect(said.author.id).toBe(info.people['alice']);
    const posted = await fetch(`${info.url}/api/v10/channels/${said.channelId}/messages`, {
      method: 'POST',
      headers: { authorization: 'Bot mine', 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'hello' }),
    });
    expect(posted.headers.get('x-ratelimit-remaining')).toBe('4');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect(await printed('')).toBe(output);
  });

  it('says first what to do next, as `npm run sandbox`, and stops at Ctrl-C', async () => {
    const { child, exited, printed } = start(
      ['--token', 'mine'],
      ['npm', 'run', '--silent', 'sandbox', '--'],
    );
    const screen = await printed('Ctrl-C');
    const [, token, apiUrl = ''] = /DISCORD_TOKEN=(\S+) DISCORD_API_URL=(\S+) npm start/.exec(screen) ?? [];
    expect(token).toBe('mine');
    const found = await fetch(`${apiUrl}/v10/gateway/bot`, { headers: { authorization: 'Bot mine' } });
    const { url } = z.object({ url: z.string() }).parse(await found.json());
    expect(screen).toContain(`API       ${apiUrl}\n`);
    expect(screen).toContain(`gateway   ${url}\n`);
    expect(screen).toContain('token     mine\n');
    expect(screen).toContain('alice (owns the bot), bob, carol; the bot is Discoclaw\n');
    expect(screen).toContain('#general, #dev, #secret (only alice and bob), and ');

    // The line for speaking does what it says.
    const [, line = '', say = ''] = /-d '(.*)' (http\S+)/.exec(screen) ?? [];
    const answer = await fetch(say, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: line,
    });
    expect(await answer.json()).toMatchObject({ result: { text: '<@130000000000000001> hello' } });

    signalGroup(child, 'SIGINT');
    // What npm makes of Ctrl-C is its own affair.
    await exited;
    expect(await printed('Stopped.\n')).toMatch(/\n\nStopped\.\n$/u);
    await expect(fetch(apiUrl)).rejects.toThrow('fetch failed');
  });

  it('stops at Ctrl-C with exit code 0, also when it is told twice', async () => {
    const { child, exited, printed } = start([], program);
    await printed('Ctrl-C');
    // While it stands still, so that it hears of both before it ends.
    for (const signal of ['SIGSTOP', 'SIGINT', 'SIGTERM', 'SIGCONT'] as const) child.kill(signal);
    expect(await exited).toEqual([0, null]);
    expect(await printed('')).toMatch(/\n\nStopped\.\n$/u);
  });

  it.each([
    [['--port', 'lots'], '--port is a number from 0 (any) to 65535, not lots'],
    [['--port='], '--port is a number from 0 (any) to 65535, not '],
    [['--port', '70000'], '--port is a number from 0 (any) to 65535, not 70000'],
    [['--token', 'two words'], '--token is a word without spaces'],
    [['--prot', '1'], "Unknown option '--prot'"],
    [['4000'], "Unexpected argument '4000'"],
  ])('names what is wrong with %j, says what there is, and exits with 2', async (arguments_, message) => {
    const { exited, complaints, printed } = start(arguments_, program);
    expect(await exited).toEqual([2, null]);
    expect(complaints().startsWith(message)).toBe(true);
    expect(complaints()).toContain('--rate-limits ');
    expect(await printed('')).toBe('');
  });

  it('says what there is when asked', async () => {
    const { exited, printed } = start(['--help'], program);
    expect(await exited).toEqual([0, null]);
    expect(await printed('')).toContain('--rate-limits ');
  });

  it('says that a port is taken, and exits with 1', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = z.object({ port: z.number() }).parse(other.address());
    const { exited, complaints } = start(['--port', String(port)], program);
    expect(await exited).toEqual([1, null]);
    expect(complaints()).toBe(`Port ${port} is taken; --port 0 finds a free one\n`);
  });
});
