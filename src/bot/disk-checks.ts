import { basename, resolve } from 'node:path';

import type { Config } from '../config/config.ts';
import { StoreError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { nodeFileSystem } from '../storage/files/file-system.ts';
import { freeBytes, inspectFolder } from '../storage/files/inspect.ts';
import { findOwner } from '../storage/files/owner-lock.ts';
import { createFileStore } from '../storage/files/store.ts';
import { openStore } from './open-store.ts';
import { dataFolders, documentKindOf, rootFiles } from './document-kinds.ts';
import { broken, fine, warning, type Finding } from './findings.ts';
import { faultOf, foldersOf } from './folders.ts';

const megabyte = 1024 * 1024;
/** Less is soon full; with less still nothing can be relied on to be saved. */
const scarceBytes = 1024 * megabyte;
const tooFewBytes = 100 * megabyte;

export async function checkFolders(config: Config): Promise<readonly Finding[]> {
  return Promise.all(foldersOf(config).map(([variable, folder]) => checkFolder(variable, folder)));
}

async function checkFolder(variable: string, folder: string): Promise<Finding> {
  const inspected = await inspectFolder(folder);
  const { path, state, mode } = inspected;
  const fault = faultOf(variable, inspected);
  if (fault !== undefined) return broken('folders', fault.text, fault.remedy);
  if (state === 'creatable') return fine('folders', `${path} will be made by the first start`);
  // The workspace is its owner's to share.
  return variable !== 'DISCOCLAW_WORKSPACE_DIR' && (mode & 0o077) !== 0
    ? warning(
        'folders',
        `others on this machine may look into ${path} (mode ${mode.toString(8)})`,
        `run chmod 700 ${path}, or let the next start do it`,
      )
    : fine('folders', `${path} can be written`);
}

/** Whether the database can be used, and what it keeps in quarantine. */
export async function checkDatabase(config: Config, logger: Logger): Promise<readonly Finding[]> {
  if (config.storage.databaseUrl === undefined) return [];
  const about = 'database';
  try {
    const opened = await openStore(config, { as: 'reader', clock: () => new Date(), logger });
    try {
      const quarantined = await opened.quarantined();
      if (quarantined === 0) return [fine(about, 'the database can be used')];
      const text = `${quarantined} damaged documents lie in the table discoclaw.quarantine`;
      return [warning(about, text, 'put right what you can, and delete its rows')];
    } finally {
      await opened.close();
    }
  } catch (error) {
    const text = error instanceof StoreError ? error.message : 'the database cannot be used';
    return [broken(about, text, 'put DISCOCLAW_STORE right, and see to it that the server runs')];
  }
}

export async function checkOwner({ storage }: Config): Promise<readonly Finding[]> {
  if (storage.databaseUrl !== undefined) return [];
  const path = resolve(storage.dataDir);
  try {
    const owner = await findOwner(nodeFileSystem, path);
    if (owner === undefined) return [fine('process', 'no bot runs on the data folder')];
    if (owner.isHere)
      return [fine('process', `process ${owner.pid} runs on the data folder; a second bot would not start`)];
    return [
      warning(
        'process',
        `a bot on another machine or in a container runs on ${path} (its lock file: ${owner.lockFile})`,
        'start none here, or set DISCOCLAW_DATA_DIR to a folder of its own',
      ),
    ];
  } catch {
    return [unreadable('process', path)];
  }
}

function unreadable(about: string, what: string): Finding {
  return broken(
    about,
    `${what} cannot be read`,
    'give it to the user that runs the bot, and look at the disk',
  );
}

export async function checkDisk({ storage }: Config): Promise<readonly Finding[]> {
  if (storage.databaseUrl !== undefined) return [];
  const path = resolve(storage.dataDir);
  const free = await freeBytes(path).catch(() => undefined);
  if (free === undefined) return [unreadable('disk', path)];
  const text = `${Math.floor(free / megabyte)} MB are free for ${path}`;
  if (free >= scarceBytes) return [fine('disk', text)];
  const remedy = 'make room on the disk, or set DISCOCLAW_DATA_DIR to a larger one';
  return [free < tooFewBytes ? broken('disk', text, remedy) : warning('disk', text, remedy)];
}

/** What the store would put into quarantine when it is used next, what it passes over, and what lies in quarantine. */
export async function checkFiles({ storage }: Config, logger: Logger): Promise<readonly Finding[]> {
  if (storage.databaseUrl !== undefined) return [];
  const quarantine = `${resolve(storage.dataDir)}/quarantine`;
  const found: Finding[] = [];
  const store = await createFileStore({ ...storage, clock: () => new Date(), logger, readOnly: true });
  try {
    const keys = dataFolders.map(async (folder) =>
      (await store.list(folder)).map(({ path }) => `${folder}/${path}`),
    );
    const all = [...rootFiles, ...(await Promise.all(keys)).flat()];
    for (const key of all) {
      const finding = await damageOf(key).catch((error: unknown) =>
        broken(
          'files',
          error instanceof Error ? error.message : `${key} cannot be read`,
          'start the version that wrote it, or restore a backup',
        ),
      );
      if (finding !== undefined) found.push(finding);
    }
    const quarantined = await store.quarantined();
    if (quarantined > 0)
      found.push(
        warning(
          'files',
          `${quarantined} damaged files lie in ${quarantine}`,
          'put right what you can, and remove them',
        ),
      );
    return found.length > 0 ? found : [fine('files', `${all.length - rootFiles.length} files can be read`)];
  } catch {
    return [unreadable('files', resolve(storage.dataDir))];
  } finally {
    await store.close();
  }

  async function damageOf(key: string): Promise<Finding | undefined> {
    if (key.endsWith('.jsonl')) {
      const lines = await store.damagedLines(key);
      return lines === 0
        ? undefined
        : warning(
            'files',
            `${lines} damaged lines of ${key} are passed over`,
            'put them right by hand while the bot is stopped, or leave them',
          );
    }
    const kind = documentKindOf(key);
    const reason = kind && (await store.damage(key, kind));
    return reason === undefined
      ? undefined
      : broken(
          'files',
          `${key} is damaged (${reason})`,
          `put it right by hand; otherwise it goes to quarantine, and its last good copy ${basename(key)}.bak is used`,
        );
  }
}
