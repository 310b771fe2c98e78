import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readText } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const running = new Set<ChildProcess>();

/**
 * Has the folder removed when this process ends, by whatever signal. And from now on no program that this process starts outlives it, nor
 * does what that program starts in turn: each leads a process group of its own, which is killed when the program ends, and when this process
 * ends. Nothing is loaded into the programs for that.
 */
export function cleanUpAtEnd(folder: string): void {
  const script = fileURLToPath(new URL('reaper.mjs', import.meta.url));
  const reaper = spawn(process.execPath, [script], {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  });
  reaper.unref();
  const tell = (line: string): void => void reaper.stdin.write(`${line}\n`);
  tell(`folder ${folder}`);

  const start: unknown = Reflect.get(ChildProcess.prototype, 'spawn');
  if (typeof start !== 'function') throw new TypeError('Node starts processes in another way');
  const startTied = function startTied(this: ChildProcess, options: object): unknown {
    const outcome: unknown = Reflect.apply(start, this, [{ ...options, detached: true }]);
    const { pid } = this;
    if (pid === undefined) return outcome;
    running.add(this);
    tell(`start ${pid}`);
    this.once('close', () => {
      running.delete(this);
      killGroup(pid);
      tell(`end ${pid}`);
    });
    return outcome;
  };
  Reflect.set(ChildProcess.prototype, 'spawn', startTied);
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

function killGroup(id: number): void {
  try {
    process.kill(-id, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** What a program that has ended left. */
export interface Outcome {
  /** `null` after a signal. */
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs a program without input to its end. */
export async function runProcess(
  command: string,
  words: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Outcome> {
  const child = spawn(command, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], output, errors] = await Promise.all([
    once(child, 'close'),
    readText(child.stdout),
    readText(child.stderr),
  ]);
  return { code: typeof code === 'number' ? code : null, output, errors };
}
