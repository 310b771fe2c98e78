import { basename, resolve } from 'node:path';

import type { Config } from '../config/config.ts';
import { NewerVersionError, StoreError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { nodeFileSystem } from '../storage/files/file-system.ts';
import { findOwner } from '../storage/files/owner-lock.ts';
import { type FileStore, createFileStore } from '../storage/files/store.ts';
import { faultOf, foldersOf, freeBytes, openStore } from './open-store.ts';
import { type Finding, broken, fine, warning } from './command-line.ts';
import type { DocumentKind, Versioned } from '../core/store.ts';
import { durableDocumentKind } from '../memory/durable/document.ts';
import { erasuresKind } from '../memory/settings/erasures.ts';
import { goneKind } from '../memory/gone-places.ts';
import { stateKind } from '../memory/log/session-state.ts';
import { sessionsKind } from '../memory/log/sessions.ts';
import { botSettingsKind } from '../memory/settings/bot-settings.ts';
import { settingsKind as personSettingsKind } from '../memory/settings/person-settings.ts';
import { settingsKind as placeSettingsKind } from '../memory/settings/place-settings.ts';
import { withheldKind } from '../memory/withheld.ts';
import { remindersKind } from '../memory/reminders/reminders.ts';
import { shortTermKind } from '../memory/short-term/short-term.ts';
import { spendingKind } from '../observability/spending.ts';
import { signInKind } from '../page/sign-in.ts';
import { usageKind } from '../observability/usage-meter.ts';

const megabyte = 1024 * 1024;
/** Below these, the disk is about to be full, and saving is not certain. */
const scarceBytes = 1024 * megabyte;
const tooFewBytes = 100 * megabyte;
const namedFiles = 5;

export async function checkFolders(config: Config): Promise<readonly Finding[]> {
  const found = foldersOf(config).map(async ([variable, folder]) => {
    const fault = await faultOf(variable, folder);
    return fault === undefined
      ? fine('folders', `${resolve(folder)} can be used`)
      : broken('folders', fault.text, fault.remedy);
  });
  return Promise.all(found);
}

export async function checkDatabase(config: Config, logger: Logger): Promise<readonly Finding[]> {
  if (config.storage.databaseUrl === undefined) return [];
  const about = 'database';
  try {
    const { store } = await openStore(config, { as: 'reader', clock: () => new Date(), logger });
    try {
      const quarantined = await store.quarantined();
      if (quarantined.length === 0) return [fine(about, 'the database can be used')];
      const text = `damaged documents lie in the table discoclaw.quarantine: ${namesOf(quarantined)}`;
      return [warning(about, text, 'put right what you can, and delete its rows')];
    } finally {
      await store.close();
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

/** Finds damaged documents, and what is in quarantine. */
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
    if (quarantined.length > 0) {
      const text = `damaged files lie in ${resolve(storage.dataDir)}/quarantine: ${namesOf(quarantined)}`;
      found.push(warning('files', text, 'put right what you can, and remove them'));
    }
    return found.length > 0 ? found : [fine('files', `${keys.length} files can be read`)];
  } catch {
    return [unreadable('files', resolve(storage.dataDir))];
  } finally {
    await store.close();
  }
}

function namesOf(quarantined: readonly string[]): string {
  const more = quarantined.length - namedFiles;
  return `${quarantined.slice(0, namedFiles).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Never rejects. */
async function damageOf(store: FileStore, key: string): Promise<readonly Finding[]> {
  try {
    const kind = documentKindOf(key);
    if (kind !== undefined) await store.read(key, kind);
    return [];
  } catch (error) {
    const text = error instanceof Error ? error.message : `${key} cannot be read`;
    const remedy =
      error instanceof NewerVersionError
        ? 'start the version that wrote it, or restore a backup'
        : `put it right by hand; otherwise it goes to quarantine, and its former content, ${basename(key)}.bak, is used`;
    return [broken('files', text, remedy)];
  }
}

/** The kinds of documents in the data folder, by key; `*` stands for an id. */
const documentKinds: Readonly<Record<string, DocumentKind<Versioned>>> = {
  'users/*/durable.json': durableDocumentKind,
  'users/*/settings.json': personSettingsKind,
  'users/*/sessions.json': sessionsKind,
  'users/*/page.json': signInKind,
  'users/*/spending.json': spendingKind,
  'users/*/reminders.json': remindersKind,
  'users/*/short-term/*.json': shortTermKind,
  'sessions/*/*/state.json': stateKind,
  'changes/*.json': withheldKind,
  'changes/workspace.json': withheldKind,
  'guilds/*/settings.json': placeSettingsKind,
  'settings.json': botSettingsKind,
  'usage.json': usageKind,
  'spending.json': spendingKind,
  'gone-places.json': goneKind,
  'erasures.json': erasuresKind,
};

/** Documents directly in the data folder; all others are in {@link dataFolders}. */
export const rootFiles = Object.keys(documentKinds).filter((key) => !key.includes('/'));

export const dataFolders = ['users', 'sessions', 'guilds', 'channels', 'changes'] as const;

/** `undefined` for keys of logs and texts. */
function documentKindOf(key: string): DocumentKind<Versioned> | undefined {
  return documentKinds[key.replaceAll(/\d+/gu, '*')];
}
