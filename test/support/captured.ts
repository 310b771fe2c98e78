import { vi } from 'vitest';

import { describeFailure } from '../../src/bot/command-line.ts';
import type { Outcome } from './processes.ts';

/** Runs a command of the program in this process, one at a time; resolves with what it would have left in one of its own. */
export async function captured(run: () => Promise<number | void>): Promise<Outcome> {
  let output = '';
  let errors = '';
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => Boolean((output += String(text)))),
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((errors += String(text)))),
  ];
  try {
    const code = (await run()) ?? 0;
    return { code, output, errors };
  } catch (failure) {
    const { text, exitCode } = describeFailure(failure);
    return { code: exitCode, output, errors: `${errors}${text}\n` };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
