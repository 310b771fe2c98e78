import { createCommandSet } from '../../src/commands/commands.ts';
import { createMemoryCommand } from '../../src/commands/memory-command.ts';
import type { MemoryCommandPorts } from '../../src/commands/memory-ports.ts';
import { createMenuEntries } from '../../src/commands/menus.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { sessionName, type Place, type SessionKey } from '../../src/core/place.ts';
import type { Section } from '../../src/core/section.ts';
import { mayUse, type Visibility } from '../../src/core/visibility.ts';
import { createDurableMemory, type DurableMemory } from '../../src/memory/durable/durable-memory.ts';
import type { LayerChange, MemoryLayer } from '../../src/memory/layer.ts';
import { createMessageSource } from '../../src/memory/recall/messages.ts';
import { createRecall } from '../../src/memory/recall/recall.ts';
import { createItemSource } from '../../src/memory/recall/sources.ts';
import { createSessionLog } from '../../src/memory/log/session-log.ts';
import { createKeyedQueue } from '../../src/core/keyed-queue.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { ledgerFor } from '../support/ledger.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { durableSettings } from '../support/layer-settings.ts';

export const dmPlace: Place = {
  audience: 'dm',
  channelId: '200000000000000009',
  homeId: '200000000000000009',
};

export const privatePlace: Place = {
  audience: 'private',
  readers: ['310000000000000001', '310000000000000002'],
  channelId: '200000000000000003',
  homeId: '200000000000000003',
  guildId: '300000000000000001',
  channelName: 'hideout',
};

interface Summary {
  readonly text: string;
  readonly visibility: Visibility;
  readonly homeId: string;
}

/** Summaries by session, shown by the one rule of [V2]. */
class FakeRolling {
  readonly summaries = new Map<string, Summary>();

  put(session: SessionKey, summary: Summary): void {
    this.summaries.set(sessionName(session), summary);
  }

  show(session: SessionKey, place: Place, speakerId: string): Promise<string | undefined> {
    const summary = this.summaries.get(sessionName(session));
    const isShown =
      summary !== undefined && mayUse({ ownerId: session.userId, ...summary }, place, speakerId);
    return Promise.resolve(isShown ? summary.text : undefined);
  }

  reset(session: SessionKey): Promise<void> {
    this.summaries.delete(sessionName(session));
    return Promise.resolve();
  }
}

class FakeRecentExchanges implements MemoryLayer {
  readonly name = 'short-term';
  readonly lines: string[] = [];

  sections(): Promise<readonly Section[]> {
    return Promise.resolve([
      { name: 'recent_elsewhere', slot: 'fast', title: 'Recently:', lines: this.lines, budget: 1000 },
    ]);
  }

  async follow(change: LayerChange): Promise<void> {
    if (change.kind !== 'forgotten') return;
    const words = change.words.toLowerCase();
    const kept = this.lines.filter((line) => !line.toLowerCase().includes(words));
    this.lines.splice(0, this.lines.length, ...kept);
  }

  async *export(): AsyncGenerator<never> {}

  async erase(): Promise<void> {}
}

interface SayOptions {
  readonly ephemeral?: boolean;
  readonly speakerId?: string;
}

/** The commands over real durable items in a store in memory; time moves on by a second a command. */
export function createHarness(
  options: {
    readonly maxItems?: number;
    readonly settings?: Partial<MemoryCommandPorts['settings']>;
    /** Channel ids. */
    readonly memoryIsOffIn?: readonly string[];
  } = {},
) {
  const store = new MemoryStore();
  const logger = new RecordingLogger();
  const rolling = new FakeRolling();
  const shortTerm = new FakeRecentExchanges();
  const hidden = new Set<string>();
  let ticks = 0;
  const now = () => new Date(Date.parse('2026-01-15T10:00:00Z') + ticks * 1000);
  const writes = createKeyedQueue();
  const changes = new RecentChanges();
  const sessionLog = createSessionLog({ store, writes, changes, clock: now, botName: 'Discoclaw' });
  const durable: DurableMemory = createDurableMemory({
    settings: { ...durableSettings, maxItems: options.maxItems ?? 200, injectMaxChars: 2000 },
    store,
    writes,
    changes: { forget: (...asked) => ledger.forget(...asked) },
    clock: now,
    timeZone: 'UTC',
    logger,
  });
  const ledger = ledgerFor(store, writes, [durable, shortTerm], logger);
  const ports = {
    durable,
    rolling,
    shortTerm,
    recall: createRecall({
      sources: [createMessageSource(sessionLog), createItemSource(durable)],
      timeZone: 'UTC',
    }),
    settings: {
      durableEnabled: true,
      itemMaxChars: 500,
      recallEnabled: true,
      summaryEnabled: true,
      summaryMaxChars: 2000,
      shortTermEnabled: true,
      shortTermMaxChars: 1000,
      ...options.settings,
    },
    isMemoryOff: (place: Place) => Promise.resolve(options.memoryIsOffIn?.includes(place.channelId) ?? false),
    timeZone: 'UTC',
    logger,
    logged: (session: SessionKey, messageId: string) => sessionLog.message(session, messageId),
    isHidden: (_channelId: string, messageId: string) => Promise.resolve(hidden.has(messageId)),
  };
  const command = createMemoryCommand(ports);
  const commands = createCommandSet([command], createMenuEntries(ports), logger);
  return {
    command,
    commands,
    sessionLog,
    /** Ids of commands, their answers and notices. */
    hidden,
    store,
    logger,
    rolling,
    shortTerm,
    durable,
    say: async (
      words: string,
      place: Place = publicPlace,
      { ephemeral = false, speakerId = aliceId }: SayOptions = {},
    ): Promise<string> => {
      ticks += 1;
      const call = commands.parse(`!memory ${words}`);
      if (call === undefined) throw new Error(`No command: ${words}`);
      const { text } = await commands.command({
        id: String(400_000_000_000_000_000n + BigInt(ticks)),
        command: call,
        speaker: { id: speakerId, name: 'Alice', isOwner: false },
        place,
        ephemeral,
        at: now().toISOString(),
      });
      return text;
    },
    /** The id of Alice's item with this text. */
    idOf: async (text: string): Promise<string> => {
      const item = (await durable.list(aliceId)).find((each) => each.text === text);
      if (item === undefined) throw new Error(`No item ${text}`);
      return item.id;
    },
  };
}
