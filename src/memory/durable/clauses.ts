/** Where one statement ends and another begins; words need an edge that is no letter. */
const clauseEnd =
  /[.,;:!?()\n…—–。、，！？；]+|\s-\s|(?<!\p{L})(?:and|but|however|though|although|because|но|а|и|und|aber|et|mais|pero)(?!\p{L})/giu;

/** The parts of a text that can be true or denied by themselves. */
export function clauses(text: string): readonly string[] {
  return text.split(clauseEnd).filter((clause) => clause.trim() !== '');
}

/** The part of a text from `start` to `end`, made longer to both sides up to the end of its clauses. */
export function clausesAround(text: string, start: number, end: number): string {
  let from = 0;
  for (const boundary of text.matchAll(clauseEnd)) {
    const boundaryEnd = boundary.index + boundary[0].length;
    if (boundaryEnd <= start) from = boundaryEnd;
    if (boundary.index >= end) return text.slice(from, boundary.index);
  }
  return text.slice(from);
}
