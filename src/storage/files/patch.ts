import { isDeepStrictEqual } from 'node:util';

import { z } from 'zod';

import { changedPart, type ChangedPart } from '../../core/store.ts';

/** An element of a document's list, found again by its id. */
interface Element {
  readonly id: string;
}

/** What a change did to a document. Done twice it does no more than done once, and what it does not name stays as somebody else made it meanwhile [S5]. */
export const patchSchema = z.object({
  set: z.record(z.string(), z.unknown()).exactOptional(),
  removed: z.array(z.string()).exactOptional(),
  /** By the name of a list. */
  lists: z
    .record(
      z.string(),
      z.object({
        /** By id. */
        removed: z.array(z.string()),
        /** In order: an element that is there already is replaced where it stands; another comes behind the one named by `after`, or first without one. */
        put: z.array(z.object({ after: z.string().exactOptional(), element: z.custom<Element>(isElement) })),
      }),
    )
    .exactOptional(),
});

export type Patch = z.infer<typeof patchSchema>;
type ListPatch = NonNullable<Patch['lists']>[string];
type Fields = Readonly<Record<string, unknown>>;

/**
 * What makes `before` into `after`. `list` names the field whose elements are told apart by their ids, each of which stands there once; for the
 * others it is enough that they changed. Takes as long as the change is large where unchanged elements are the same objects, and its `part` is known.
 */
export function patchBetween(before: object, after: object, list?: string, part?: ChangedPart): Patch {
  const old: Fields = { ...before };
  const next: Fields = { ...after };
  const changed = Object.entries(next).filter(([name, value]) => !Object.is(old[name], value));
  const removed = Object.keys(old).filter((name) => !Object.hasOwn(next, name));
  const set: Record<string, unknown> = Object.fromEntries(changed);
  const elements = list !== undefined && list in set ? listPatch(old[list], next[list], part) : undefined;
  if (list !== undefined && elements !== undefined) delete set[list];
  return {
    ...(Object.keys(set).length > 0 && { set }),
    ...(removed.length > 0 && { removed }),
    ...(list !== undefined && elements !== undefined && { lists: { [list]: elements } }),
  };
}

/** `undefined` where ids do not tell the change: what is no list, or elements in another order. */
function listPatch(before: unknown, after: unknown, part?: ChangedPart): ListPatch | undefined {
  if (!Array.isArray(before) || !Array.isArray(after)) return undefined;
  const { start, kept } = part ?? changedPart(before, after);
  // The one before tells where a new first one goes.
  const from = Math.max(0, start - 1);
  const old: readonly unknown[] = before.slice(from, before.length - kept);
  const next: readonly unknown[] = after.slice(from, after.length - kept);
  if (!old.every(isElement) || !next.every(isElement)) return undefined;
  const present = new Set(next.map(({ id }) => id));
  const former = new Map(old.map((element) => [element.id, element]));
  const isOrderKept = isDeepStrictEqual(idsIn(old, present), idsIn(next, former));
  if (!isOrderKept) return undefined;
  return {
    removed: old.filter(({ id }) => !present.has(id)).map(({ id }) => id),
    put: next.flatMap((element, index) => {
      const isSame = from + index < start || isDeepStrictEqual(element, former.get(element.id));
      const behind = next[index - 1]?.id;
      return isSame ? [] : [{ element, ...(behind !== undefined && { after: behind }) }];
    }),
  };
}

function idsIn(elements: readonly Element[], others: { has(id: string): boolean }): readonly string[] {
  return elements.map(({ id }) => id).filter((id) => others.has(id));
}

/** The document after the change; where a list to change is missing, it is made. */
export function patched(document: object, { set, removed = [], lists = {} }: Patch): object {
  const result: Record<string, unknown> = { ...document, ...set };
  for (const name of removed) delete result[name];
  for (const [name, patch] of Object.entries(lists)) result[name] = patchedList(result[name], patch);
  return result;
}

function patchedList(list: unknown, { removed, put }: ListPatch): unknown[] {
  const gone = new Set(removed);
  const elements: unknown[] = (Array.isArray(list) ? list : []).filter((each) => !gone.has(idOf(each) ?? ''));
  for (const { after, element } of put) {
    const at = elements.findIndex((each) => idOf(each) === element.id);
    if (at !== -1) elements[at] = element;
    else if (after === undefined) elements.unshift(element);
    else {
      const before = elements.findIndex((each) => idOf(each) === after);
      elements.splice(before === -1 ? elements.length : before + 1, 0, element);
    }
  }
  return elements;
}

function idOf(element: unknown): string | undefined {
  return isElement(element) ? element.id : undefined;
}

function isElement(value: unknown): value is Element {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string';
}
