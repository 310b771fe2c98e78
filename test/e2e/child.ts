import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';

import { inject } from 'vitest';

import { createPrinted } from './printed.ts';

/** A program of the built product in its own process, with all that it printed. */
export interface Child {
  /** The process's id. */
  readonly pid: number | undefined;
  /** Standard output and standard error so far. */
  readonly output: () => string;
  /** Resolves with the output once it contains the text. */
  waitFor(text: string): Promise<string>;
  /** Resolves with the exit code; `null` after a signal. */
  readonly exited: Promise<number | null>;
  /** Ends it, if it has not ended, and waits. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface ChildOptions {
  /** Below `dist/`, or a whole path. Default: the bot, as it is built for the tests. */
  readonly script?: string;
  readonly arguments?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Standard input; absent: none. */
  readonly input?: string;
  /** The user that runs it, by number; absent: the one that runs the tests. */
  readonly user?: number;
}

/** Starts a program with nothing of this process's own configuration. */
export function startChild({ script = inject('program'), ...options }: ChildOptions): Child {
  const path = resolve(new URL('../../dist', import.meta.url).pathname, script);
  return startProgram(process.execPath, [path, ...(options.arguments ?? [])], options);
}

/** Starts `npm <arguments>` in a folder with a package.json; it leads a process group of its own. */
export function startNpm(options: Omit<ChildOptions, 'script'>): Child {
  return startProgram('npm', options.arguments ?? [], options);
}

function startProgram(
  command: string,
  words: readonly string[],
  options: Omit<ChildOptions, 'script'>,
): Child {
  const child = spawn(command, words, {
    cwd: options.folder,
    ...(options.user !== undefined && { uid: options.user, gid: options.user }),
    env: { PATH: process.env['PATH'], TMPDIR: tmpdir(), HOME: options.folder, ...options.environment },
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  if (options.input !== undefined) child.stdin?.end(options.input);

  const printed = createPrinted();
  child.stdout?.on('data', printed.add);
  child.stderr?.on('data', printed.add);
  const exited = once(child, 'close').then(([code]) => (typeof code === 'number' ? code : null));
  const ended = exited.then((code) => `${[command, ...words].join(' ')} ended with ${code}`);

  return {
    pid: child.pid,
    output: printed.text,
    exited,
    waitFor: (text) => printed.waitFor(text, ended),
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return exited;
    },
  };
}

/** Whether this machine has what {@link startInTerminal} needs. */
export const hasTerminals = existsSync('/usr/bin/script');

/** Starts the bot in a terminal. `said` is all that was shown, `type` what a person types; it ends when `exited` does. */
export function startInTerminal({
  columns = 200,
  ...options
}: Omit<ChildOptions, 'script' | 'input'> & { readonly columns?: number }) {
  const program = ['exec', process.execPath, inject('program'), ...(options.arguments ?? [])].join(' ');
  const start = `stty cols ${columns} rows 40; ${program}`;
  const child = spawn('/usr/bin/script', ['-qfec', start, '/dev/null'], {
    cwd: options.folder,
    env: {
      PATH: process.env['PATH'],
      TERM: 'xterm-256color',
      SHELL: '/bin/sh',
      HOME: options.folder,
      ...options.environment,
    },
  });
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString('utf8')));
  return {
    said: () => shown,
    type: (text: string) => void child.stdin.write(text),
    exited: once(child, 'close').then(([code]): unknown => code),
  };
}
