import { spawn } from 'node:child_process';
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const running = new Set<ChildProcess>();
let reaper: ChildProcess | undefined;

/** Tells the process that cleans up after this one; the first time, it is started. */
function tellReaper(line: string): void {
  if (reaper === undefined) {
    const script = fileURLToPath(new URL('reaper.mjs', import.meta.url));
    reaper = spawn(process.execPath, [script], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'ignore', 'inherit'],
      detached: true,
    });
    reaper.unref();
  }
  reaper.stdin?.write(`${line}\n`);
}

export interface ProcessOptions {
  readonly cwd?: string;
  /** Absent: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Standard input; absent: none. */
  readonly input?: string;
}

/**
 * Starts a program that cannot outlive this process, nor can what it starts in turn: it leads a process group of its own, which is killed
 * when the program ends, and when this process ends, by whatever signal. Nothing is loaded into the program for that.
 */
export function startProcess(
  command: string,
  words: readonly string[],
  options: ProcessOptions = {},
): ChildProcessByStdio<Writable | null, Readable, Readable> {
  const { input, ...place } = options;
  const child =
    input === undefined
      ? spawn(command, words, { ...place, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
      : spawn(command, words, { ...place, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  child.stdin?.end(input);
  const { pid } = child;
  if (pid === undefined) return child;
  running.add(child);
  tellReaper(`start ${pid}`);
  child.once('close', () => {
    running.delete(child);
    killGroup(pid);
    tellReaper(`end ${pid}`);
  });
  return child;
}

/** What a program that has ended left. */
export interface Outcome {
  /** `null` after a signal. */
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs a program to its end. */
export async function runProcess(
  command: string,
  words: readonly string[],
  options: ProcessOptions = {},
): Promise<Outcome> {
  const child = startProcess(command, words, options);
  const [[code], output, errors] = await Promise.all([
    once(child, 'close'),
    readText(child.stdout),
    readText(child.stderr),
  ]);
  return { code: typeof code === 'number' ? code : null, output, errors };
}

/** Kills every program that still runs, such as that of a test which was given up. */
export async function endProcesses(): Promise<void> {
  await Promise.all(
    [...running].map(async (child) => {
      const ended = once(child, 'close');
      if (child.pid !== undefined) killGroup(child.pid);
      await ended;
    }),
  );
}

/** Has a folder removed when this process ends, if nobody has removed it before. */
export function removeAtEnd(folder: string): void {
  tellReaper(`folder ${folder}`);
}

function killGroup(id: number): void {
  try {
    process.kill(-id, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
