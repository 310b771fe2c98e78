import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

import type { Config, Environment } from '../config/config.ts';
import { decodeEnvFile, readEnvFile, withVariable } from '../config/env-file.ts';
import { createDisk } from '../storage/files/disk.ts';
import { nodeFileSystem, unlessMissing } from '../storage/files/file-system.ts';

/** What the steps of `npm run setup` share. */
export interface Setup {
  readonly asker: Asker;
  readonly config: Config;
  readonly environment: Environment;
}

type Secret = 'DISCORD_TOKEN' | 'ANTHROPIC_API_KEY';

export function envPath(): string {
  return resolve('.env');
}

/** Writes a variable to `.env`, unless it has that value already; empty takes it back. */
export async function save({ asker, environment }: Setup, name: string, value: string): Promise<void> {
  if ((environment[name] ?? '') === value) return;
  const before = decodeEnvFile((await unlessMissing(readFile(envPath()))) ?? Buffer.alloc(0));
  const bytes = Buffer.from(withVariable(before, name, value));
  await createDisk(nodeFileSystem).replaceFile({ key: '.env', path: envPath(), bytes });
  asker.say(`${name} is in ${envPath()}.`);
  const isElsewhere = environment[name] !== undefined && readEnvFile(before)[name] !== environment[name];
  if (isElsewhere) asker.say(`But the environment sets ${name} too, and wins over .env: take it out there.`);
}

export async function keptValue({ asker, environment }: Setup, name: Secret): Promise<string | undefined> {
  const present = environment[name]?.trim() ?? '';
  if (present === '' || (await asker.confirm(`${name} is set. Replace it?`, false))) return undefined;
  return present;
}

/** Whether to check again; otherwise the value is kept unchecked. */
export async function mayTryAgain({ asker }: Setup, what: string): Promise<boolean> {
  asker.say(what);
  if (await asker.confirm('Try again?', true)) return true;
  asker.say('Kept without being checked: npm run doctor checks it later.');
  return false;
}

export class InputEndedError extends Error {
  override readonly name = 'InputEndedError';
}

type Asker = ReturnType<typeof createAsker>;

export function createAsker() {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  let isHidden = false;
  const output = new Writable({
    write(chunk, _, done) {
      if (!isHidden) process.stdout.write(chunk);
      done();
    },
  });
  const reader = createInterface({ input: process.stdin, output, terminal: isTerminal });
  // The line editor of a terminal takes Ctrl-C for itself.
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const lines = reader[Symbol.asyncIterator]();

  async function answer(question: string, options: { readonly isSecret: boolean }): Promise<string> {
    reader.setPrompt(`${question} `);
    reader.prompt();
    isHidden = options.isSecret;
    const { done, value } = await lines.next();
    if (isHidden || !isTerminal) process.stdout.write('\n');
    isHidden = false;
    if (done === true) throw new InputEndedError('the input has ended');
    return value.trim();
  }

  return {
    say,
    /** Does not show the answer; trims it. @throws {InputEndedError} */
    secret: (question: string) => answer(question, { isSecret: true }),
    /** An empty line takes the preset; without one, asks again. @throws {InputEndedError} */
    async line(question: string, preset = ''): Promise<string> {
      const hint = preset === '' ? '' : ` (${preset})`;
      for (;;) {
        const given = (await answer(`${question}${hint}:`, { isSecret: false })) || preset;
        if (given !== '') return given;
      }
    },
    /** An empty line takes the preset. @throws {InputEndedError} */
    async confirm(question: string, preset: boolean): Promise<boolean> {
      for (;;) {
        const word = await answer(`${question} (${preset ? 'Y/n' : 'y/N'})`, { isSecret: false });
        if (word === '') return preset;
        if (/^y(?:es)?$/iu.test(word)) return true;
        if (/^no?$/iu.test(word)) return false;
        say('Please answer yes or no.');
      }
    },
    close: () => reader.close(),
  };
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
