import type { DocumentKind, Versioned } from '../core/store.ts';
import { durableDocumentKind } from '../memory/durable/document.ts';
import { notesKind } from '../memory/channel/document.ts';
import { notedKind } from '../memory/channel/files.ts';
import { erasuresKind } from '../memory/settings/erasures.ts';
import { goneKind } from '../memory/gone-places.ts';
import { retentionKind } from '../memory/retention.ts';
import { stateKind } from '../memory/log/session-state.ts';
import { sessionsKind } from '../memory/log/sessions.ts';
import { settingsKind as personSettingsKind } from '../memory/settings/person-settings.ts';
import { settingsKind as placeSettingsKind } from '../memory/settings/place-settings.ts';
import { shortTermKind } from '../memory/short-term/exchanges.ts';
import { spendingKind } from '../observability/spending.ts';
import { usageKind } from '../observability/usage-meter.ts';
import { turnsKind } from '../turn/turn-limits.ts';

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
