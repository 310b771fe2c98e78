import { createCommandSet, createMenuEntries } from '../../src/commands/commands.ts';
import { createMemoryCommand } from '../../src/commands/memory-command.ts';
import type { MemoryCommandPorts, PrivacyFacts } from '../../src/commands/memory-ports.ts';
import type { ChatMessage } from '../../src/core/message.ts';
import type { DirectMessage } from '../../src/core/reply.ts';
import type { CommandReply } from '../../src/core/commands.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { type Place, type SessionKey, sessionName } from '../../src/core/place.ts';
import type { Section } from '../../src/core/section.ts';
import { type Visibility, mayUse } from '../../src/core/visibility.ts';
import { type DurableMemory, createDurableMemory } from '../../src/memory/durable/durable-memory.ts';
import type { MemoryLayer } from '../../src/memory/layer.ts';
import { createItemSource, createMessageSource } from '../../src/memory/recall/sources.ts';
import { createProvenance } from '../../src/memory/provenance.ts';
import { createRecall } from '../../src/memory/recall/recall.ts';
import { createSessionLog } from '../../src/memory/log/session-log.ts';
import { createSessionStates } from '../../src/memory/log/session-state.ts';
import { createNotebook } from '../../src/memory/notebook/notebook.ts';
import { createUndoableNotes } from '../../src/memory/notebook/undoable.ts';
import { plainWrites } from '../support/plain-writes.ts';
import { createReminders } from '../../src/memory/reminders/reminders.ts';
import { createPersonSettings } from '../../src/memory/settings/person-settings.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { forgettingFor } from '../support/forgetting.ts';
import { ledgerFor } from '../support/ledger.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { durableSettings, notebookSettings } from '../support/layer-settings.ts';
import { proposalsOver } from '../support/undo.ts';

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

  madeAt(session: SessionKey, _at: string, place: Place, speakerId: string): Promise<string | undefined> {
    return this.show(session, place, speakerId);
  }

  async *export() {
    for (const { text } of this.summaries.values()) yield { path: 'summary.md', text };
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

  async delete(): Promise<void> {}

  async *export(): AsyncGenerator<never> {}
}

const privacyFacts: PrivacyFacts = {
  provider: { name: "Anthropic's API", models: ['sonnet', 'haiku'] },
  layers: { durable: true, extraction: false, summary: true, reflection: true, recentHours: 6 },
  quotaMegabytes: 50,
  retentionDays: 0,
};

interface SayOptions {
  readonly ephemeral?: boolean;
  readonly speakerId?: string;
  /** What is attached. */
  readonly file?: Uint8Array;
  /** A proxy posted it. */
  readonly isProxied?: boolean;
  readonly repliesTo?: ChatMessage;
}

/** The commands over real durable items in a store in memory; time moves on by a second a command. */
export function createHarness(
  options: {
    readonly maxItems?: number;
    readonly config?: Partial<MemoryCommandPorts['config']>;
    /** Channel ids. */
    readonly memoryIsOffIn?: readonly string[];
    readonly hasClosedDms?: boolean;
    /** Where people sign in to their page. Default: there is none. */
    readonly pageUrl?: string;
    readonly privacy?: Partial<PrivacyFacts>;
  } = {},
) {
  const store = new MemoryStore();
  const logger = new RecordingLogger();
  const rolling = new FakeRolling();
  const shortTerm = new FakeRecentExchanges();
  const hidden = new Set<string>();
  /** By address. */
  const attached = new Map<string, Buffer>();
  const replied = new Map<string, ChatMessage>();
  let ticks = 0;
  const now = () => new Date(Date.parse('2026-01-15T10:00:00Z') + ticks * 1000);
  const writes = plainWrites();
  const changes = new RecentChanges();
  const sessionLog = createSessionLog({
    store,
    writes,
    changes,
    placeOf: () => Promise.resolve(undefined),
    clock: now,
    botName: 'Discoclaw',
  });
  const undoable = createUndoableNotes({ store, writes, clock: now });
  const forgetting = forgettingFor({
    store,
    clock: now,
    openLedger: () => ledgerFor(store, writes, [durable], { clock: now }),
  });
  const durable: DurableMemory = createDurableMemory({
    settings: { ...durableSettings, maxItems: options.maxItems ?? 200, injectMaxChars: 2000 },
    store,
    writes,
    forgetting,
    parts: [undoable.part, forgetting.part],
    clock: now,
    timeZone: 'UTC',
    logger,
  });
  const people = createPersonSettings({ store, writes, clock: now, logger });
  const reminders = createReminders({
    store,
    writes,
    clock: now,
    timeZoneOf: people.timeZoneOf,
    wakeAt: () => Promise.resolve(),
    textOf: sessionLog.message,
  });
  const proposals = proposalsOver({ durable, modeOf: people.mode });
  const provenance = createProvenance({ store, writes, log: sessionLog });
  const ledger = ledgerFor(store, writes, [durable, shortTerm, provenance], {
    logger,
  });
  const direct: { readonly userId: string; readonly messages: readonly DirectMessage[] }[] = [];
  const states = createSessionStates({ store, writes });
  const notebook = createNotebook({
    settings: notebookSettings,
    store,
    writes,
    states,
    log: sessionLog,
    timeZone: 'UTC',
    undoable,
    logger,
  });
  const ports: MemoryCommandPorts = {
    memory: {
      durable,
      proposals,
      rolling,
      notebook: notebook.files,
      notes: { export: notebook.purgeable },
      states,
      sessionLog,
      provenance,
      recall: createRecall({
        sources: [createMessageSource(sessionLog), createItemSource(durable)],
        timeZone: 'UTC',
      }),
      reminders,
      shortTerm,
      layers: [durable, sessionLog, forgetting.layer],
      noted: [],
      changes: ledger,
      people,
      placeSettings: {
        isMemoryOff: async ({ channelId }) => options.memoryIsOffIn?.includes(channelId) ?? false,
      },
      workspace: { privacyText: () => store.readText('workspace/PRIVACY.md') },
      goneChannels: async () => new Set(),
    },
    discord: {
      async sendDirect(userId, messages) {
        if (options.hasClosedDms === true) return 'closed';
        direct.push({ userId, messages });
        return 'sent';
      },
      deleteOwn: async () => ({ deleted: 0, isAll: true }),
      async readAttachment(file, _userId, maxBytes) {
        const bytes = attached.get(file.url);
        if (bytes === undefined) return 'unavailable';
        return bytes.length > maxBytes ? 'too-large' : bytes;
      },
      readReplied: async ({ id }) => {
        const found = replied.get(id);
        return found === undefined ? 'gone' : { ...found, files: [] };
      },
      isHidden: async (_channelId, messageId) => hidden.has(messageId),
      titleOf: (guildId) => `server ${guildId}`,
      pageLink: async () => options.pageUrl,
    },
    config: {
      durable: { enabled: true },
      recall: { enabled: true },
      summary: { enabled: true, maxChars: 2000 },
      shortTerm: { enabled: true, injectMaxChars: 1000 },
      ...options.config,
    },
    privacyFacts: async () => ({ ...privacyFacts, ...options.privacy }),
    logger,
  };
  const command = createMemoryCommand(ports);
  const commands = createCommandSet([command], createMenuEntries(ports), logger);
  async function give(
    words: string,
    place: Place = publicPlace,
    { ephemeral = false, speakerId = aliceId, file, isProxied = false, repliesTo }: SayOptions = {},
  ): Promise<CommandReply> {
    ticks += 1;
    const url = `memory:${ticks}`;
    if (repliesTo !== undefined) replied.set(repliesTo.id, repliesTo);
    if (file !== undefined) attached.set(url, Buffer.from(file));
    const call = commands.parse(`!memory ${words}`);
    if (call === undefined) throw new Error(`No command: ${words}`);
    return commands.command({
      id: String(400_000_000_000_000_000n + BigInt(ticks)),
      command: call,
      isProxied: isProxied ? true : undefined,
      speaker: { id: speakerId, name: 'Alice', isOwner: false },
      place,
      ephemeral,
      at: now().toISOString(),
      ...(file !== undefined && { files: [{ name: 'file', size: file.length, url }] }),
      repliesTo,
      work: { userId: speakerId },
    });
  }

  return {
    command,
    states,
    commands,
    sessionLog,
    /** Ids of commands, their answers and notices. */
    hidden,
    store,
    logger,
    rolling,
    shortTerm,
    durable,
    provenance,
    proposals,
    people,
    reminders,
    now,
    /** A second passes, as between any two commands. */
    tick: () => void (ticks += 1),
    /** Ten minutes pass: what was forgotten can be undone no more. */
    async finishForgetting(): Promise<void> {
      ticks += 600;
      await forgetting.finish(aliceId);
    },
    /** The direct messages that were sent. */
    direct,
    give,
    say: async (words: string, place?: Place, how?: SayOptions): Promise<string> =>
      (await give(words, place, how)).text,
    /** The id of Alice's item with this text. */
    idOf: async (text: string): Promise<string> => {
      const item = (await durable.list(aliceId)).find((each) => each.text === text);
      if (item === undefined) throw new Error(`No item ${text}`);
      return item.id;
    },
  };
}
