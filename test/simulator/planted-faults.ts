/** A mistake that somebody could make, as one line: the simulator must find each. */
export interface PlantedFault {
  readonly name: string;
  /** What it breaks: the rule, and what a person notices. */
  readonly promise: string;
  readonly file: string;
  /** Stands in the file once. */
  readonly find: string;
  readonly put: string;
}

/** A source with the fault in it.
 * @throws {RangeError} where what it replaces does not stand there exactly once. */
export function plant({ name, file, find, put }: PlantedFault, source: string): string {
  const parts = source.split(find);
  const [before, after] = parts;
  if (before === undefined || after === undefined || parts.length > 2)
    throw new RangeError(
      `The planted fault "${name}" has to be written anew: what it replaces stands ${parts.length - 1} times in ${file}: ${find}`,
    );
  return `${before}${put}${after}`;
}

export const plantedFaults: readonly PlantedFault[] = [
  {
    name: 'here-anywhere-in-server',
    promise: '[V2] What was said in a private channel is told in another private channel.',
    file: 'src/core/visibility.ts',
    find: '(memory.homeId === place.homeId || memory.homeId === place.parentId) &&',
    put: 'memory.guildId === place.guildId &&',
  },
];
