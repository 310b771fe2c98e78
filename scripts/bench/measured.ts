import { appendFileSync } from 'node:fs';

/** What is measured, in which unit, and what it shall be. */
export type Row = readonly [name: string, unit: string, goal?: string];

/** What is asked once a round; the first rounds, with negative numbers, warm up. It gives a value for each row, by its key. */
export interface Subject<Key extends string> {
  sample(round: number): Promise<Readonly<Record<Key, number>>>;
  close?(): Promise<void>;
}

interface Comparison<Key extends string> {
  readonly rows: Readonly<Record<Key, Row>>;
  readonly rounds: number;
  readonly ours: Subject<Key>;
  /** The least that could be done for it. */
  readonly floor: { readonly name: string; readonly subject: Subject<Key> };
}

export type Bench = ReturnType<typeof createBench>;

const widths = [70, 24, 24, 7, 18];

/** Prints each row as one line of a table, and appends it to the file `json`, if there is one, as one line of JSON. */
export function createBench(json: string | undefined) {
  printCells(['', 'ours', 'floor', 'ratio', 'goal']);

  /** `floor`: what was measured of it; without one, the row stands by itself. */
  function tell([name, unit, goal]: Row, ours: readonly number[], floor?: readonly number[]): void {
    const ratio = floor && median(ours) / median(floor);
    printCells([
      `${name} (${unit})`,
      shown(ours),
      floor === undefined ? '–' : shown(floor),
      ratio?.toFixed(2) ?? '–',
      goal ?? '',
    ]);
    const row = { name, unit, ours: median(ours), floor: floor && median(floor), ratio, goal };
    if (json !== undefined) appendFileSync(json, `${JSON.stringify(row)}\n`);
  }

  return {
    tell,
    /** Takes turns between the floor and ourselves, so that a busy machine slows both. */
    async compare<Key extends string>({ rows, rounds, ours, floor }: Comparison<Key>): Promise<void> {
      print(`beside ${floor.name}, ${rounds} rounds:`);
      const subjects = { ours, floor: floor.subject };
      const names = ['floor', 'ours'] as const;
      const found = { ours: [] as Record<Key, number>[], floor: [] as Record<Key, number>[] };
      try {
        for (let round = -Math.ceil(rounds / 10); round < rounds; round += 1)
          // None is always the first.
          for (const name of round % 2 === 0 ? names : names.toReversed()) {
            const values = await subjects[name].sample(round);
            if (round >= 0) found[name].push(values);
          }
      } finally {
        for (const subject of Object.values(subjects)) await subject.close?.();
      }
      for (const key in rows) {
        const [own, least] = [found.ours, found.floor].map((all) => all.map((values) => values[key]));
        tell(rows[key], own ?? [], least);
      }
    },
  };
}

/** How long something takes, in milliseconds. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

export function median(values: readonly number[]): number {
  return at(values, 0.5);
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** The median, and the quarters that lie below and above. */
function shown(values: readonly number[]): string {
  return `${short(median(values))} [${short(at(values, 0.25))}–${short(at(values, 0.75))}]`;
}

function short(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printCells(cells: readonly string[]): void {
  print(
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join(' ')
      .trimEnd(),
  );
}
