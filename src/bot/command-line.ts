import { parseArgs } from 'node:util';

import { ConfigError, type Config } from '../config/config.ts';
import { StoreError, UnusableStoreError } from '../core/errors.ts';
import { GatewayError } from '../discord/gateway-error.ts';
import { errorCode } from '../storage/files/file-system.ts';
import { FolderLostError } from '../storage/files/owner-lock.ts';
import { refusedByDisk } from './open-store.ts';

export const usage = `A Discord bot whose memory its people can see, correct and trust.

  npm start          runs the bot: on Discord where DISCORD_TOKEN is set, otherwise in a sandbox with a chat in this terminal
  npm run setup      asks for the Discord token and the model key, checks them, and writes .env
  npm run doctor     looks whether everything that the bot needs is in order, and says what to do where it is not
  npm run backup -- FILE                 writes data folder and workspace to a zip file, also while the bot runs
  npm run restore -- FILE [--replace]    puts a backup into empty folders, or in the place of what they hold
  npm run migrate -- FROM TO             copies all that is remembered between stores, each of them files or postgres://...
  npm run notebook -- pull WHOSE FOLDER  brings a notebook out of a database for editing by hand, and push brings it back; WHOSE is a user's id or workspace
  npm run person -- export|erase USER    serves a request by letter while the bot is stopped: writes all that is held about a user's id to zip files here, or erases it at once and for good

  --help, -h         this
  --version, -v      the version

Without npm: node dist/main.js [setup | doctor | backup FILE | restore FILE [--replace] | migrate FROM TO | notebook pull|push WHOSE FOLDER | person export|erase USER]`;

class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A command cannot do what was asked; the message says what the caller can fix. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
}

export type Words = readonly string[];

const wordsOf = {
  setup: [],
  doctor: [],
  backup: ['FILE'],
  restore: ['FILE'],
  migrate: ['FROM', 'TO'],
  notebook: ['pull or push', 'WHOSE', 'FOLDER'],
  person: ['export or erase', 'USER'],
} as const;

export type CommandName = keyof typeof wordsOf;

/** @throws {UsageError} */
export function readArguments(args: Words) {
  const { values, positionals } = parsed(args);
  const [name, ...words] = positionals;
  if (name !== undefined && !isCommand(name)) throw new UsageError(`Unknown argument '${name}'`);
  const known: Words = name === undefined ? [] : wordsOf[name];
  const { [known.length]: tooMuch } = words;
  if (tooMuch !== undefined) throw new UsageError(`Unknown argument '${tooMuch}'`);
  if (words.length < known.length && !values.help)
    throw new UsageError(`${name} needs ${known.join(' and ')}`);
  if (values.replace && name !== 'restore') throw new UsageError("Unknown option '--replace'");
  return { command: name, words, ...values };
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(wordsOf, name);
}

function parsed(args: Words) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        version: { type: 'boolean', short: 'v', default: false },
        replace: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    // Node.js adds advice that does not fit here.
    const [first = ''] = (error instanceof Error ? error.message : String(error)).split('. ');
    throw new UsageError(first, { cause: error });
  }
}

/** Never asked of a proxy, which would look for them on its own machine. */
const loopback = ['localhost', '127.0.0.1', '[::1]'];

/** Sends all requests of this process through the operator's proxy [M10], but not the gateway's socket. */
export async function useProxy({ http = '', https = '', except = '' }: Config['proxy']): Promise<void> {
  if (http === '' && https === '') return;
  const { default: undici } = await import('undici');
  const { fetch, Headers, Request, Response, FormData, EnvHttpProxyAgent, setGlobalDispatcher } = undici;
  // Not every version of Node.js lets its own take this package's dispatcher.
  Object.assign(globalThis, { fetch, Headers, Request, Response, FormData });
  const noProxy = [except, ...loopback].join(',');
  setGlobalDispatcher(new EnvHttpProxyAgent({ httpProxy: http, httpsProxy: https, noProxy }));
}

/** What a check found. A `warning` limits what the bot can do; `broken` has to be fixed. */
export interface Finding {
  readonly level: 'fine' | 'warning' | 'broken';
  readonly about: string;
  readonly text: string;
  readonly remedy?: string;
  /** What the model's server refuses for good: no start makes sense before it is fixed [O2]. */
  readonly wrong?: 'key' | 'model';
}

/** A start is pointless until the operator fixes what the message says [O2]. */
export class UnusableError extends Error {
  override readonly name = 'UnusableError';
}

export const fine = (about: string, text: string): Finding => ({ level: 'fine', about, text });

export function warning(about: string, text: string, remedy: string): Finding {
  return { level: 'warning', about, text, remedy };
}

export function broken(about: string, text: string, remedy: string, wrong?: Finding['wrong']): Finding {
  return { level: 'broken', about, text, remedy, wrong };
}

/** What the process prints of a failure, one line where people can fix it, and its exit code. */
export function describeFailure(failure: unknown): { readonly text: string; readonly exitCode: number } {
  const error = refusedByDisk(failure) ?? failure;
  // As shells do [O6].
  if (error instanceof UsageError) return { text: `${error.message}\n\n${usage}`, exitCode: 2 };
  if (error instanceof RequestError) return { text: error.message, exitCode: 2 };
  const needsOperator =
    error instanceof ConfigError ||
    error instanceof UnusableError ||
    error instanceof UnusableStoreError ||
    (error instanceof GatewayError && !error.isPassing);
  // `EX_CONFIG` of sysexits.h: a restart does not help [O2].
  if (needsOperator) return { text: error.message, exitCode: 78 };
  // `EX_TEMPFAIL`: a restart finds out whose the folder is [S8].
  if (error instanceof FolderLostError) return { text: error.message, exitCode: 75 };
  if (!(error instanceof Error)) return { text: String(error), exitCode: 1 };
  // What the system says, such as of a full disk, needs no stack.
  const isClear =
    error instanceof GatewayError || error instanceof StoreError || errorCode(error) !== undefined;
  return { text: isClear ? error.message : (error.stack ?? error.message), exitCode: 1 };
}
