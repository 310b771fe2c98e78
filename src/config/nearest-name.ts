import { closest, distance } from 'fastest-levenshtein';

const mostTypingErrors = 3;

/** The known name that `name` was probably meant to be, if any is within three typing errors. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const candidate = closest(name, known);
  return distance(name, candidate) <= mostTypingErrors ? candidate : undefined;
}
