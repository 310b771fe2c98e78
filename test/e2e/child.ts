import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** A program of the built product in its own process, with all that it printed. */
export interface Child {
  readonly process: ChildProcess;
  /** Standard output and standard error so far. */
  readonly output: () => string;
  /** Resolves with the output once it contains the text. */
  waitFor(text: string, timeoutMs?: number): Promise<string>;
  /** Resolves with the exit code; `null` after a signal. */
  readonly exited: Promise<number | null>;
  /** Ends it, if it has not ended, and waits. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface ChildOptions {
  readonly script: string;
  readonly arguments?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Standard input; absent: none. */
  readonly input?: string;
}

/** Starts `dist/<script>` with nothing of this process's own configuration. */
export function startChild(options: ChildOptions): Child {
  const script = new URL(`../../dist/${options.script}`, import.meta.url).pathname;
  const child = spawn(process.execPath, [script, ...(options.arguments ?? [])], {
    cwd: options.folder,
    env: { PATH: process.env['PATH'], HOME: options.folder, ...options.environment },
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  if (options.input !== undefined) child.stdin?.end(options.input);
  // A test that is given up must not leave its processes behind.
  const endWithTests = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithTests);
  child.once('close', () => process.off('exit', endWithTests));

  let output = '';
  const listeners = new Set<() => void>();
  const collect = (chunk: Buffer): void => {
    output += chunk.toString('utf8');
    for (const listener of listeners) listener();
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  const exited = once(child, 'close').then(([code]) => (typeof code === 'number' ? code : null));

  return {
    process: child,
    output: () => output,
    exited,
    waitFor: (text, timeoutMs = 30_000) =>
      new Promise((resolve, reject) => {
        const settle = (finish: () => void): void => {
          clearTimeout(timer);
          listeners.delete(check);
          finish();
        };
        const check = (): void => {
          if (output.includes(text)) settle(() => resolve(output));
        };
        const fail = (reason: string): void =>
          settle(() => reject(new Error(`${reason} before "${text}" was printed:\n${output}`)));
        const timer = setTimeout(() => fail(`${timeoutMs} ms passed`), timeoutMs);
        listeners.add(check);
        void exited.then((code) => fail(`${options.script} ended with ${code}`));
        check();
      }),
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return exited;
    },
  };
}
