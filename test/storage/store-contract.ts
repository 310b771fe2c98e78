import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { NewerVersionError, StoreError } from '../../src/core/errors.ts';
import type { Store } from '../../src/core/store.ts';
import {
  alice,
  ben,
  counterKind,
  document,
  entriesOf,
  increment,
  log,
  noteKind,
  noteSchema,
  notesOf,
  text,
} from './store-fixtures.ts';
import {
  anyStep,
  applyToModel,
  applyToStore,
  contentOfModel,
  contentOfStore,
  createModel,
} from './store-model.ts';
import { runs } from '../support/runs.ts';

/** One store and the way to stop and open it again on the same data. */
export interface StoreUnderTest {
  store(): Store;
  reopen(): Promise<void>;
  /** All bytes that the store keeps, backups and the like included, as one text. */
  everything(): Promise<string>;
  dispose(): Promise<void>;
}

/** Stores that are opened one after the other on the same data. */
interface Stores extends Pick<StoreUnderTest, 'dispose'> {
  open(): Promise<Store & { close(): Promise<void> }>;
  everything(): string | Promise<string>;
}

export async function openStoreUnderTest(stores: Stores): Promise<StoreUnderTest> {
  let store = await stores.open();
  return {
    store: () => store,
    async reopen() {
      await store.close();
      store = await stores.open();
    },
    everything: async () => stores.everything(),
    dispose: () => stores.dispose(),
  };
}

/** The suite that every implementation of `Store` passes [S1]. */
export function describeStoreContract(name: string, makeStore: () => Promise<StoreUnderTest>): void {
  describe(`${name} as a store`, () => {
    let subject: StoreUnderTest;
    beforeEach(async () => {
      subject = await makeStore();
    });
    afterEach(() => subject.dispose());
    const store = () => subject.store();
    const update = (note: string, options?: { readonly erase: boolean }) =>
      store().update(document, noteKind, () => ({ version: 1, note }), options);

    describe('keys', () => {
      const unsafe = [
        '',
        '../outside',
        'users//x',
        'users/x/',
        'users/.hidden',
        String.raw`users\x`,
        'users/a\0b',
        'users/é',
        'users/100000000000000001/notebook/a b.md',
      ];
      it.each(unsafe)('refuses %j in every operation', async (key) => {
        const all = [
          () => store().read(key, counterKind),
          () => store().update(key, counterKind, increment),
          () => store().append(key, { note: 'x' }),
          () => entriesOf(store(), key),
          () => store().logState(key),
          () => store().rewrite(key, noteSchema, ({ record }) => record),
          () => store().readText(key),
          () => store().writeText(key, 'x'),
          () => store().list(key),
          () => store().remove(key),
          () => store().removeAll(key),
        ];
        for (const operation of all) await expect(operation()).rejects.toThrow(RangeError);
      });
    });

    describe('documents', () => {
      it('loses no change of many at once [S2]', async () => {
        await Promise.all(Array.from({ length: 40 }, () => store().update(document, counterKind, increment)));
        expect(await store().read(document, counterKind)).toEqual({ version: 1, count: 40 });
      });

      it('keeps the old document when the change throws, and goes on', async () => {
        await store().update(document, counterKind, increment);
        const failing = store().update(document, counterKind, () => {
          throw new TypeError('no');
        });
        await expect(failing).rejects.toThrow(TypeError);
        expect(await store().update(document, counterKind, increment)).toEqual({ version: 1, count: 2 });
      });

      it('never stores what it could not read again', async () => {
        await store().update(document, counterKind, increment);
        const nonsense = store().update(document, counterKind, () => ({ version: 1, count: Number.NaN }));
        await expect(nonsense).rejects.toThrow(StoreError);
        expect(await store().read(document, counterKind)).toEqual({ version: 1, count: 1 });
      });

      it('cannot be changed through what it gave out or was given', async () => {
        const given = { version: 1 as const, count: 1 };
        await store().update(document, counterKind, () => given);
        given.count = 99;
        const read = await store().read(document, counterKind);
        expect(() => Object.assign(read ?? {}, { count: 98 })).toThrow(TypeError);
        expect(await store().read(document, counterKind)).toEqual({ version: 1, count: 1 });
      });

      it('neither reads nor rewrites a document of a newer version [S4]', async () => {
        const newer = { version: 2, schema: z.object({ version: z.literal(2), items: z.array(z.string()) }) };
        await store().update(document, newer, () => ({ version: 2 as const, items: ['kept'] }));
        await expect(store().read(document, counterKind)).rejects.toThrow(NewerVersionError);
        await expect(store().update(document, counterKind, increment)).rejects.toMatchObject({
          found: 2,
          supported: 1,
        });
        expect(await store().read(document, newer)).toEqual({ version: 2, items: ['kept'] });
      });
    });

    describe('logs', () => {
      it('keeps line breaks and every script within one record', async () => {
        const note = 'one\ntwo\r\n\u2028три 日本語 🦞 "quoted" \\ \u0000';
        await store().append(log, { note });
        await subject.reopen();
        expect(await notesOf(store(), log)).toEqual([note]);
      });

      it('skips records that the schema refuses', async () => {
        await store().append(log, { note: 'a' });
        await store().append(log, { other: 1 });
        await store().append(log, { note: 'c' });
        expect((await entriesOf(store(), log)).map(({ sequence }) => sequence)).toEqual([1, 3]);
      });

      it('leaves records alone in a rewrite that the schema refuses', async () => {
        await store().append(log, { other: 1 });
        await store().append(log, { note: 'b' });
        await store().rewrite(log, noteSchema, () => undefined);
        const others = [];
        for await (const entry of store().scan(log, z.object({ other: z.number() }))) others.push(entry);
        expect(others).toEqual([{ sequence: 1, record: { other: 1 } }]);
      });

      it('never reuses a number, even if the newest records were removed', async () => {
        for (const note of ['a', 'b', 'c']) await store().append(log, { note });
        await store().rewrite(log, noteSchema, ({ sequence, record }) => (sequence > 1 ? undefined : record));
        expect(await store().logState(log)).toMatchObject({ last: 1 });
        await subject.reopen();
        expect(await store().append(log, { note: 'd' })).toBe(4);
        await store().rewrite(log, noteSchema, () => undefined);
        expect(await store().logState(log)).toMatchObject({ last: 0 });
        await subject.reopen();
        expect(await store().append(log, { note: 'e' })).toBe(5);
      });

      it('gets a new edition when lines are rewritten or removed, but not when some are added', async () => {
        expect(await store().logState(log)).toMatchObject({ last: 0 });
        for (const note of ['one', 'two']) await store().append(log, { note });
        const first = await store().logState(log);
        await store().append(log, { note: 'three' });
        const appended = await store().logState(log);
        expect(appended).toEqual({ last: 3, edition: first.edition, highest: 3 });
        await store().rewrite(log, noteSchema, ({ sequence, record }) =>
          sequence === 1 ? undefined : record,
        );
        const rewritten = await store().logState(log);
        expect(rewritten.last).toBe(3);
        await store().remove(log);
        for (const note of ['one', 'two', 'three']) await store().append(log, { note });
        const removed = await store().logState(log);
        expect(removed.last).toBe(3);
        expect(new Set([first, rewritten, removed].map(({ edition }) => edition)).size).toBe(3);
        await store().rewrite(log, noteSchema, ({ sequence, record }) =>
          sequence === 3 ? undefined : record,
        );
        expect(await store().logState(log)).toMatchObject({ last: 2, highest: 3 });
      });

      it('loses nothing when a rewrite and appends come together', async () => {
        const appends = Array.from({ length: 20 }, (_, index) => store().append(log, { note: `${index}` }));
        const rewrite = store().rewrite(log, noteSchema, ({ record }) => ({
          note: record.note.padStart(3, '0'),
        }));
        const later = Array.from({ length: 20 }, (_, index) =>
          store().append(log, { note: `${index + 20}` }),
        );
        await Promise.all([...appends, rewrite, ...later]);
        expect((await notesOf(store(), log)).map(Number)).toEqual(
          Array.from({ length: 40 }, (_, index) => index),
        );
      });

      it('scans a log as it was when the scan began', async () => {
        for (const note of ['a', 'b', 'c']) await store().append(log, { note });
        const seen: string[] = [];
        for await (const { record } of store().scan(log, noteSchema)) {
          seen.push(record.note);
          if (seen.length === 1) await store().rewrite(log, noteSchema, () => undefined);
          await store().append(log, { note: 'late' });
        }
        expect(seen).toEqual(['a', 'b', 'c']);
      });
    });

    describe('text files', () => {
      it('lists files by path with their bytes, and no backups', async () => {
        await store().writeText(`users/${alice}/notebook/USER.md`, 'ü');
        await store().writeText(`users/${alice}/notebook/USER.md`, 'üü');
        await store().writeText(text, 'x');
        await store().writeText('workspace/SOUL.md', 'soul');
        expect(await store().list(`users/${alice}/notebook`)).toEqual([
          { path: 'USER.md', bytes: 4 },
          { path: 'facts/user.md', bytes: 1 },
        ]);
        expect(await store().list('users')).toHaveLength(2);
        expect(await store().list('workspace')).toEqual([{ path: 'SOUL.md', bytes: 4 }]);
      });

      it('tells the folders below a folder, and when a file in them was changed', async () => {
        await store().append('channels/1/events.jsonl', { event: 'one' });
        await store().writeText('channels/2/other.md', 'x');
        const found = await store().folders('channels', 'events.jsonl');
        expect(found.map((folder) => folder.name).toSorted()).toEqual(['1', '2']);
        expect(found.find((folder) => folder.name === '2')?.changedAt).toBe(0);
        expect(await store().folders('sessions', 'events.jsonl')).toEqual([]);
      });

      it('has names in any script in notebooks and notes', async () => {
        const keys = [
          `users/${alice}/notebook/topics/кофе.md`,
          `users/${alice}/notebook/topics/設計-ノート.md`,
          `sessions/${ben}/${alice}/detail/हिन्दी.md`,
        ];
        for (const key of keys) await store().writeText(key, key);
        for (const key of keys) expect(await store().readText(key)).toBe(key);
        const listed = [...(await store().list(`users/${alice}`)), ...(await store().list('sessions'))];
        expect(listed.map(({ path }) => path)).toEqual([
          'notebook/topics/кофе.md',
          'notebook/topics/設計-ノート.md',
          `${ben}/${alice}/detail/हिन्दी.md`,
        ]);
      });
    });

    describe('removal', () => {
      it('starts an empty log after it was removed, alone or with its folder', async () => {
        for (const note of ['a', 'b']) await store().append(log, { note });
        await store().remove(log);
        expect(await store().append(log, { note: 'c' })).toBe(1);
        await store().append(log, { note: 'd' });
        await store().removeAll('sessions');
        expect(await store().append(log, { note: 'e' })).toBe(1);
      });

      it('removes a folder and nothing beside it', async () => {
        await store().update(document, counterKind, increment);
        await store().writeText(text, 'a');
        await store().writeText(`users/${alice}0/notebook/USER.md`, 'other');
        await store().update(`users/${ben}/durable.json`, counterKind, increment);
        await store().removeAll(`users/${alice}`);
        expect(await store().list('users')).toHaveLength(2);
        expect(await store().read(document, counterKind)).toBeUndefined();
        await subject.reopen();
        expect(await store().readText(text)).toBeUndefined();
        expect(await store().readText(`users/${alice}0/notebook/USER.md`)).toBe('other');
      });

      it('leaves nothing half-done when changes come together with the removal of their folder', async () => {
        await store().append(log, { note: 'a' });
        const changes = Array.from({ length: 10 }, () => store().append(log, { note: 'x' }));
        const [numbers] = await Promise.all([
          Promise.all(changes),
          store().removeAll(`sessions/200000000000000001`),
        ]);
        const left = await entriesOf(store(), log);
        const next = await store().append(log, { note: 'y' });
        expect(left.map(({ record }) => record.note)).toEqual(left.map(() => 'x'));
        expect(next).toBe((left.at(-1)?.sequence ?? 0) + 1);
        expect(numbers).toHaveLength(10);
      });
    });

    describe('erasing [S7]', () => {
      const canary = 'canary-4f1c';

      it('leaves nothing of what a document held before', async () => {
        for (const note of [canary, `${canary} again`]) await update(note);
        expect(await update('clean', { erase: true })).toEqual({ version: 1, note: 'clean' });
        expect(await subject.everything()).not.toContain(canary);
        expect(await store().read(document, noteKind)).toEqual({ version: 1, note: 'clean' });
      });

      it.each([
        ['gives the very same', (current: { version: 1; note: string } | undefined) => current],
        ['gives nothing', () => undefined],
      ])('leaves nothing of it either where the change %s', async (_, change) => {
        for (const note of [canary, 'clean']) await update(note);
        const erased = store().update(document, noteKind, change, { erase: true });
        expect(await erased).toEqual({ version: 1, note: 'clean' });
        expect(await subject.everything()).not.toContain(canary);
        await subject.reopen();
        expect(await store().read(document, noteKind)).toEqual({ version: 1, note: 'clean' });
      });

      it('leaves nothing of what a text held before', async () => {
        for (const words of [canary, `${canary} again`]) await store().writeText(text, words);
        await store().writeText(text, 'clean');
        expect(await subject.everything()).not.toContain(canary);
        expect(await store().readText(text)).toBe('clean');
      });

      it('leaves nothing of records that a rewrite changes or removes', async () => {
        for (const note of [canary, 'kept', `${canary} again`]) await store().append(log, { note });
        await store().rewrite(log, noteSchema, ({ sequence, record }) => {
          if (sequence === 1) return undefined;
          return sequence === 2 ? record : { note: 'clean' };
        });
        expect(await subject.everything()).not.toContain(canary);
        expect(await notesOf(store(), log)).toEqual(['kept', 'clean']);
      });

      it('leaves nothing of what is removed, alone or with its folder', async () => {
        for (const note of [canary, `${canary} again`]) {
          await update(note);
          await store().writeText(text, note);
          await store().append(log, { note });
        }
        await store().remove(document);
        await store().remove(log);
        await store().removeAll(`users/${alice}/notebook`);
        expect(await subject.everything()).not.toContain(canary);
      });
    });

    it('behaves like a simple model under any sequence of operations', async () => {
      await fc.assert(
        fc
          .asyncProperty(fc.array(anyStep, { maxLength: 30, size: 'max' }), async (steps) => {
            const model = createModel();
            for (const step of steps) {
              if (step.kind === 'reopen') await subject.reopen();
              else await applyToStore(store(), step);
              applyToModel(model, step);
              expect(await contentOfStore(store(), model)).toEqual(contentOfModel(model));
            }
          })
          .beforeEach(async () => {
            for (const folder of ['users', 'sessions']) await store().removeAll(folder);
          }),
        { numRuns: runs(30) },
      );
    });
  });
}
