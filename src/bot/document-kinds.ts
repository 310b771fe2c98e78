import type { DocumentKind, Versioned } from '../core/store.ts';
import { guildsKind } from '../discord/interactions/register-commands.ts';
import { durableDocumentKind } from '../memory/durable/document.ts';
import { notesKind } from '../memory/channel/document.ts';
import { notedKind } from '../memory/channel/noted.ts';
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

/** The documents of the data folder: which keys are of which kind. */
const documentKinds: readonly (readonly [RegExp, DocumentKind<Versioned>])[] = [
  [/^users\/[^/]+\/durable\.json$/u, durableDocumentKind],
  [/^users\/[^/]+\/settings\.json$/u, personSettingsKind],
  [/^users\/[^/]+\/sessions\.json$/u, sessionsKind],
  [/^users\/[^/]+\/noted\.json$/u, notedKind],
  [/^users\/[^/]+\/turns\.json$/u, turnsKind],
  [/^users\/[^/]+\/spending\.json$/u, spendingKind],
  [/^users\/[^/]+\/short-term\/[^/]+\.json$/u, shortTermKind],
  [/^sessions\/[^/]+\/[^/]+\/state\.json$/u, stateKind],
  [/^guilds\/[^/]+\/settings\.json$/u, placeSettingsKind],
  [/^guilds\/[^/]+\/notes\/[^/]+\.json$/u, notesKind],
  [/^usage\.json$/u, usageKind],
  [/^spending\.json$/u, spendingKind],
  [/^retention\.json$/u, retentionKind],
  [/^command-guilds\.json$/u, guildsKind],
  [/^gone-places\.json$/u, goneKind],
  [/^erasures\.json$/u, erasuresKind],
];

/** Documents and logs that lie directly in the data folder; all others lie in {@link dataFolders}. */
export const rootFiles = [
  'usage.json',
  'spending.json',
  'retention.json',
  'command-guilds.json',
  'gone-places.json',
  'erasures.json',
] as const;

export const dataFolders = ['users', 'sessions', 'guilds', 'channels', 'changes'] as const;

/** `undefined` for keys of logs and texts. */
export function documentKindOf(key: string): DocumentKind<Versioned> | undefined {
  return documentKinds.find(([keys]) => keys.test(key))?.[1];
}
