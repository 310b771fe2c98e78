import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chownSync, constants, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import pg from 'pg';

import { freePort } from './free-port.ts';

/** A PostgreSQL server of one's own on loopback, with an empty database named `postgres`. */
export interface PostgresServer {
  /** Of the database `postgres`. */
  readonly url: string;
  readonly port: number;
  /** The folder with its data. */
  readonly folder: string;
  /** Its process; none while it is stopped. */
  readonly process: () => ChildProcess | undefined;
  start(settings?: Readonly<Record<string, string>>): Promise<void>;
  /** `fast` closes the connections; `immediate` is as a crash. */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
  /** Stops it and removes its folder. */
  dispose(): Promise<void>;
}

/** Nobody special: the server refuses to run as root. */
const unprivileged = 65_534;

/** The newest PostgreSQL of this machine, from PATH, from Debian's packages, or from npm. @throws {Error} that says what to install where there is none. */
function findBinaries(): string {
  const onPath = (process.env['PATH'] ?? '').split(delimiter);
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const found = [...versions.map((version) => join(debian, version, 'bin')), ...onPath].find((folder) =>
    ['initdb', 'postgres'].every((name) => isProgram(join(folder, name))),
  );
  if (found !== undefined) return found;
  throw new Error(
    'These tests need a PostgreSQL server: install one (Debian: apt-get install postgresql), or set DATABASE_URL to a server where they may make databases',
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Fast, where nothing needs to survive a power loss. */
const fastSettings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };

/** Makes and starts a server; by default without syncs. The caller must make sure that nothing outlives it. */
export async function startPostgresServer(
  settings: Readonly<Record<string, string>> = fastSettings,
): Promise<PostgresServer> {
  const binaries = findBinaries();
  const folder = mkdtempSync(join(openFolder(), 'discoclaw-postgres-'));
  const data = join(folder, 'data');
  const account = process.getuid?.() === 0 ? { uid: unprivileged, gid: unprivileged } : {};
  if (process.getuid?.() === 0) chownSync(folder, unprivileged, unprivileged);
  const options = { ...account, cwd: folder, env: { LC_ALL: 'C.UTF-8', PATH: process.env['PATH'] ?? '' } };
  const initdb = spawn(
    join(binaries, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C.UTF-8'],
    { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let complaint = '';
  initdb.stderr.on('data', (text) => (complaint += String(text)));
  const [code] = await once(initdb, 'close');
  if (code !== 0) throw new Error(`initdb failed: ${complaint}`);

  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let running: ChildProcess | undefined;

  const server: PostgresServer = {
    url,
    port,
    folder,
    process: () => running,
    async start(more = {}) {
      const all = {
        listen_addresses: '127.0.0.1',
        unix_socket_directories: '',
        max_connections: '200',
        shared_buffers: '64MB',
        ...settings,
        ...more,
      };
      const words = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      running = spawn(join(binaries, 'postgres'), ['-D', data, '-p', String(port), ...words], {
        ...options,
        stdio: 'ignore',
        detached: true,
      });
      await untilReady(url, running);
    },
    async stop(how = 'fast') {
      const child = running;
      running = undefined;
      if (child === undefined) return;
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'close') : undefined;
      child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
      await ended;
    },
    async dispose() {
      await server.stop('immediate');
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
  await server.start();
  return server;
}

/** A folder that an unprivileged account can reach; in memory where there is room. */
function openFolder(): string {
  if (process.getuid?.() !== 0) return tmpdir();
  return existsSync('/dev/shm') ? '/dev/shm' : '/tmp';
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    try {
      await client.connect();
      return;
    } catch (error) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error('The PostgreSQL server ended by itself', { cause: error });
      await delay(20);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
