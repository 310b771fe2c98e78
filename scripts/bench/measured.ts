/** Prints what is measured, in which unit, and what it shall be, as one line of a table. `floor`: the least that could be, where that is known. */
export function tell(
  [name, unit, goal = '']: readonly [name: string, unit: string, goal?: string],
  measured: readonly number[],
  floor?: readonly number[],
): void {
  const ratio = floor && (median(measured) / median(floor)).toFixed(2);
  const least = ratio === undefined ? '' : `${ratio} × of the least that could be`;
  console.log([`${name} (${unit})`.padEnd(70), shown(measured).padEnd(24), goal, least].join(' ').trimEnd());
}

/** How long something takes, in milliseconds. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

function median(values: readonly number[]): number {
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
