import { tellingTerms } from './telling-terms.ts';

/**
 * The candidates that share most terms with the question, the best first; rare terms weigh more. Those that share nothing, or
 * far less than the best, are left out. Equal ones keep their order.
 */
export function bestMatches<T>(
  question: string,
  candidates: readonly T[],
  textOf: (candidate: T) => string,
  limit: number,
): readonly T[] {
  const asked = tellingTerms(question);
  const known = candidates.map((candidate) => ({ candidate, found: tellingTerms(textOf(candidate)) }));
  const scored = known.map(({ candidate, found }) => {
    const shared = [...asked].filter((term) => found.has(term));
    const score = shared.reduce((sum, term) => {
      const holders = known.filter((other) => other.found.has(term)).length;
      return sum + Math.log(1 + known.length / holders);
    }, 0);
    return { candidate, score };
  });
  const best = Math.max(0, ...scored.map(({ score }) => score));
  return scored
    .filter(({ score }) => score > 0 && score >= best / 2)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}
