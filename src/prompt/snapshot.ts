import { isDeepStrictEqual } from 'node:util';

import { renderSection, type Section, type SectionName } from '../core/section.ts';
import { withinBudget } from './budget.ts';

/** The memory at the head of a conversation, kept byte for byte from turn to turn so that the vendor's cache holds [P2]. */
export interface Snapshot {
  /** Slots `slow` and `fast` only, none empty, each within its budget. */
  readonly sections: readonly Section[];
  /** When a turn last used it, in milliseconds since 1970; the vendor's cache counts from there. */
  readonly usedAt: number;
}

/**
 * Why a snapshot was taken: there was none; the cache has gone cold; history was rebuilt; something was forgotten,
 * hidden, edited or deleted; a text such as the summary changed; its changes no longer fit the budget.
 */
export type RetakeReason = 'first' | 'cold' | 'window' | 'withdrawn' | 'changed' | 'full';

export interface NextSnapshot {
  readonly snapshot: Snapshot;
  /** What is new since the snapshot; goes into the last message. Without lines where nothing is. */
  readonly changes: Section;
  readonly retaken: RetakeReason | undefined;
}

const cacheLifeMs = 5 * 60 * 1000;
const changesTitle = 'New or updated since the memory at the beginning of this conversation was read:';
const changesFrame = renderSection({ name: 'changes', title: changesTitle, lines: [''] }).length - 1;

/** Sections of lines that stand for themselves, so that a new one can ride in `changes`; of the others the whole text counts. */
const listSections: ReadonlySet<SectionName> = new Set(['durable_items', 'recent_elsewhere']);

/**
 * The snapshot for this turn. `sections` are all that the layers gave, in any slot; those for the last message are looked at
 * because `matching_items` shares the budget of `durable_items` [D4]. A name stands for one section. Where only the fast part has to be retaken, the slow
 * part before it keeps its bytes and its place in the cache.
 */
export function nextSnapshot(
  previous: Snapshot | undefined,
  sections: readonly Section[],
  now: Date,
  reasons: { readonly windowWasRebuilt: boolean },
): NextSnapshot {
  const current = sections
    .filter(isInSnapshot)
    .map(frozen)
    .filter(({ lines }) => lines.length > 0);
  const finish = (kept: readonly Section[], retaken: RetakeReason | undefined): NextSnapshot => ({
    snapshot: { sections: kept, usedAt: now.getTime() },
    changes: changesSection(kept, sections),
    retaken,
  });

  const whole = wholeReason(previous, now, reasons.windowWasRebuilt);
  if (previous === undefined || whole !== undefined) return finish(current, whole);
  const slow = slotReason('slow', previous.sections, sections);
  if (slow !== undefined) return finish(current, slow);
  const fast = slotReason('fast', previous.sections, sections);
  if (fast === undefined) return finish(previous.sections, undefined);
  const keptSlow = previous.sections.filter((section) => section.slot === 'slow');
  return finish([...keptSlow, ...current.filter((section) => section.slot === 'fast')], fast);
}

function wholeReason(
  previous: Snapshot | undefined,
  now: Date,
  windowWasRebuilt: boolean,
): RetakeReason | undefined {
  if (previous === undefined) return 'first';
  if (now.getTime() - previous.usedAt > cacheLifeMs) return 'cold';
  return windowWasRebuilt ? 'window' : undefined;
}

/** Why one part of the snapshot can no longer stand. */
function slotReason(
  slot: 'slow' | 'fast',
  kept: readonly Section[],
  sections: readonly Section[],
): RetakeReason | undefined {
  const names = new Set(
    [...kept, ...sections].filter((section) => section.slot === slot).map(({ name }) => name),
  );
  for (const name of names) {
    const old = kept.find((section) => section.name === name);
    const current = sections.find((section) => section.name === name);
    const reason = sectionReason(old, current, sections);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function sectionReason(
  old: Section | undefined,
  current: Section | undefined,
  sections: readonly Section[],
): RetakeReason | undefined {
  const standing = current?.standing ?? new Set(current?.lines);
  if (old?.lines.some((line) => !standing.has(line))) return 'withdrawn';
  if (current === undefined) return undefined;
  if (old !== undefined && old.title !== current.title) return 'changed';
  if (!listSections.has(current.name)) {
    const isSameText = isDeepStrictEqual(old?.lines ?? [], withinBudget(current).lines);
    return isSameText ? undefined : 'changed';
  }
  return fitsWithChanges(old, current, sections) ? undefined : 'full';
}

/** Whether what the snapshot shows, what is new and what matches the message stay within the layer's budget together. */
function fitsWithChanges(old: Section | undefined, current: Section, sections: readonly Section[]): boolean {
  const added = addedLines(old, current, sections);
  const matching = current.name === 'durable_items' ? matchingOf(sections) : undefined;
  const matchingLength = lengthOf(matching);
  // The reader divides one budget between the two sections [D4].
  const allowed = current.budget + (matching?.budget ?? 0);
  const frame = added.length === 0 ? 0 : changesFrame;
  const addedLength = added.reduce((sum, line) => sum + line.length + 1, frame);
  return lengthOf(old) + addedLength + matchingLength <= allowed;
}

function changesSection(kept: readonly Section[], sections: readonly Section[]): Section {
  const lists = sections.filter((section) => isInSnapshot(section) && listSections.has(section.name));
  const lines = lists.flatMap((section) =>
    addedLines(
      kept.find((old) => old.name === section.name),
      section,
      sections,
    ),
  );
  const budget = lists.reduce((sum, section) => sum + section.budget, 0);
  return { name: 'changes', slot: 'last', title: changesTitle, lines, budget };
}

/** Lines that the snapshot does not show and that do not ride in `matching_items` already. */
function addedLines(
  old: Section | undefined,
  current: Section,
  sections: readonly Section[],
): readonly string[] {
  const shown = new Set([...(old?.lines ?? []), ...(matchingOf(sections)?.lines ?? [])]);
  return withinBudget(current).lines.filter((line) => !shown.has(line));
}

function matchingOf(sections: readonly Section[]): Section | undefined {
  return sections.find((section) => section.name === 'matching_items');
}

/** A section as a snapshot keeps it: what was standing at the time is of no use later. */
function frozen(section: Section): Section {
  const { standing: _, ...kept } = withinBudget(section);
  return kept;
}

function lengthOf(section: Section | undefined): number {
  return section === undefined ? 0 : renderSection(section).length;
}

function isInSnapshot(section: Section): boolean {
  return section.slot === 'slow' || section.slot === 'fast';
}
