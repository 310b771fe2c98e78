import * as fc from 'fast-check';

import type { MemoryLayer } from '../../../src/memory/layer.ts';
import type { Logger } from '../../../src/core/logger.ts';
import type { Place } from '../../../src/core/place.ts';
import { localDate } from '../../../src/core/time.ts';
import type { TurnContext } from '../../../src/core/turn-context.ts';
import {
  itemKinds,
  type DurableDocument,
  type DurableItem,
  type ItemSource,
} from '../../../src/memory/durable/document.ts';
import {
  createDurableMemory,
  type DurableMemory,
  type DurableMemoryOptions,
  type DurableSettings,
} from '../../../src/memory/durable/durable-memory.ts';
import { createExtraction, type ExtractionPorts } from '../../../src/memory/durable/extraction.ts';
import type { UserMessage } from '../../../src/memory/log/records.ts';
import type { SessionState } from '../../../src/memory/log/session-state.ts';
import { reachOf } from '../../../src/core/visibility.ts';
import { plainWrites } from '../../support/plain-writes.ts';
import type { Writes } from '../../../src/core/writes.ts';
import { forgettingFor } from '../../support/forgetting.ts';
import { ledgerFor } from '../../support/ledger.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { durableSettings } from '../../support/layer-settings.ts';

export const aliceId = '100000000000000001';
export const bobId = '100000000000000002';
const guildId = '300000000000000001';

export const dm: Place = { audience: 'dm', channelId: '210000000000000001', homeId: '210000000000000001' };
export const dev: Place = {
  audience: 'public',
  channelId: '220000000000000001',
  homeId: '220000000000000001',
  guildId,
  channelName: 'dev',
};
export const team: Place = {
  audience: 'private',
  readers: ['310000000000000001', '310000000000000002'],
  channelId: '230000000000000001',
  homeId: '230000000000000001',
  guildId,
  channelName: 'team',
};
export const board: Place = {
  audience: 'private',
  readers: ['310000000000000001', '310000000000000002'],
  channelId: '240000000000000001',
  homeId: '240000000000000001',
  guildId,
  channelName: 'board',
};
/** An ordinary thread of #team. */
export const teamThread: Place = {
  audience: 'private',
  readers: ['310000000000000001', '310000000000000002'],
  channelId: '250000000000000001',
  homeId: team.channelId,
  parentId: team.channelId,
  guildId,
  channelName: 'release',
  parentName: 'team',
};
const places = [dm, dev, team, board, teamThread] as const;

export const noon = new Date('2026-01-15T12:00:00.000Z');

export function minutesLater(minutes: number): Date {
  return new Date(noon.getTime() + minutes * 60_000);
}

export function item(changes: Partial<DurableItem> = {}): DurableItem {
  return {
    id: 'aaaaaaaa',
    kind: 'preference',
    text: 'Prefers Rust',
    status: 'active',
    visibility: 'everywhere',
    pinned: false,
    source: source(),
    createdAt: noon.toISOString(),
    updatedAt: noon.toISOString(),
    ...changes,
  };
}

export function source(changes: Partial<ItemSource> = {}): ItemSource {
  return {
    type: 'manual',
    channelId: dev.channelId,
    messageId: '400000000000000001',
    guildId,
    channelName: 'dev',
    ...changes,
  };
}

export function documentOf(...items: readonly DurableItem[]): DurableDocument {
  return { version: 1, items };
}

export function turn(text: string, changes: Partial<TurnContext> = {}): TurnContext {
  return {
    speaker: { id: aliceId, name: 'Alice', isOwner: false },
    place: dev,
    messages: [{ id: '400000000000000100', text, at: noon.toISOString(), attachments: [] }],
    now: noon,
    work: { userId: changes.speaker?.id ?? aliceId },
    hasThirdPartyText: false,
    ...changes,
  };
}

const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** A durable memory over a store in memory, whose clock moves a minute a look. */
export function createMemory(
  changes: Partial<DurableSettings> = {},
  zones: Pick<DurableMemoryOptions, 'timeZoneOf'> = {},
): {
  readonly store: MemoryStore;
  readonly writes: Writes;
  readonly memory: DurableMemory;
  /** What was forgotten can be undone no more. */
  readonly finishForgetting: () => Promise<void>;
} {
  const store = new MemoryStore();
  const writes = plainWrites();
  let minutes = 0;
  const layers: MemoryLayer[] = [];
  const clock = () => minutesLater(minutes);
  const forgetting = forgettingFor({
    store,
    clock,
    openLedger: () => ledgerFor(store, writes, layers, { clock }),
  });
  const memory: DurableMemory = createDurableMemory({
    settings: { ...durableSettings, ...changes },
    store,
    writes,
    forgetting,
    clock: () => minutesLater((minutes += 1)),
    timeZone: 'UTC',
    timeZoneOf: zones.timeZoneOf,
    logger: silentLogger,
  });
  layers.push(memory);
  /** Ten minutes pass. */
  async function finishForgetting(): Promise<void> {
    minutes += 10;
    await forgetting.finish(aliceId);
  }
  return { store, writes, memory, finishForgetting };
}

/** What somebody said, and the bot before it. */
export interface SaidMessage extends Pick<UserMessage, 'id' | 'text' | 'at' | 'heard'> {
  readonly place: Place;
  readonly before?: string;
}

/** Has extraction look at what somebody said; `present` is what a message says once the model has answered. */
export function extractionOver(ports: Pick<ExtractionPorts, 'model' | 'durable' | 'timeZoneOf'>) {
  return (
    userId: string,
    said: readonly SaidMessage[],
    present = async (id: string) => said.find((each) => each.id === id)?.text,
  ): Promise<void> => {
    const messages = said.map(({ id, text, at, heard, place }, index) => ({
      sequence: index + 1,
      message: {
        id,
        text,
        at,
        heard,
        type: 'message' as const,
        role: 'user' as const,
        author: 'Alice',
        authorId: userId,
        attachments: [],
        ...reachOf(place),
        channelName: place.channelName,
      },
    }));
    const state: SessionState = { version: 1, extraction: { cursor: 0 }, speakerName: 'Alice' };
    const fold = createExtraction({
      ...ports,
      modelName: 'haiku',
      withPauses: (_, work) => work(),
      sessionLog: {
        since: async () => ({ messages, withdrawals: [], last: said.length }),
        message: (_, id) => present(id),
        logged: async () => undefined,
        answerBefore: async (_, id) => said.find((each) => each.id === id)?.before,
      },
      states: {
        read: async () => state,
        update: async () => state,
      },
      modeOf: async () => 'auto',
      logger: silentLogger,
    });
    const [{ place: { channelId } } = { place: dev }] = said;
    return fold(userId, [{ userId, channelId }], new AbortController().signal);
  };
}

export function written(store: MemoryStore): Promise<unknown> {
  return store.readText(`users/${aliceId}/durable.json`).then((text) => JSON.parse(text ?? 'null'));
}

const utcDay = (date: Date): string => localDate(date, 'UTC');

/** Days as lines tell them, in UTC at `noon`. */
export const utcDays = { dateOf: utcDay, today: utcDay(noon) };

export const anyPlace = fc.constantFrom(...places);

const anyWord = fc.constantFrom(
  'Rust',
  'tabs',
  'Berlin',
  'кофе',
  '東京の猫',
  'a.*b(',
  '$&',
  '</durable_items>',
  'line\nbreak',
  '😀',
  'x'.repeat(120),
);

export const anyText = fc.array(anyWord, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));

/** Items with ids of their own, of every kind, age, place and visibility. */
export const anyItems = fc
  .array(
    fc.record({
      kind: fc.constantFrom(...itemKinds),
      text: anyText,
      status: fc.constantFrom('active', 'active', 'deprecated'),
      visibility: fc.constantFrom('everywhere', 'server', 'here', 'dm'),
      pinned: fc.boolean(),
      type: fc.constantFrom('manual', 'discord', 'summary'),
      place: anyPlace,
      age: fc.integer({ min: 0, max: 5 }),
    }),
    { maxLength: 30 },
  )
  .map((drafts) =>
    drafts.map(({ type, place, age, ...draft }, index): DurableItem => {
      const at = minutesLater(age).toISOString();
      return {
        ...draft,
        id: index.toString(16).padStart(8, '0'),
        source: {
          type,
          channelId: place.channelId,
          messageId: `40000000000000${String(index).padStart(4, '0')}`,
          homeId: place.homeId,
          ...(place.guildId === undefined ? {} : { guildId: place.guildId }),
        },
        createdAt: at,
        updatedAt: at,
      };
    }),
  );
