import { isDeepStrictEqual } from 'node:util';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import type { DocumentKind } from '../../../src/core/store.ts';
import { createFileStore, type FileStore } from '../../../src/storage/files/store.ts';
import { alice, log, notesOf, noteSchema, text } from '../store-fixtures.ts';
import { LossyDisk, lossyFolder } from './lossy-disk.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { chanceOf } from '../../support/chance.ts';

interface Items {
  readonly version: 1;
  readonly items: readonly { readonly id: string; readonly note: string }[];
}

const itemsKind: DocumentKind<Items> = {
  version: 1,
  schema: z.object({
    version: z.literal(1),
    items: z.array(z.object({ id: z.string(), note: z.string() })),
  }),
};
const documentKey = `users/${alice}/items.json`;

/** What a store holds: the notes of a document, of a text and of a log. */
interface Content {
  readonly document: readonly string[];
  readonly text: string | undefined;
  readonly log: readonly string[];
}

const empty: Content = { document: [], text: undefined, log: [] };

interface Step {
  readonly what: 'put' | 'drop' | 'write' | 'append' | 'rewrite' | 'remove' | 'removeAll' | 'start';
  readonly erase: boolean;
}

/** The content after a step, whose own word is `word`. */
function after(content: Content, { what }: Step, word: string): Content {
  switch (what) {
    case 'put':
      return { ...content, document: [...content.document, word] };
    case 'drop':
      return { ...content, document: content.document.slice(1) };
    case 'write':
      return { ...content, text: word };
    case 'append':
      return { ...content, log: [...content.log, word] };
    case 'rewrite':
      return { ...content, log: content.log.slice(1) };
    case 'remove':
      return { ...content, text: undefined };
    case 'removeAll':
      return { ...content, document: [], text: undefined };
    case 'start':
      return content;
  }
}

async function take(store: FileStore, { what, erase }: Step, word: string): Promise<unknown> {
  switch (what) {
    case 'put':
    case 'drop':
      return store.update(
        documentKey,
        itemsKind,
        (current): Items => {
          const items = current?.items ?? [];
          const next = what === 'put' ? [...items, { id: word, note: word }] : items.slice(1);
          return { version: 1, items: next };
        },
        { erase: erase || what === 'drop' },
      );
    case 'write':
      return store.writeText(text, word);
    case 'append':
      return store.append(log, { note: word });
    case 'rewrite': {
      const [first] = await notesOf(store, log);
      return store.rewrite(log, noteSchema, ({ record }) => (record.note === first ? undefined : record));
    }
    case 'remove':
      return store.remove(text);
    case 'removeAll':
      return store.removeAll(`users/${alice}`);
    case 'start':
      return undefined;
  }
}

async function contentOf(store: FileStore): Promise<Content> {
  const document = await store.read(documentKey, itemsKind);
  return {
    document: (document?.items ?? []).map(({ note }) => note),
    text: await store.readText(text),
    log: await notesOf(store, log),
  };
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom(
    'put',
    'put',
    'drop',
    'write',
    'append',
    'append',
    'rewrite',
    'remove',
    'removeAll',
    'start',
  ),
  erase: fc.nat(3).map((number) => number === 0),
});
interface Life {
  readonly steps: readonly Step[];
  /** After how many operations on the disk the power goes. */
  readonly lasts: number;
  /** The process is killed, and the power stays. */
  readonly isKill: boolean;
  readonly seed: number;
}

const anyLife: fc.Arbitrary<Life> = fc.record({
  steps: fc.array(anyStep, { minLength: 1, maxLength: 12 }),
  lasts: fc.nat(400),
  isKill: fc.boolean(),
  seed: fc.nat(),
});

/** Starts, changes and loses power again and again on one disk; what was acknowledged is there, and what was erased is not. */
async function live(lives: readonly Life[]) {
  const disk = new LossyDisk();
  let content = empty;
  /** What the next start may find: after a kill also what it might have, since nobody was told that what it found is kept. */
  let found = [empty];
  let words = 0;
  const erased = new Set<string>();
  const logger = new RecordingLogger();
  const open = () =>
    createFileStore({
      dataDir: `${lossyFolder}/data`,
      workspaceDir: `${lossyFolder}/workspace`,
      clock: () => new Date(),
      logger,
      fileSystem: disk.fileSystem,
    });
  // The folders are there: they come on disk in the very first start, before anything is acknowledged.
  await (await open()).close();
  for (const { steps, lasts, isKill, seed } of lives) {
    disk.operationsLeft = lasts;
    let possible = found;
    const opened: FileStore[] = [];
    try {
      opened.push(await open());
      for (const step of steps) {
        words += 1;
        const word = `word${words}.`;
        const [store] = opened;
        if (store === undefined) break;
        if (step.what === 'start') {
          await store.close();
          opened[0] = await open();
        }
        const next = after(content, step, word);
        const before = step.what === 'start' ? [content] : possible;
        const made = before.map((each) => after(each, step, word));
        possible = [...before, ...made];
        await take(opened[0] ?? store, step, word);
        if (isErasing(step))
          for (const each of wordsOf(content)) if (!wordsOf(next).includes(each)) erased.add(each);
        content = next;
        possible = made;
      }
    } catch (error) {
      if (disk.operationsLeft > 0) throw error;
    }
    disk.operationsLeft = 0;
    for (const store of opened) await store.close();
    logger.lines.length = 0;
    if (isKill) disk.loseProcess();
    else disk.losePower(chanceOf(seed));
    const store = await open();
    content = await contentOf(store);
    found = isKill ? [content, ...possible] : [content];
    await store.removeLeftovers();
    const left = [...erased].filter((word) => disk.everything().includes(word));
    const unreadable = [...logger.errors, ...logger.warnings];
    expect({ content, left, unreadable }).toEqual({
      content: oneOf(possible, content),
      left: [],
      unreadable: [],
    });
    await store.close();
  }
  return lives.length;
}

function isErasing({ what, erase }: Step): boolean {
  return erase || !['put', 'append', 'start'].includes(what);
}

function wordsOf({ document, text: present = '', log: notes }: Content): readonly string[] {
  return [...document, present, ...notes].filter((word) => word !== '');
}

/** What is found where that is possible, else what must be. */
function oneOf(possible: readonly Content[], found: Content): Content | undefined {
  return possible.find((each) => isDeepStrictEqual(each, found)) ?? possible.at(-1);
}

/** The property for so many random lives of a disk: few for every run, many for the soak. */
export function describePowerLosses(disks: number): void {
  describe(`${disks} disks that lose power`, { timeout: 300_000 + 400 * disks }, () => {
    it('have all that was acknowledged, whole, and nothing that was erased [S2][S4][S7]', async () => {
      let states = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(anyLife, { minLength: 1, maxLength: 4 }), async (lives) => {
          states += await live(lives);
        }),
        { numRuns: disks },
      );
      expect(states).toBeGreaterThan(disks);
    });
  });
}
