import * as fc from 'fast-check';
import type { LogEntry, Store } from '../../src/core/store.ts';
import { alice, ben, entriesOf, noteKind, noteSchema } from './store-fixtures.ts';

type KeyStep =
  | { readonly kind: 'update' | 'write' | 'append' | 'remove'; readonly key: number; readonly note: string }
  | { readonly kind: 'rewrite'; readonly key: number; readonly removed: readonly number[] };
export type Step = KeyStep | { readonly kind: 'removeAll' } | { readonly kind: 'reopen' };

const key = fc.nat({ max: 1 });
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('update' as const, 'write' as const, 'append' as const, 'remove' as const),
    key,
    note: fc.string({ unit: 'grapheme', maxLength: 8 }),
  }),
  fc.record({
    kind: fc.constant('rewrite' as const),
    key,
    removed: fc.array(fc.integer({ min: 1, max: 8 })),
  }),
  fc.record({ kind: fc.constant('removeAll' as const) }),
  fc.record({ kind: fc.constant('reopen' as const) }),
);

const documents = [`users/${alice}/durable.json`, `users/${ben}/durable.json`] as const;
const texts = [`users/${alice}/notebook/USER.md`, `users/${ben}/notebook/USER.md`] as const;
const logs = [`sessions/${ben}/${alice}/messages.jsonl`, `sessions/${ben}/${ben}/messages.jsonl`] as const;

export interface ModelSlot {
  note?: string | undefined;
  text?: string | undefined;
  entries: LogEntry<{ note: string }>[];
  highest: number;
}

export function createModel(): ModelSlot[] {
  return [
    { entries: [], highest: 0 },
    { entries: [], highest: 0 },
  ];
}

export async function applyToStore(store: Store, step: Exclude<Step, { kind: 'reopen' }>): Promise<void> {
  if (step.kind === 'removeAll') return store.removeAll('users');
  const [documentKey, textKey, logKey] = [documents[step.key], texts[step.key], logs[step.key]];
  if (documentKey === undefined || textKey === undefined || logKey === undefined) return;
  switch (step.kind) {
    case 'update':
      await store.update(documentKey, noteKind, () => ({ version: 1 as const, note: step.note }));
      return;
    case 'write':
      return store.writeText(textKey, step.note);
    case 'append':
      await store.append(logKey, { note: step.note });
      return;
    case 'remove':
      await Promise.all([store.remove(documentKey), store.remove(textKey), store.remove(logKey)]);
      return;
    case 'rewrite':
      await store.rewrite(logKey, noteSchema, ({ sequence, record }) =>
        step.removed.includes(sequence) ? undefined : { note: record.note },
      );
  }
}

export function applyToModel(model: ModelSlot[], step: Step): void {
  if (step.kind === 'reopen') return;
  if (step.kind === 'removeAll') {
    for (const slot of model) [slot.note, slot.text] = [undefined, undefined];
    return;
  }
  const slot = model[step.key];
  if (slot === undefined) return;
  switch (step.kind) {
    case 'update':
      slot.note = step.note;
      return;
    case 'write':
      slot.text = step.note;
      return;
    case 'append':
      slot.highest += 1;
      slot.entries.push({ sequence: slot.highest, record: { note: step.note } });
      return;
    case 'remove':
      [slot.note, slot.text, slot.entries, slot.highest] = [undefined, undefined, [], 0];
      return;
    case 'rewrite':
      slot.entries = slot.entries.filter(({ sequence }) => !step.removed.includes(sequence));
  }
}

/** What the store holds where the model has a slot, with the newest two numbers of each log read by a cursor as well. */
export async function contentOfStore(store: Store, model: readonly ModelSlot[]): Promise<unknown> {
  return Promise.all(
    model.map(async ({ highest }, index) => {
      const logKey = logs[index] ?? '';
      return {
        note: (await store.read(documents[index] ?? '', noteKind))?.note,
        text: await store.readText(texts[index] ?? ''),
        entries: await entriesOf(store, logKey),
        newest: await entriesOf(store, logKey, { after: Math.max(0, highest - 2) }),
        lastSequence: (await store.logState(logKey)).last,
      };
    }),
  );
}

export function contentOfModel(model: readonly ModelSlot[]): unknown {
  return model.map(({ note, text, entries, highest }) => ({
    note,
    text,
    entries,
    newest: entries.filter(({ sequence }) => sequence > highest - 2),
    lastSequence: entries.at(-1)?.sequence ?? 0,
  }));
}
