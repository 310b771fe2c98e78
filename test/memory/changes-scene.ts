import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { z } from 'zod';

import type { Place } from '../../src/core/place.ts';
import { sessionWorkOf, type TurnContext } from '../../src/core/turn-context.ts';
import type { ChangeLedger } from '../../src/memory/changes.ts';
import type { MemoryLayer } from '../../src/memory/layer.ts';
import { createDurableMemory, type DurableMemory } from '../../src/memory/durable/durable-memory.ts';
import { createNotebook } from '../../src/memory/notebook/notebook.ts';
import {
  createDetailSource,
  createItemSource,
  createMessageSource,
  createNotebookSource,
} from '../../src/memory/recall/sources.ts';
import { createRecall } from '../../src/memory/recall/recall.ts';
import { createRollingSummary } from '../../src/memory/rolling/rolling-summary.ts';
import { createShortTerm } from '../../src/memory/short-term/short-term.ts';
import { undoForMs } from '../../src/memory/undo.ts';
import type { FileSystem } from '../../src/storage/files/file-system.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import { createObservedFileSystem, diskError } from '../storage/files/observed-file-system.ts';
import { aliceId } from '../support/incoming.ts';
import {
  durableSettings,
  notebookSettings,
  rollingSettings,
  shortTermSettings,
} from '../support/layer-settings.ts';
import { ScriptedModel, inputOf } from '../support/scripted-model.ts';
import { openSessions, silent, startTime, inZone } from '../support/sessions.ts';
import { places, type Step } from './changes-steps.ts';
import { unconditional } from '../../src/core/writes.ts';

const { signal } = new AbortController();
const canary = /\bz(?:[a-z]{2}){3}k\b/gu;

/** Memory as a process has it, over the files of a folder. */
async function openMemory(folder: string, fileSystem: FileSystem) {
  const store = await createFileStore({
    dataDir: join(folder, 'data'),
    workspaceDir: join(folder, 'workspace'),
    clock: () => new Date(startTime),
    logger: silent,
    fileSystem,
  });
  // As a start does, if behind everything else.
  await store.removeLeftovers();
  const sessions = openSessions(store);
  const { writes, clock, log, states } = sessions;
  for (const place of places) sessions.places.set(place.channelId, place);
  const common = {
    store,
    writes,
    clock,
    log,
    states,
    timeZone: 'UTC',
    timeZoneOf: inZone('UTC'),
    logger: silent,
  };
  const shortTerm = createShortTerm({ ...common, settings: shortTermSettings });
  // A summary says every word that it was made of.
  const model = new ScriptedModel((request) => {
    const words = new Set(inputOf(request).match(canary));
    return `Said: ${[...words].toSorted().join(' ')}.`;
  });
  const rolling = createRollingSummary({
    ...common,
    settings: { ...rollingSettings, enabled: true, everyTurns: 1 },
    withPauses: (_, work) => work(),
    model,
  });
  const layers: MemoryLayer[] = [];
  const forgetting = sessions.forgettingOver(layers, {
    notesSaying: async (withdrawn) => [
      ...(await notebook.saying(withdrawn)),
      ...(await rolling.holding(
        withdrawn.session,
        withdrawn.messages.map(({ sequence }) => sequence),
      )),
    ],
  });
  const durable: DurableMemory = createDurableMemory({
    ...common,
    settings: durableSettings,
    forgetting,
  });
  const notebook = createNotebook({ ...common, settings: notebookSettings });
  const recall = createRecall({
    sources: [
      createMessageSource(log),
      createDetailSource(store, log),
      createNotebookSource(store),
      createItemSource(durable),
    ],
    timeZone: 'UTC',
  });
  layers.push(shortTerm, rolling, durable, notebook, recall);
  const ledger: ChangeLedger = sessions.ledgerOver(layers);

  function contextOf(place: Place, id = '', text = ''): TurnContext {
    const now = clock();
    return {
      speaker: { id: aliceId, name: 'Alice', isOwner: false },
      place,
      messages: id === '' ? [] : [{ id, text, at: now.toISOString(), attachments: [] }],
      now,
      hasThirdPartyText: false,
      work: { userId: aliceId },
    };
  }

  async function tool(name: string, input: object, context: TurnContext): Promise<string> {
    const found = notebook.tools.find(({ definition }) => definition.name === name);
    return (await found?.run(input, context, signal))?.text ?? '';
  }

  async function search(query: string, place: Place): Promise<string> {
    const { speaker, now } = contextOf(place);
    const found = await recall.search({
      queries: [query],
      scope: 'all',
      limit: 5,
      speaker,
      place,
      now,
      excluded: [],
    });
    return found.map(({ unit }) => unit.text).join('\n');
  }

  /** What was forgotten by now can be undone no more. */
  async function finish(): Promise<void> {
    sessions.time.now += undoForMs;
    await forgetting.finish(aliceId);
    sessions.time.now -= undoForMs;
  }

  /** Done once more after a kill, a step comes to the same. */
  async function take(step: Step): Promise<unknown> {
    const { place } = step;
    const { channelId } = place;
    switch (step.do) {
      case 'say':
        return log.recordUser(contextOf(place, step.id, step.text));
      case 'answer': {
        const context = contextOf(place, step.to.id, step.to.text);
        return log.recordReply(context, { ids: step.ids, text: step.text, at: context.now.toISOString() });
      }
      case 'edit': {
        const { id: messageId, text, isAuthorTold } = step;
        const author = isAuthorTold ? { authorId: aliceId } : {};
        return ledger.record({ kind: 'edited', channelId, messageId, text, ...author });
      }
      case 'delete':
        return ledger.record({ kind: 'deleted', channelId, messageIds: step.ids });
      case 'forget':
        await durable.forget(unconditional(aliceId), step.words, place, step.id);
        return finish();
      case 'remember':
        return durable.remember(unconditional(aliceId), {
          text: step.text,
          place,
          messageId: step.id,
          type: 'discord',
        });
      case 'note': {
        const context = contextOf(place);
        const present = await tool('memory_read', { path: step.path }, context);
        if (present.split('\n').includes(`- ${step.line}`)) return present;
        return tool('memory_append', { path: step.path, entry: `- ${step.line}` }, context);
      }
      case 'search':
        return search(step.words, place);
      case 'fold':
        for (const layer of [shortTerm, rolling])
          await layer.fold?.(aliceId, [sessionWorkOf(contextOf(place))], signal);
        return undefined;
    }
  }

  return { store, ledger, finish, time: sessions.time, take, search };
}

type Memory = Awaited<ReturnType<typeof openMemory>>;

/** The disk as one process has it, until the process is dead: then nothing reaches the disk any more. */
class MortalDisk {
  operations = 0;
  isDead = false;
  readonly fileSystem: FileSystem;
  /** Dies in the operation with this number, of which half may still be done. */
  diesIn = Infinity;
  isTorn = false;
  /** Operations on paths with this in them fail. */
  trouble: string | undefined;

  constructor() {
    this.fileSystem = createObservedFileSystem(({ name, path }) => {
      if (this.isDead) return diskError('EIO');
      if (this.trouble !== undefined && path.includes(this.trouble)) return diskError('EIO');
      this.operations += 1;
      if (this.operations <= this.diesIn) return 'works';
      this.isDead = true;
      return this.isTorn && name === 'write' ? 'short' : diskError('EIO');
    });
  }
}

/** Where kills come in one step: each a part of the way, the second in what the start after the first one does. */
export interface Kills {
  readonly at: readonly number[];
  readonly isTorn: boolean;
}

/** What opening the folder and reading the ledger takes, about. */
const operationsOfStart = 40;

/** One run over a folder of its own. */
export class Scene {
  readonly folder: string;
  #disk: MortalDisk;
  #memory: Memory;
  #steps = 0;
  /** How often the process was killed. */
  kills = 0;

  private constructor(folder: string, disk: MortalDisk, memory: Memory) {
    this.folder = folder;
    this.#disk = disk;
    this.#memory = memory;
  }

  /** A copy of another run's folder, or an empty one. `steps` were taken in it before. */
  static async open(from?: string, steps = 0): Promise<Scene> {
    const folder = mkdtempSync(join(tmpdir(), 'discoclaw-changes-'));
    if (from !== undefined) cpSync(from, folder, { recursive: true });
    const disk = new MortalDisk();
    const scene = new Scene(folder, disk, await openMemory(folder, disk.fileSystem));
    scene.#steps = steps;
    return scene;
  }

  /** Takes a step to its end, through kills; resolves with the operations on the disk that it took. */
  async take(step: Step | undefined, kills?: Kills, expected = 0): Promise<number> {
    this.#steps += 1;
    if (step === undefined) return 0;
    const former = kills === undefined ? undefined : this.#withoutLedger();
    const begun = this.#disk.operations;
    this.#arm(kills, 0, expected);
    await this.#attempt(async () => {
      await this.#memory.take(step);
    });
    for (let kill = 1; this.#disk.isDead; kill += 1) {
      this.kills += 1;
      const hasBegun = !isDeepStrictEqual(this.#withoutLedger(), former);
      await this.#restart(kills, kill, expected + operationsOfStart, async () => {
        // Discord tells of what it was not known to have told, and people repeat what was not acknowledged; but for what has begun, the ledger is enough.
        if (!isChange(step) || !hasBegun) await this.#memory.take(step);
      });
    }
    this.#disk.diesIn = Infinity;
    return this.#disk.operations - begun;
  }

  /** An edit or deletion while what is in some files can be neither read nor written. */
  async takeInTrouble(step: Step | undefined, trouble: string): Promise<void> {
    this.#steps += 1;
    if (step === undefined) return;
    this.#memory.time.now = this.#now;
    if (step.do === 'edit' || step.do === 'delete') this.#disk.trouble = trouble;
    await this.#memory.take(step);
    this.#disk.trouble = undefined;
  }

  /** Ends the process and begins another. */
  async restart(): Promise<void> {
    await this.#restart(undefined, 0, 0, () => Promise.resolve());
  }

  search(query: string, place: Place): Promise<string> {
    return this.#memory.search(query, place);
  }

  close(): Promise<void> {
    return this.#memory.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A minute a step, so that times do not tell how often it was tried. */
  get #now(): number {
    return startTime + this.#steps * 60_000;
  }

  #arm(kills: Kills | undefined, kill: number, operations: number): void {
    this.#memory.time.now = this.#now;
    const part = kills?.at[kill];
    if (part === undefined) return;
    this.#disk.isTorn = kills?.isTorn === true;
    this.#disk.diesIn = this.#disk.operations + Math.floor(part * operations);
  }

  async #attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#disk.isDead) throw error;
    }
  }

  async #restart(
    kills: Kills | undefined,
    kill: number,
    operations: number,
    work: () => Promise<unknown>,
  ): Promise<void> {
    await this.#bury();
    const disk = new MortalDisk();
    this.#disk = disk;
    this.#arm(kills, kill, operations);
    await this.#attempt(async () => {
      this.#memory = await openMemory(this.folder, disk.fileSystem);
      this.#memory.time.now = this.#now;
      await this.#memory.ledger.finish();
      await this.#memory.finish();
      await work();
    });
  }

  /** What the system does with a dead process: the lock that says that it has the folder tells so by its number. */
  async #bury(): Promise<void> {
    await this.#memory.store.close();
    const data = join(this.folder, 'data');
    const locks = readdirSync(data).filter((name) => name.startsWith('.owner-'));
    for (const lock of locks) rmSync(join(data, lock), { force: true });
  }

  /** All that stands in files that the store reads, but for the ledger. */
  #withoutLedger(): ReadonlyMap<string, string> {
    const files = filesBelow(this.folder);
    return new Map([...files].filter(([path]) => isRead(path) && !path.startsWith('data/changes/')));
  }
}

function isChange(step: Step): boolean {
  return step.do === 'edit' || step.do === 'delete' || step.do === 'forget';
}

function isRead(path: string): boolean {
  return !basename(path).startsWith('.') && !path.endsWith('.bak');
}

/** Every file below the folder, whatever its name, by its path. */
export function filesBelow(folder: string): ReadonlyMap<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [relative(folder, path), readFileSync(path, 'utf8')]));
}

/** What the files hold, but for copies and what counts changes: sequence numbers and revisions. */
export function contentOf(files: ReadonlyMap<string, string>): Readonly<Record<string, unknown>> {
  const contents: Record<string, unknown> = {};
  for (const [path, text] of files) {
    if (!isRead(path)) continue;
    const content = path.endsWith('.jsonl')
      ? linesOf(text)
      : path.endsWith('.json')
        ? withoutCounters(JSON.parse(text))
        : text.replace(/^(?:from|cursor): \d+$/gmu, '');
    // A log whose lines are all gone is as none.
    if (!Array.isArray(content) || content.length > 0)
      contents[path.replace(/-\d+-summary\.md$/u, '-summary.md')] = content;
  }
  return contents;
}

function linesOf(text: string): unknown[] {
  const lines: unknown[] = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return lines.flatMap((line) =>
    typeof line === 'object' && line !== null && 'record' in line ? [withoutCounters(line.record)] : [],
  );
}

const counters: ReadonlySet<string> = new Set(['of', 'from', 'cursor', 'seen', 'revision']);

function withoutCounters(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutCounters);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => !counters.has(name));
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutCounters(field)]));
}

/** Where removed words stand still. What was forgotten stays with the durable items, so that it is not taken up again. */
export function leaksIn(files: ReadonlyMap<string, string>, removed: readonly string[]): readonly string[] {
  const leaks: string[] = [];
  for (const [path, text] of files) {
    const forgotten = /durable\.json(?:\.bak)?$/u.test(path) ? forgottenIn(text) : '';
    for (const word of removed)
      if (text.includes(word) && !forgotten.includes(word)) leaks.push(`${word} in ${path}`);
  }
  return leaks;
}

function forgottenIn(document: string): string {
  const { items } = itemsSchema.parse(JSON.parse(document));
  const forgotten = items.filter((item) => item.forgotten === true);
  return forgotten.map(({ text }) => text).join('\n');
}

const itemsSchema = z.object({
  items: z.array(z.object({ text: z.string(), forgotten: z.boolean().optional() })),
});
