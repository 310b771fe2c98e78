import { isDeepStrictEqual } from 'node:util';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Place } from '../../src/core/place.ts';
import { sessionWorkOf, type TurnContext } from '../../src/core/turn-context.ts';
import { byAge, readDurable, readExportedItems } from '../../src/memory/durable/document.ts';
import { createDurableMemory, type DurableMemory } from '../../src/memory/durable/durable-memory.ts';
import type { MemoryLayer } from '../../src/memory/layer.ts';
import { createNotebook } from '../../src/memory/notebook/notebook.ts';
import { createUndoableNotes } from '../../src/memory/notebook/undoable.ts';
import { createShortTerm } from '../../src/memory/short-term/short-term.ts';
import { changesIn } from '../../src/memory/durable/undoing.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import { LossyDisk, lossyFolder } from '../storage/files/lossy-disk.ts';
import { chanceOf } from '../support/chance.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { durableSettings, notebookSettings, shortTermSettings } from '../support/layer-settings.ts';
import { dmPlace, messageId, openSessions, silent, startTime, inZone } from '../support/sessions.ts';
import { proposalsOver } from '../support/undo.ts';
import { unconditional } from '../../src/core/writes.ts';

const { signal } = new AbortController();
const places: readonly Place[] = [publicPlace, dmPlace];
const likes = ['tea', 'coffee', 'bees', 'Rust', 'Lisbon', 'Porto', 'chess', 'cedars'] as const;
/** So few that items make way for others. */
const maxItems = 5;

/** A person's memory as a process has it, over a disk. Opened again over the same disk it is what a restart makes of it. */
async function openMemory(disk: LossyDisk, now: number) {
  const store = await createFileStore({
    dataDir: `${lossyFolder}/data`,
    workspaceDir: `${lossyFolder}/workspace`,
    clock: () => new Date(startTime),
    logger: silent,
    fileSystem: disk.fileSystem,
  });
  const sessions = openSessions(store);
  const { writes, clock, log, states, time } = sessions;
  time.now = now;
  const common = { store, writes, clock, timeZone: 'UTC', timeZoneOf: inZone('UTC'), logger: silent };
  const shortTerm = createShortTerm({ ...common, log, states, settings: shortTermSettings });
  const undoable = createUndoableNotes({ store, writes, clock });
  const notebook = createNotebook({ ...common, log, states, undoable, settings: notebookSettings });
  const layers: MemoryLayer[] = [];
  const forgetting = sessions.forgettingOver(layers, {
    notesSaying: notebook.saying,
  });
  const durable: DurableMemory = createDurableMemory({
    ...common,
    settings: { ...durableSettings, maxItems },
    forgetting,
    parts: [undoable.part, forgetting.part],
  });
  const said: typeof log.message = (of, id) => log.message(of, id);
  const proposals = proposalsOver({ durable, textOf: said });
  layers.push(shortTerm, durable, notebook);
  const ledger = sessions.ledgerOver(layers);
  await store.removeLeftovers();
  await ledger.finish();
  await undoable.expire(aliceId);
  await durable.expireItems(aliceId);
  await forgetting.finish(aliceId);

  /** The ids of what can be undone, oldest first. */
  async function undoableIds(): Promise<readonly string[]> {
    const lists = await Promise.all([undoable.part.list(aliceId), forgetting.part.list(aliceId)]);
    const all = [...changesIn(await readDurable(store, aliceId), clock()), ...lists.flat()];
    return all.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)).map(({ id }) => id);
  }

  /** All that can be seen of it. */
  async function state() {
    const exchanges: string[] = [];
    for await (const { text } of shortTerm.export(aliceId)) {
      const entries: readonly unknown[] = JSON.parse(text);
      exchanges.push(...entries.map((entry) => JSON.stringify(entry)));
    }
    const notes: string[] = [];
    for await (const { path, text } of notebook.export(aliceId)) notes.push(`${path}: ${text}`);
    return {
      notes: notes.toSorted(),
      items: await durable.list(aliceId),
      former: [...(await durable.historiesOf(aliceId))],
      said: await Promise.all(
        places.map(async ({ channelId }) => {
          const { messages } = await log.since({ channelId, userId: aliceId }, 0);
          return messages.map(({ message }) => message.text);
        }),
      ),
      exchanges: exchanges.toSorted(),
    };
  }

  return { store, time, log, states, shortTerm, undoableIds, durable, proposals, notebook, state };
}

type Memory = Awaited<ReturnType<typeof openMemory>>;
type State = Awaited<ReturnType<Memory['state']>>;

/** A step as drawn: what it is about is picked from what there is by then. */
const anyStep = fc.record({
  what: fc.constantFrom(
    'say',
    'say',
    'notice',
    'notice',
    'correct',
    'remember',
    'accept',
    'forget',
    'forget all',
    'edit',
    'pin',
    'share',
    'import',
    'note',
    'note',
    'undo',
    'undo',
    'undo',
  ),
  pick: fc.nat(99),
  flag: fc.boolean(),
  /** Where kills come, each a part of the way: behind 1 is after it was acknowledged. The second is in the start after the first. */
  kills: fc.array(
    fc.noBias(fc.nat(1300)).map((part) => part / 1000),
    { maxLength: 2 },
  ),
  seed: fc.nat(),
});

type Drawn = typeof anyStep extends fc.Arbitrary<infer Each> ? Each : never;

/** What was said, and what of it can be noticed. */
interface Said {
  readonly id: string;
  readonly place: Place;
  readonly likes: readonly string[];
}

/** Does something; resolves with what it can be undone by, `undefined` where nothing was changed. */
type Take = (memory: Memory) => Promise<string | undefined>;

/** What can be undone, with the memory of before. */
interface Undoable {
  before: State;
  readonly wholeId: string;
  readonly killedId: string;
}

const idOf = (outcome: object | undefined): string | undefined =>
  outcome !== undefined && 'undoId' in outcome && typeof outcome.undoId === 'string'
    ? outcome.undoId
    : undefined;

function contextOf(place: Place, id: string, text: string): TurnContext {
  return {
    speaker: { id: aliceId, name: 'Alice', isOwner: false },
    place,
    messages: [{ id, text, at: new Date(startTime).toISOString(), attachments: [] }],
    now: new Date(startTime),
    hasThirdPartyText: false,
    work: { userId: aliceId },
  };
}

/** Decides on what steps are about. */
class Conversation {
  readonly #said: Said[] = [];
  #newestId = 0;

  async decide({ what, pick, flag }: Drawn, whole: Memory): Promise<Take | undefined> {
    const id = messageId((this.#newestId += 3));
    const at = new Date(startTime).toISOString();
    const place = places[pick % 2] ?? publicPlace;
    const like = likes[pick % likes.length] ?? 'tea';
    const text = `I like ${like}`;
    const listed = await whole.durable.list(aliceId);
    const item = listed[pick % Math.max(1, listed.length)];
    const said = this.#said[pick % Math.max(1, this.#said.length)];
    switch (what) {
      case 'say': {
        const other = likes[(pick + 1 + (pick % 3)) % likes.length] ?? 'coffee';
        this.#said.push({ id, place, likes: [like, other] });
        const context = contextOf(place, id, `${text}. I like ${other}. That is ${id}.`);
        const answer = { ids: [messageId(this.#newestId + 1)], text: `${like} and ${id}, then.`, at };
        return async ({ log, shortTerm, store }) => {
          await log.recordUser(context);
          await log.recordReply(context, answer);
          await shortTerm.fold?.(aliceId, [sessionWorkOf(context)], signal);
          // What is lazy is on disk with the next change that is not.
          await store.append('synced.jsonl', { id });
          return undefined;
        };
      }
      case 'notice': {
        if (said === undefined) return undefined;
        const noticed = `I like ${said.likes[flag ? 0 : 1]}`;
        return async ({ durable, log }) =>
          idOf(
            await durable.remember(unconditional(aliceId), {
              text: noticed,
              place: said.place,
              messageId: said.id,
              type: 'summary',
              stillStands: async () =>
                (await log.message({ channelId: said.place.channelId, userId: aliceId }, said.id)) !==
                undefined,
            }),
          );
      }
      case 'accept': {
        if (said === undefined) return undefined;
        const proposed = `I like ${said.likes[flag ? 0 : 1]}`;
        return async ({ proposals }) => {
          const request = { text: proposed, place: said.place, messageId: said.id, type: 'summary' } as const;
          const outcome = await proposals.remember(unconditional(aliceId), request);
          return outcome.outcome === 'proposed'
            ? idOf(await proposals.accept(unconditional(aliceId), outcome.proposed.id))
            : undefined;
        };
      }
      case 'correct':
      case 'remember': {
        const request = { text: flag ? text : `${text} most`, place, messageId: id } as const;
        const replaces = item === undefined || what === 'remember' ? {} : { replaces: item.id };
        const type = what === 'remember' ? 'manual' : 'discord';
        return async ({ durable }) =>
          idOf(
            await durable.remember(unconditional(aliceId), {
              ...request,
              ...replaces,
              type,
              turnMessageId: id,
            }),
          );
      }
      case 'forget':
        return async ({ durable }) => idOf(await durable.forget(unconditional(aliceId), like, place, id));
      case 'forget all': {
        const ids = listed.map((each) => each.id).slice(0, 1 + (pick % maxItems));
        // Of messages alone, nothing tells after a kill whether they were taken before it: their person was not told.
        if (ids.length === 0) return undefined;
        const mentions =
          flag && said !== undefined ? [{ channelId: said.place.channelId, messageIds: [said.id] }] : [];
        return async ({ durable }) =>
          idOf(
            await durable.forget(unconditional(aliceId), ids, dmPlace, id, {
              words: 'like',
              messages: mentions,
            }),
          );
      }
      case 'edit':
        return (
          item &&
          (async ({ durable }) =>
            idOf(await durable.edit(unconditional(aliceId), item.id, `${text} now`, dmPlace, id)))
        );
      case 'pin':
        return (
          item &&
          (async ({ durable }) =>
            idOf(await durable.setPinned(unconditional(aliceId), item.id, flag, dmPlace)))
        );
      case 'share': {
        const visibility = flag ? 'everywhere' : 'dm';
        return (
          item &&
          (async ({ durable }) =>
            idOf(await durable.setVisibility(unconditional(aliceId), item.id, visibility, dmPlace)))
        );
      }
      case 'import': {
        const { items: brought } = readExportedItems(
          [{ text }, { text: `${text} a lot` }],
          new Date(startTime),
        );
        return async ({ durable }) => idOf(await durable.rememberAll(unconditional(aliceId), brought));
      }
      case 'note': {
        const context = contextOf(place, id, 'Please write it down.');
        const path = place === dmPlace ? (pick % 3 === 0 ? 'MEMORY.md' : 'topics/zebras.md') : 'overview.md';
        const entry = `zebra ${id}`;
        const [name, input] = flag
          ? ['memory_append', { path, entry }]
          : ['memory_write', { path, content: entry }];
        return async ({ notebook }) => {
          const call = (tool: string, given: object) =>
            notebook.tools.find(({ definition }) => definition.name === tool)?.run(given, context, signal);
          if (!flag) await call('memory_read', { path });
          const undo = (await call(name, input))?.notice?.buttons.find(({ label }) => label === 'Undo');
          return undo?.line?.replace('memory undo ', '');
        };
      }
      case 'undo':
        throw new TypeError('What is undone is decided elsewhere');
    }
  }
}

/** A process that is killed now and then, and the disk that outlives it. */
class Mortal {
  readonly disk = new LossyDisk();
  /** The power goes, and not only the process. */
  readonly losesPower: boolean;
  memory!: Memory;
  kills = 0;
  #now = startTime;

  constructor(losesPower: boolean) {
    this.losesPower = losesPower;
  }

  async start(): Promise<this> {
    this.memory = await openMemory(this.disk, this.#now);
    return this;
  }

  set now(now: number) {
    this.#now = now;
    this.memory.time.now = now;
  }

  /** Does something, and is killed as drawn; resolves with what that resolved with, or `unknown` where it was killed before. */
  async takeAndDie(
    take: Take,
    { kills, seed }: Drawn,
    operations: number,
  ): Promise<{ readonly undoId: string | undefined } | 'unknown'> {
    const [part, partOfStart] = kills;
    if (part === undefined) return { undoId: await take(this.memory) };
    this.disk.operationsLeft = Math.floor(part * operations);
    let taken: { readonly undoId: string | undefined } | 'unknown' = 'unknown';
    try {
      taken = { undoId: await take(this.memory) };
    } catch (error) {
      if (this.disk.operationsLeft > 0) throw error;
    }
    await this.#die(seed);
    if (partOfStart !== undefined) {
      this.disk.operationsLeft = Math.floor(partOfStart * operationsOfStart);
      try {
        await this.start();
      } catch (error) {
        if (this.disk.operationsLeft > 0) throw error;
      }
      await this.#die(seed + 1);
    }
    await this.start();
    return taken;
  }

  async #die(seed: number): Promise<void> {
    this.kills += 1;
    this.disk.operationsLeft = 0;
    await this.memory.store.close();
    if (this.losesPower) this.disk.losePower(chanceOf(seed));
    else this.disk.loseProcess();
  }
}

/** About. */
const operationsOfStart = 60;

/** A memory as it would be if what was said between two others had been said in it. */
function withSaid(memory: State, before: State, after: State): State {
  const added = after.said.map((texts, at) =>
    texts.filter((text) => before.said[at]?.includes(text) !== true),
  );
  return { ...memory, said: memory.said.map((texts, at) => [...texts, ...(added[at] ?? [])]) };
}

/** A memory as it would be if a step that only confirmed items had come before it: that cannot be undone. */
function withConfirmed(memory: State, before: State, after: State): State {
  const earlier = new Map(before.items.map((item) => [item.id, item]));
  const confirmed = after.items.filter(({ id, updatedAt }) => earlier.get(id)?.updatedAt !== updatedAt);
  const items = memory.items.map((item) => {
    const updatedAt = confirmed.find(({ id }) => id === item.id)?.updatedAt;
    const isAsBefore = isDeepStrictEqual(item, earlier.get(item.id));
    return updatedAt !== undefined && isAsBefore ? { ...item, updatedAt } : item;
  });
  // As they are listed [D4].
  const inOrder = items.toSorted((a, b) => Number(b.pinned) - Number(a.pinned) || byAge(b, a));
  return { ...memory, items: inOrder };
}

/** How often what was played. */
export interface Played {
  changes: number;
  undone: number;
  kills: number;
  /** The kill came before it was acknowledged, and it was made all the same. */
  madeUnacknowledged: number;
  notMade: number;
}

async function playSequence(sequence: readonly Drawn[], losesPower: boolean, played: Played): Promise<void> {
  const conversation = new Conversation();
  const whole = await new Mortal(losesPower).start();
  const killed = await new Mortal(losesPower).start();
  const undoable: Undoable[] = [];
  let now = startTime;

  /** Does it in both; resolves with what it can be undone by in each. */
  async function take(takeWhole: Take, takeKilled: Take, drawn: Drawn) {
    now += 1000;
    whole.now = now;
    killed.now = now;
    const before = await whole.memory.state();
    const newest = async () => (await killed.memory.undoableIds()).at(-1);
    const newestBefore = await newest();
    const begun = whole.disk.operations;
    const wholeId = await takeWhole(whole.memory);
    const operations = whole.disk.operations - begun;
    const after = await whole.memory.state();
    let taken = await killed.takeAndDie(takeKilled, drawn, operations);
    const found = await killed.memory.state();
    // Its answer may be lost, and is logged again.
    if (drawn.what === 'say' && drawn.kills.length > 0) taken = { undoId: await takeKilled(killed.memory) };
    if (taken === 'unknown') {
      const newestNow = await newest();
      const isMade = newestNow !== newestBefore;
      expect({ isMade, found }).toEqual({ isMade, found: isMade ? after : before });
      played[isMade ? 'madeUnacknowledged' : 'notMade'] += 1;
      taken = { undoId: isMade ? newestNow : await takeKilled(killed.memory) };
    }
    expect(await killed.memory.state()).toEqual(after);
    return { before, after, wholeId, killedId: taken.undoId };
  }

  async function undo(drawn: Drawn): Promise<void> {
    let last = undoable.pop();
    // Messages that went since have made it final, so that no note brings back what it said of them: the note stays.
    while (last !== undefined && !(await whole.memory.undoableIds()).includes(last.wholeId)) {
      const { notes } = await whole.memory.state();
      for (const each of undoable) each.before = { ...each.before, notes };
      last = undoable.pop();
    }
    if (last === undefined) return;
    const undoing =
      (id: string): Take =>
      async ({ durable }) => {
        // The newest one, by its id or without.
        expect(await durable.undo(unconditional(aliceId), drawn.flag ? undefined : id)).toMatchObject({
          isDone: true,
        });
        return undefined;
      };
    const { after } = await take(undoing(last.wholeId), undoing(last.killedId), drawn);
    // Lines of recent exchanges that say what was forgotten go by their words, and do not come back but with their messages.
    expect({ ...after, exchanges: [] }, 'as before the change').toEqual({ ...last.before, exchanges: [] });
    played.undone += 1;
  }

  for (const drawn of sequence) {
    if (drawn.what === 'undo') {
      await undo(drawn);
      continue;
    }
    const step = await conversation.decide(drawn, whole.memory);
    if (step === undefined) continue;
    const { before, after, wholeId, killedId } = await take(step, step, drawn);
    // What is said comes between, and stays.
    if (drawn.what === 'say') for (const each of undoable) each.before = withSaid(each.before, before, after);
    expect(killedId === undefined).toBe(wholeId === undefined);
    if (wholeId === undefined || killedId === undefined) {
      for (const each of undoable) each.before = withConfirmed(each.before, before, after);
      continue;
    }
    undoable.push({ before, wholeId, killedId });
    played.changes += 1;
  }
  const [last] = sequence.slice(-1);
  for (const drawn of last === undefined ? [] : Array.from(undoable, () => last))
    await undo({ ...drawn, what: 'undo' });
  played.kills += killed.kills;
  for (const each of [whole, killed]) await each.memory.store.close();
}

/** The property for so many random sequences: few for every run, many for the soak. */
export function describeUndoKills(sequences: number): void {
  describe(
    `${sequences} sequences of changes that can be undone`,
    { timeout: 240_000 + 1000 * sequences },
    () => {
      it('are, each of them, made and undone to what was before or not made, wherever a kill or a loss of power comes [K5]', async () => {
        const { seed = Math.floor(Math.random() * 2 ** 31) } = fc.readConfigureGlobal();
        const played: Played = { changes: 0, undone: 0, kills: 0, madeUnacknowledged: 0, notMade: 0 };
        await fc.assert(
          fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 16 }), fc.boolean(), (...drawn) =>
            playSequence(...drawn, played),
          ),
          { numRuns: sequences, seed },
        );
        const { undone, kills } = played;
        expect(Math.min(undone, kills)).toBeGreaterThan(sequences);
        process.stdout.write(`seed ${seed}: ${JSON.stringify(played)}\n`);
      });
    },
  );
}
