import { execFile } from 'node:child_process';
import { join } from 'node:path';

/** Runs `npm run simulate` in a fresh process. Resolves with its output, and whether all promises were kept. */
export function runSimulate(
  options: Readonly<Record<string, number>>,
): Promise<{ readonly output: string; readonly isKept: boolean }> {
  const numbers = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const script = ['--import', 'ts-blank-space/register', 'scripts/simulate.ts'];
  const cwd = join(import.meta.dirname, '../..');
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...script, ...numbers],
      { cwd, maxBuffer: 2 ** 28 },
      (error, stdout, stderr) => resolve({ output: stdout + stderr, isKept: error === null }),
    );
  });
}
