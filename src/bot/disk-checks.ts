import { basename, resolve } from 'node:path';

import type { Config } from '../config/config.ts';
import { StoreError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { nodeFileSystem } from '../storage/files/file-system.ts';
import { faultOf, foldersOf, freeBytes, inspectFolder } from './folders.ts';
import { findOwner } from '../storage/files/owner-lock.ts';
import { type FileStore, createFileStore } from '../storage/files/store.ts';
import { openStore } from './open-store.ts';
import { type Finding, broken, fine, warning } from './command-line.ts';
import type { DocumentKind, Versioned } from '../core/store.ts';
import { durableDocumentKind } from '../memory/durable/document.ts';
import { notesKind } from '../memory/channel/document.ts';
import { notedKind } from '../memory/channel/files.ts';
import { erasuresKind } from '../memory/settings/erasures.ts';
import { goneKind } from '../memory/gone-places.ts';
import { retentionKind } from '../memory/retention.ts';
import { stateKind } from '../memory/log/session-state.ts';
import { sessionsKind } from '../memory/log/sessions.ts';
import { botSettingsKind } from '../memory/settings/bot-settings.ts';
import { settingsKind as personSettingsKind } from '../memory/settings/person-settings.ts';
import { settingsKind as placeSettingsKind } from '../memory/settings/place-settings.ts';
import { shortTermKind } from '../memory/short-term/exchanges.ts';
import { spendingKind } from '../observability/spending.ts';
import { usageKind } from '../observability/usage-meter.ts';
import { turnsKind } from '../turn/turn-limits.ts';

const megabyte = 1024 * 1024;
/** Below these, the disk is about to be full, and saving is not certain. */
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
  // The owner may share the workspace.
  if (variable === 'DISCOCLAW_WORKSPACE_DIR' || (mode & 0o077) === 0)
    return fine('folders', `${path} can be written`);
  const text = `others on this machine may look into ${path} (mode ${mode.toString(8)})`;
  return warning('folders', text, `run chmod 700 ${path}, or let the next start do it`);
}

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
    const text = `a bot on another machine or in a container runs on ${path} (its lock file: ${owner.lockFile})`;
    return [warning('process', text, 'start none here, or set DISCOCLAW_DATA_DIR to a folder of its own')];
  } catch {
    return [unreadable('process', path)];
  }
}

function unreadable(about: string, what: string): Finding {
  const remedy = 'give it to the user that runs the bot, and look at the disk';
  return broken(about, `${what} cannot be read`, remedy);
}

export async function checkDisk({ storage }: Config): Promise<Finding[]> {
  if (storage.databaseUrl !== undefined) return [];
  const path = resolve(storage.dataDir);
  const free = await freeBytes(path).catch(() => undefined);
  if (free === undefined) return [unreadable('disk', path)];
  const text = `${Math.floor(free / megabyte)} MB are free for ${path}`;
  if (free >= scarceBytes) return [fine('disk', text)];
  const remedy = 'make room on the disk, or set DISCOCLAW_DATA_DIR to a larger one';
  return [free < tooFewBytes ? broken('disk', text, remedy) : warning('disk', text, remedy)];
}

/** Finds damaged documents and lines, and what is in quarantine. */
export async function checkFiles({ storage }: Config, logger: Logger): Promise<readonly Finding[]> {
  if (storage.databaseUrl !== undefined) return [];
  const store = await createFileStore({ ...storage, clock: () => new Date(), logger, readOnly: true });
  try {
    const lists = dataFolders.map(async (folder) =>
      (await store.list(folder)).map(({ path }) => `${folder}/${path}`),
    );
    const keys = (await Promise.all(lists)).flat();
    const found: Finding[] = [];
    for (const key of [...rootFiles, ...keys]) found.push(...(await damageOf(store, key)));
    const quarantined = await store.quarantined();
    if (quarantined > 0) {
      const text = `${quarantined} damaged files lie in ${resolve(storage.dataDir)}/quarantine`;
      found.push(warning('files', text, 'put right what you can, and remove them'));
    }
    return found.length > 0 ? found : [fine('files', `${keys.length} files can be read`)];
  } catch {
    return [unreadable('files', resolve(storage.dataDir))];
  } finally {
    await store.close();
  }
}

/** Never rejects. */
async function damageOf(store: FileStore, key: string): Promise<readonly Finding[]> {
  try {
    const kind = documentKindOf(key);
    const reason = kind && (await store.damage(key, kind));
    if (reason !== undefined) {
      const remedy = `put it right by hand; otherwise it goes to quarantine, and its last good copy ${basename(key)}.bak is used`;
      return [broken('files', `${key} is damaged (${reason})`, remedy)];
    }
    const lines = key.endsWith('.jsonl') ? await store.damagedLines(key) : 0;
    if (lines === 0) return [];
    const remedy = 'put them right by hand while the bot is stopped, or leave them';
    return [warning('files', `${lines} damaged lines of ${key} are passed over`, remedy)];
  } catch (error) {
    const text = error instanceof Error ? error.message : `${key} cannot be read`;
    return [broken('files', text, 'start the version that wrote it, or restore a backup')];
  }
}

/** The kinds of documents in the data folder, by key; `*` stands for an id. */
const documentKinds: Readonly<Record<string, DocumentKind<Versioned>>> = {
  'users/*/durable.json': durableDocumentKind,
  'users/*/settings.json': personSettingsKind,
  'users/*/sessions.json': sessionsKind,
  'users/*/noted.json': notedKind,
  'users/*/turns.json': turnsKind,
  'users/*/spending.json': spendingKind,
  'users/*/short-term/*.json': shortTermKind,
  'sessions/*/*/state.json': stateKind,
  'guilds/*/settings.json': placeSettingsKind,
  'guilds/*/notes/*.json': notesKind,
  'settings.json': botSettingsKind,
  'usage.json': usageKind,
  'spending.json': spendingKind,
  'retention.json': retentionKind,
  'gone-places.json': goneKind,
  'erasures.json': erasuresKind,
};

/** Documents directly in the data folder; all others are in {@link dataFolders}. */
export const rootFiles = Object.keys(documentKinds).filter((key) => !key.includes('/'));

export const dataFolders = ['users', 'sessions', 'guilds', 'channels', 'changes'] as const;

/** `undefined` for keys of logs and texts. */
export function documentKindOf(key: string): DocumentKind<Versioned> | undefined {
  return documentKinds[key.replaceAll(/\d+/gu, '*')];
}
