import { isDeepStrictEqual } from 'node:util';

import { renderSection, sourcesOfLines, type Section, type SectionName } from '../core/section.ts';
import { withinBudget } from './budget.ts';

/** The memory at the head of a conversation, kept byte for byte so that the vendor's cache holds [P2]. */
export interface Snapshot {
  /** Slots `slow` and `fast`, each within its budget; without lines where a summary is still to come. */
  readonly sections: readonly Section[];
}

/**
 * There was none; the cache went cold; history was rebuilt; something was withdrawn; a text such as the
 * summary changed; or its changes no longer fit the budget.
 */
export type RetakeReason = 'first' | 'cold' | 'window' | 'withdrawn' | 'changed' | 'full';

export interface NextSnapshot {
  readonly snapshot: Snapshot;
  /** New since the snapshot, for the last message; perhaps without lines. */
  readonly changes: Section;
  /**
   * Turns that the shown summary does not know of [R5]; told in the last message, as it changes each turn.
   */
  readonly turnsSinceSummary: number;
  readonly retaken: RetakeReason | undefined;
}

const changesTitle = 'New or updated since the memory at the beginning of this conversation was read:';
const changesFrame = renderSection({ name: 'changes', title: changesTitle, lines: [''] }).length - 1;

/**
 * Sections of independent lines, of which new ones can ride in `changes`; of others the whole text counts.
 */
const listSections: ReadonlySet<SectionName> = new Set(['durable_items', 'recent_elsewhere']);

/**
 * The snapshot for this turn. `sections` are all that the layers gave; those for the last message matter
 * because `matching_items` shares the budget of `durable_items` [D4]. Names are unique. If only the fast part
 * is retaken, the slow part keeps its bytes and cache. A summary that only went on, or a conversation's first
 * while history shows all of it, waits until history is rebuilt.
 */
export function nextSnapshot(
  previous: Snapshot | undefined,
  sections: readonly Section[],
  reasons: { readonly isCold: boolean; readonly windowWasRebuilt: boolean },
): NextSnapshot {
  const current = (): readonly Section[] =>
    sections
      .filter(isInSnapshot)
      .map(frozen)
      .filter(({ lines, summary }) => lines.length > 0 || summary !== undefined);
  const finish = (kept: readonly Section[], retaken: RetakeReason | undefined): NextSnapshot => ({
    snapshot: { sections: kept },
    changes: changesSection(kept, sections),
    turnsSinceSummary:
      kept.find(({ lines, summary }) => summary !== undefined && lines.length > 0)?.summary?.turnsSince ?? 0,
    retaken,
  });

  if (previous === undefined) return finish(current(), 'first');
  if (reasons.isCold) return finish(current(), 'cold');
  if (reasons.windowWasRebuilt) return finish(current(), 'window');
  const slow = slotReason('slow', previous.sections, sections);
  if (slow !== undefined) return finish(current(), slow);
  const fast = slotReason('fast', previous.sections, sections);
  if (fast === undefined)
    return finish(
      previous.sections.map((section) => oneTurnOn(section, sections)),
      undefined,
    );
  const keptSlow = previous.sections.filter((section) => section.slot === 'slow');
  return finish([...keptSlow, ...current().filter((section) => section.slot === 'fast')], fast);
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
  if (
    old?.summary !== undefined &&
    (old.lines.length === 0 || old.summary.lineage === current?.summary?.lineage)
  )
    return undefined;
  if (!stillStands(old, current)) return 'withdrawn';
  if (current === undefined) return undefined;
  if (old !== undefined && old.title !== current.title) return 'changed';
  if (!listSections.has(current.name)) {
    const { lines } = withinBudget(current);
    return old?.lines === lines || isDeepStrictEqual(old?.lines ?? [], lines) ? undefined : 'changed';
  }
  return fitsWithChanges(old, current, sections) ? undefined : 'full';
}

function stillStands(old: Section | undefined, current: Section | undefined): boolean {
  if (old === undefined || (old.lines === current?.lines && current.standing === undefined)) return true;
  const standing = current?.standing ?? new Set(current?.lines);
  return old.lines.every((line) => standing.has(line));
}

/** Whether what the snapshot shows, what is new and what matches the message fit the layer's budget. */
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
  const sources = sourcesOfLines(lines, lists);
  return { name: 'changes', slot: 'last', title: changesTitle, lines, budget, sources };
}

/** Turns pass for a kept summary, even where a newer one is not shown yet. */
function oneTurnOn(kept: Section, current: readonly Section[]): Section {
  const newest = current.find(({ name }) => name === kept.name);
  if (kept.summary === undefined || newest?.summary === undefined) return kept;
  if (newest.title === kept.title) return { ...kept, summary: newest.summary };
  return { ...kept, summary: { ...kept.summary, turnsSince: kept.summary.turnsSince + 1 } };
}

/** Lines not in the snapshot that do not ride in `matching_items` already. */
function addedLines(
  old: Section | undefined,
  current: Section,
  sections: readonly Section[],
): readonly string[] {
  const { lines } = withinBudget(current);
  if (old?.lines === lines) return [];
  const shown = new Set([...(old?.lines ?? []), ...(matchingOf(sections)?.lines ?? [])]);
  return lines.filter((line) => !shown.has(line));
}

function matchingOf(sections: readonly Section[]): Section | undefined {
  return sections.find((section) => section.name === 'matching_items');
}

/** What was standing at the time is of no use later. */
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
