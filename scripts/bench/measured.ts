import { appendFileSync } from 'node:fs';

import type { Version } from './versions.ts';

/** What one round gives, by the key of the row that it belongs to, in the row's unit. */
type Values<Key extends string> = Readonly<Partial<Record<Key, number>>>;

/** What is asked once a round; the first rounds, with negative numbers, warm up. */
export interface Subject<Key extends string> {
  sample(round: number): Promise<Values<Key>>;
  close?(): Promise<void>;
}

export interface Comparison<Key extends string> {
  /** A name and a unit for each value that a sample gives. */
  readonly rows: Readonly<Record<Key, readonly [name: string, unit: string]>>;
  readonly rounds: number;
  /** The least that could be done for it. */
  readonly floor?: { readonly name: string; readonly subject: Subject<Key> };
  /** Opens a version of ourselves; `undefined` for one that cannot be asked. */
  readonly open: (version: Version) => Promise<Subject<Key> | undefined>;
}

/** Something that is timed, beside its floor. */
export interface Timed {
  readonly name: string;
  readonly run: (round: number) => Promise<unknown>;
  readonly floorName: string;
  readonly floor: (round: number) => Promise<unknown>;
}

/** What was measured elsewhere; without `floor` there is none. */
export interface Told {
  readonly name: string;
  readonly unit: string;
  readonly ours: readonly number[];
  readonly floor?: { readonly name: string; readonly values: readonly number[] };
}

/** The median of what was measured, and the quarters of it that lie below and above. */
interface Spread {
  readonly median: number;
  readonly q1: number;
  readonly q3: number;
}

/** Who has taken so long in a comparison is asked no more in it; milliseconds. */
const patienceMs = 120_000;

export type Bench = ReturnType<typeof createBench>;

/**
 * Prints each row as one line of a table, and appends it to `json` as one line of JSON; `other`: another version
 * of ourselves beside this one.
 */
export function createBench({
  ours,
  other,
  json,
}: {
  readonly ours: Version;
  readonly other?: Version | undefined;
  readonly json?: string | undefined;
}) {
  printLine(['', 'ours', 'floor', 'ratio', ...(other === undefined ? [] : [other.name, 'times']), 'rounds']);

  function report(
    [name, unit]: readonly [name: string, unit: string],
    values: { readonly ours: readonly number[]; readonly other?: readonly number[] },
    floor: Told['floor'],
  ): void {
    const own = spreadOf(values.ours);
    const least = floor && { name: floor.name, ...spreadOf(floor.values) };
    const then = values.other && other && { version: other.name, ...spreadOf(values.other) };
    const ratio = least && least.median > 0 ? own.median / least.median : undefined;
    const times = then && then.median / own.median;
    printLine([
      `${name} (${unit})`,
      shown(own),
      least === undefined ? '–' : shown(least),
      ratio?.toFixed(2) ?? '–',
      ...(other === undefined
        ? []
        : [then === undefined ? 'left out' : shown(then), times?.toFixed(2) ?? '–']),
      `${values.ours.length}${least === undefined ? '' : ` · floor: ${least.name}`}`,
    ]);
    const row = {
      name,
      unit,
      rounds: values.ours.length,
      ours: own,
      floor: least,
      ratio,
      against: then,
      times,
    };
    if (json !== undefined) appendFileSync(json, `${JSON.stringify(row)}\n`);
  }

  /** Takes turns between the floor and all versions, so that a busy machine slows each of them. */
  async function compare<Key extends string>({ rows, rounds, floor, open }: Comparison<Key>): Promise<void> {
    const subjects: { readonly of: 'floor' | 'ours' | 'other'; readonly subject: Subject<Key> }[] = [];
    try {
      if (floor !== undefined) subjects.push({ of: 'floor', subject: floor.subject });
      for (const version of [ours, other]) {
        const subject = version && (await open(version));
        if (subject !== undefined) subjects.push({ of: version === ours ? 'ours' : 'other', subject });
      }
      const spent = new Map(subjects.map(({ of }) => [of, 0]));
      const found = { floor: [] as Values<Key>[], ours: [] as Values<Key>[], other: [] as Values<Key>[] };
      for (let round = -Math.ceil(rounds / 10); round < rounds; round += 1) {
        // None is always the first, nor always behind the same one.
        const order = round % 2 === 0 ? subjects : subjects.toReversed();
        for (const { of, subject } of order) {
          const before = spent.get(of) ?? 0;
          if (before > patienceMs && found[of].length > 0) continue;
          const begun = performance.now();
          const values = await subject.sample(round);
          spent.set(of, before + performance.now() - begun);
          if (round >= 0) found[of].push(values);
        }
      }
      for (const key in rows) {
        const [least, own, then] = [found.floor, found.ours, found.other].map((all) => valuesOf(all, key));
        report(
          rows[key],
          { ours: own ?? [], ...(then?.length ? { other: then } : {}) },
          floor && least?.length ? { name: floor.name, values: least } : undefined,
        );
      }
    } finally {
      for (const { subject } of subjects) await subject.close?.();
    }
  }

  return {
    compare,
    /** Milliseconds that something takes in this version, beside its floor. */
    measure: ({ name, run, floorName, floor }: Timed, rounds: number): Promise<void> =>
      compare({
        rows: { time: [name, 'ms'] },
        rounds,
        floor: { name: floorName, subject: timing(floor) },
        open: async (version) => (version === ours ? timing(run) : undefined),
      }),
    tell: ({ name, unit, floor, ...values }: Told): void => report([name, unit], values, floor),
  };
}

/** How long something takes, in milliseconds. */
export function timing(run: (round: number) => Promise<unknown>): Subject<'time'> {
  return {
    async sample(round) {
      const begun = performance.now();
      await run(round);
      return { time: performance.now() - begun };
    },
  };
}

export function median(values: readonly number[]): number {
  return spreadOf(values).median;
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return { median: at(0.5), q1: at(0.25), q3: at(0.75) };
}

function valuesOf<Key extends string>(all: readonly Values<Key>[], key: Key): readonly number[] {
  return all.flatMap((values) => values[key] ?? []);
}

function shown({ median: middle, q1, q3 }: Spread): string {
  return `${short(middle)} [${short(q1)}–${short(q3)}]`;
}

function short(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

const widths = [56, 22, 22, 8, 22, 8];

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printLine(cells: readonly string[]): void {
  const columns = cells.length > 5 ? widths : widths.slice(0, 4);
  print(
    cells
      .map((cell, index) => cell.padEnd(columns[index] ?? 0))
      .join(' ')
      .trimEnd(),
  );
}
