import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { UnusableError } from './bot/findings.ts';
import { refusedByDisk } from './bot/folders.ts';
import { runConnected, runInSandbox } from './bot/run.ts';
import { ConfigError, loadEnvironment, readConfig } from './config/config.ts';
import { StoreError, UnusableStoreError } from './core/errors.ts';
import { GatewayError } from './discord/gateway-error.ts';

const usage = `A Discord bot whose memory its people can see, correct and trust.

  npm start          runs the bot: on Discord where DISCORD_TOKEN is set, otherwise in a sandbox with a chat in this terminal
  npm run setup      asks for the Discord token and the model key, checks them, and writes .env
  npm run doctor     looks whether everything that the bot needs is in order, and says what to do where it is not
  npm run backup -- FILE                 writes data folder and workspace to a zip file, also while the bot runs
  npm run restore -- FILE [--replace]    puts a backup into empty folders, or in the place of what they hold
  npm run migrate -- FROM TO             copies all that is remembered between stores, each of them files or postgres://...
  npm run notebook -- pull WHOSE FOLDER  brings a notebook out of a database for editing by hand, and push brings it back; WHOSE is a user's id or workspace

  --help, -h         this
  --version, -v      the version

Without npm: node dist/main.js [setup | doctor | backup FILE | restore FILE [--replace] | migrate FROM TO | notebook pull|push WHOSE FOLDER]`;

/** As shells have it: the command line is wrong [O6]. */
const badArguments = 2;

/** `EX_CONFIG` of sysexits.h: starting again does not help [O2]. */
const badConfiguration = 78;

/**
 * Milliseconds from the wish to stop until the process ends, whatever still holds it, such as a request that Discord makes wait [G4]. What was
 * acknowledged is on disk by then.
 */
const exitAfterMs = 9500;

/** Milliseconds in which signals are one wish to stop: Ctrl-C under npm comes from the terminal and once more from npm. A later one ends the process at once [O7]. */
const oneWishMs = 1000;

/** The command line says something that the program cannot do. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

type Words = readonly string[];

/** What can be asked for besides a start, with the words that it takes; what it needs is loaded only then. Each resolves with the exit code. */
const commands = {
  setup: { words: [], run: async () => (await import('./bot/setup.ts')).runSetup(loadEnvironment()) },
  doctor: { words: [], run: async () => (await import('./bot/doctor.ts')).runDoctor(loadEnvironment()) },
  backup: {
    words: ['FILE'],
    run: async ([file = '']: Words) => (await import('./bot/backup.ts')).runBackup(file, loadEnvironment()),
  },
  restore: {
    words: ['FILE'],
    run: async ([file = '']: Words, isReplacing: boolean) =>
      (await import('./bot/backup.ts')).runRestore(file, isReplacing, loadEnvironment()),
  },
  migrate: {
    words: ['FROM', 'TO'],
    run: async ([from = '', to = '']: Words) =>
      (await import('./bot/migrate.ts')).runMigrate(from, to, loadEnvironment()),
  },
  notebook: {
    words: ['pull or push', 'WHOSE', 'FOLDER'],
    run: async ([wish = '', whose = '', folder = '']: Words) =>
      (await import('./bot/notebook.ts')).runNotebook(wish, whose, folder, loadEnvironment()),
  },
} as const;

async function main(): Promise<void> {
  const { command, words, help, version, replace, supervised } = readArguments();
  if (help) process.stdout.write(`${usage}\n`);
  else if (version) process.stdout.write(`${await ownVersion()}\n`);
  else if (command === undefined) await start(supervised);
  else process.exitCode = await commands[command].run(words, replace);
}

/** @throws {UsageError} */
function readArguments() {
  const { values, positionals } = parsed();
  const [name, ...words] = positionals;
  if (name !== undefined && !isCommand(name)) throw new UsageError(`Unknown argument '${name}'`);
  const wanted: Words = name === undefined ? [] : commands[name].words;
  const { [wanted.length]: tooMuch } = words;
  if (tooMuch !== undefined) throw new UsageError(`Unknown argument '${tooMuch}'`);
  if (words.length < wanted.length && !values.help)
    throw new UsageError(`${name} needs ${wanted.join(' and ')}`);
  if (values.replace && name !== 'restore') throw new UsageError("Unknown option '--replace'");
  return { command: name, words, ...values };
}

function isCommand(name: string): name is keyof typeof commands {
  return Object.hasOwn(commands, name);
}

function parsed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        version: { type: 'boolean', short: 'v', default: false },
        replace: { type: 'boolean', default: false },
        // Given by the bot itself to the processes that it starts.
        supervised: { type: 'string' },
      },
    });
  } catch (error) {
    // The rest is advice for options that would take a value.
    const [first = ''] = (error instanceof Error ? error.message : String(error)).split('. ');
    throw new UsageError(first, { cause: error });
  }
}

async function ownVersion(): Promise<string> {
  const { version }: { version: string } = JSON.parse(
    await readFile(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return version;
}

/**
 * Runs the bot: on Discord where a token is set, in one process or several, otherwise in a sandbox of its own with a chat in the terminal. `part`: as which
 * process of how many, for a supervisor.
 */
async function start(part: string | undefined): Promise<void> {
  const stop = new AbortController();
  let isToldAgain = false;
  const end = (): void => {
    if (stop.signal.aborted) return;
    stop.abort();
    setTimeout(() => process.exit(), exitAfterMs).unref();
    setTimeout(() => (isToldAgain = true), oneWishMs).unref();
  };
  // The listener stays until the end: while a file is replaced, write-file-atomic listens too, and ends the process where nobody else does.
  const told = (_: NodeJS.Signals, number: number): void => {
    if (isToldAgain) process.exit(128 + number);
    end();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, told);
  await run(part, stop.signal, end);
  // All is saved: a request that still waits for its answer holds nobody up [O7].
  if (stop.signal.aborted) process.exit();
}

/** Until `signal`; `end` aborts that, as a signal from outside does. */
async function run(part: string | undefined, signal: AbortSignal, end: () => void): Promise<void> {
  const environment = loadEnvironment();
  const { config, notes } = readConfig(environment);
  const { token } = config.discord;
  const supervised = part === undefined ? undefined : await supervisedAs(part);
  if (token === undefined) return runInSandbox(config, notes, signal);
  if (supervised !== undefined) {
    // Without its supervisor a process has no business.
    process.once('disconnect', end);
    if (!process.connected) end();
    return runConnected(config, token, notes, signal, supervised);
  }
  if (config.shards.processes === 1) return runConnected(config, token, notes, signal);
  const { runProcesses } = await import('./bot/run-processes.ts');
  return runProcesses(config, token, notes, environment, signal);
}

/** @throws {UsageError} where somebody else gave the argument. */
async function supervisedAs(part: string) {
  const [, number, count] = /^(\d+)\/(\d+)$/u.exec(part) ?? [];
  const { connectToSupervisor } = await import('./bot/supervised.ts');
  const supervised = connectToSupervisor(Number(number), Number(count));
  if (supervised === undefined || count === undefined) throw new UsageError("Unknown option '--supervised'");
  return supervised;
}

/** People get one clear line for what they can mend, and the whole error for what is ours. */
function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${usage}`;
  const isForPeople =
    error instanceof ConfigError ||
    error instanceof GatewayError ||
    error instanceof UnusableError ||
    error instanceof StoreError;
  if (isForPeople) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function exitCodeFor(error: unknown): number {
  if (error instanceof UsageError) return badArguments;
  const needsOperator =
    error instanceof ConfigError ||
    error instanceof UnusableError ||
    error instanceof UnusableStoreError ||
    (error instanceof GatewayError && !error.isPassing);
  return needsOperator ? badConfiguration : 1;
}

main().catch((failure: unknown) => {
  const error = refusedByDisk(failure) ?? failure;
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = exitCodeFor(error);
});
