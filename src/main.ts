import program from '../package.json' with { type: 'json' };

import { resolve } from 'node:path';

import { readArguments, usage, useProxy, type CommandName, type Words } from './bot/command-line.ts';
import { baseFolder, loadEnvironment, readConfig } from './config/config.ts';

/** Milliseconds from a signal to stop until the process exits, whatever still runs [G4]; all that was acknowledged is on disk. */
const exitAfterMs = 9500;

/** Signals within so many milliseconds are one: npm repeats Ctrl-C. A later one exits at once [O7]. */
const oneWishMs = 1000;

/** Files that are named are found from here. */
const here = process.cwd();

/** Each loads what it needs, and resolves with the exit code where that may differ from 0. */
const commands: Readonly<
  Record<CommandName, (words: Words, isReplacing: boolean) => Promise<number | void>>
> = {
  setup: async () => (await import('./bot/setup.ts')).runSetup(loadEnvironment()),
  doctor: async () => (await import('./bot/doctor.ts')).runDoctor(loadEnvironment()),
  backup: async ([file = '']) =>
    (await import('./bot/backup.ts')).runBackup(resolve(here, file), loadEnvironment()),
  restore: async ([file = ''], isReplacing) =>
    (await import('./bot/backup.ts')).runRestore(resolve(here, file), isReplacing, loadEnvironment()),
  migrate: async ([from = '', to = '']) =>
    (await import('./bot/migrate.ts')).runMigrate(from, to, loadEnvironment()),
  notebook: async ([wish = '', whose = '', folder = '']) =>
    (await import('./bot/notebook.ts')).runNotebook(wish, whose, resolve(here, folder), loadEnvironment()),
  person: async ([wish = '', userId = '']) =>
    (await import('./bot/memory-alone.ts')).runPerson(wish, userId, loadEnvironment()),
};

async function main(): Promise<void> {
  // Whatever it writes is its user's alone [S6].
  process.umask(0o077);
  // What nobody can read any more ends no process [O7].
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const { command, words, help, version, replace } = readArguments(process.argv.slice(2));
  const base = baseFolder(here, resolve(process.argv[1] ?? '', '../..'));
  if (base !== here && !help && !version) {
    process.chdir(base);
    process.stderr.write(`Nothing of the bot is in ${here}: it uses .env, data and workspace of ${base}\n`);
  }
  if (help) process.stdout.write(`${usage}\n`);
  else if (version) process.stdout.write(`${program.version}\n`);
  else if (command === undefined) await start();
  else process.exitCode = (await commands[command](words, replace)) ?? 0;
}

/** Runs the bot until a signal. */
async function start(): Promise<void> {
  const stop = new AbortController();
  let isToldAgain = false;
  const onSignal = (_: NodeJS.Signals, number: number): void => {
    if (isToldAgain) process.exit(128 + number);
    if (stop.signal.aborted) return;
    stop.abort();
    setTimeout(() => process.exit(), exitAfterMs).unref();
    setTimeout(() => (isToldAgain = true), oneWishMs).unref();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
  await run(stop.signal);
  // All is saved: do not wait for open requests [O7].
  if (stop.signal.aborted) process.exit();
}

async function run(signal: AbortSignal): Promise<void> {
  const { config, notes } = readConfig(loadEnvironment());
  const { token } = config.discord;
  await useProxy(config.proxy);
  const { runConnected, runInSandbox } = await import('./bot/run.ts');
  return token === undefined
    ? runInSandbox(config, notes, signal)
    : runConnected(config, token, notes, signal);
}

main().catch(async (failure: unknown) => {
  const { describeFailure } = await import('./bot/command-line.ts');
  const { text, exitCode } = describeFailure(failure);
  process.stderr.write(`${text}\n`);
  process.exitCode = exitCode;
});
