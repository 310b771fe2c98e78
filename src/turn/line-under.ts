/** The line under a reply: what went wrong, and in small print what was done, each once. `undefined` where there is nothing to say. */
export function lineUnder(problem: string | undefined, notes: readonly string[]): string | undefined {
  const done = notes.length === 0 ? [] : [`-# ${[...new Set(notes)].join(' · ')}`];
  const lines = [...(problem === undefined ? [] : [problem]), ...done];
  return lines.length === 0 ? undefined : lines.join('\n');
}
