import { readFile, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { readArguments, usage, UsageError, type CommandName, type Words } from './bot/command-line.ts';
import { useProxy } from './bot/proxy.ts';
import { loadEnvironment, readConfig } from './config/config.ts';

/** Milliseconds from a signal to stop until the process exits, whatever still runs [G4]; all that was acknowledged is on disk. */
const exitAfterMs = 9500;

/** Signals within so many milliseconds are one: npm repeats Ctrl-C. A later one exits at once [O7]. */
const oneWishMs = 1000;

/** The project's folder: this runs as `src/main.ts` or `dist/main.js`. */
const root = join(dirname(process.argv[1] ?? ''), '..');

/** Each loads what it needs, and resolves with the exit code where that may differ from 0. */
const commands: Readonly<
  Record<CommandName, (words: Words, isReplacing: boolean) => Promise<number | void>>
> = {
  setup: async () => (await import('./bot/setup.ts')).runSetup(loadEnvironment()),
  doctor: async () => (await import('./bot/doctor.ts')).runDoctor(loadEnvironment()),
  backup: async ([file = '']) => (await import('./bot/backup.ts')).runBackup(file, loadEnvironment()),
  restore: async ([file = ''], isReplacing) =>
    (await import('./bot/backup.ts')).runRestore(file, isReplacing, loadEnvironment()),
  migrate: async ([from = '', to = '']) =>
    (await import('./bot/migrate.ts')).runMigrate(from, to, loadEnvironment()),
  notebook: async ([wish = '', whose = '', folder = '']) =>
    (await import('./bot/notebook.ts')).runNotebook(wish, whose, folder, loadEnvironment()),
  person: async ([wish = '', userId = '']) =>
    (await import('./bot/person.ts')).runPerson(wish, userId, loadEnvironment()),
};

async function main(): Promise<void> {
  const { command, words, help, version, replace, supervised } = readArguments(process.argv.slice(2));
  if (help) process.stdout.write(`${usage}\n`);
  else if (version) process.stdout.write(`${await ownVersion()}\n`);
  else if (command === undefined) await start(supervised);
  else process.exitCode = (await commands[command](words, replace)) ?? 0;
}

async function ownVersion(): Promise<string> {
  const { version }: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return version;
}

/** Warns where sources are newer than the build; a container has no sources. */
async function warnIfStale(): Promise<void> {
  const timeOf = async (path: string): Promise<number> => {
    const { mtimeMs } = await stat(join(root, path)).catch(() => ({ mtimeMs: 0 }));
    return mtimeMs;
  };
  const sources = await readdir(join(root, 'src'), { recursive: true }).catch(() => []);
  const times = await Promise.all(sources.map((path) => timeOf(join('src', path))));
  if (Math.max(0, ...times) <= (await timeOf('dist/main.js'))) return;
  process.stderr.write('src/ is newer than dist/, which runs: npm run build brings it up to date.\n');
}

/** Runs the bot until a signal. `part`: `number/count` of a process with a supervisor. */
async function start(part: string | undefined): Promise<void> {
  const stop = new AbortController();
  let isToldAgain = false;
  const end = (): void => {
    if (stop.signal.aborted) return;
    stop.abort();
    setTimeout(() => process.exit(), exitAfterMs).unref();
    setTimeout(() => (isToldAgain = true), oneWishMs).unref();
  };
  const told = (_: NodeJS.Signals, number: number): void => {
    if (isToldAgain) process.exit(128 + number);
    end();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, told);
  await warnIfStale();
  await run(part, stop.signal, end);
  // All is saved: do not wait for open requests [O7].
  if (stop.signal.aborted) process.exit();
}

/** Runs until `signal`, which `end` aborts. */
async function run(part: string | undefined, signal: AbortSignal, end: () => void): Promise<void> {
  const environment = loadEnvironment();
  const { config, notes } = readConfig(environment);
  const { token } = config.discord;
  await useProxy(config.proxy);
  const supervised = part === undefined ? undefined : await supervisedAs(part);
  const { runConnected, runInSandbox } = await import('./bot/run.ts');
  if (token === undefined) return runInSandbox(config, notes, signal);
  if (supervised !== undefined) {
    // A process ends with its supervisor.
    process.once('disconnect', end);
    if (!process.connected) end();
    return runConnected(config, token, notes, signal, supervised);
  }
  if (config.shards.processes === 1) return runConnected(config, token, notes, signal);
  const { runProcesses } = await import('./bot/supervise.ts');
  return runProcesses(config, token, notes, environment, signal);
}

/** @throws {UsageError} in a process that no supervisor started. */
async function supervisedAs(part: string) {
  const [, number, count] = /^(\d+)\/(\d+)$/u.exec(part) ?? [];
  const { connectToSupervisor } = await import('./bot/processes.ts');
  const supervised = connectToSupervisor(Number(number), Number(count));
  if (supervised === undefined || count === undefined) throw new UsageError("Unknown option '--supervised'");
  return supervised;
}

main().catch(async (failure: unknown) => {
  const { describeFailure } = await import('./bot/command-line.ts');
  const { text, exitCode } = describeFailure(failure);
  process.stderr.write(`${text}\n`);
  process.exitCode = exitCode;
});
