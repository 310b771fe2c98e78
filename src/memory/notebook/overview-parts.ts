/** The headings of an overview [W1]. */
export const overviewParts: ReadonlySet<string> = new Set([
  'Current Task',
  'Key Decisions',
  'Known Context',
  'Pending Issues',
  'Recent Operations',
]);

/** A markdown text without the headings under which nothing stands: an empty part costs nothing [W1]. */
export function withoutEmptyParts(text: string): string {
  // The level of the next heading that is kept; 0 before the text's end.
  let next = 0;
  let isEmpty = true;
  const kept: string[] = [];
  for (const line of text.split('\n').toReversed()) {
    const level = levelOf(line);
    if (level === undefined) {
      if (line.trim() !== '') isEmpty = false;
      kept.push(line);
      continue;
    }
    // Under this heading stands nothing, or nothing but the next one of the same or a higher level.
    if (isEmpty && next <= level) continue;
    kept.push(line);
    next = level;
    isEmpty = true;
  }
  return kept
    .toReversed()
    .join('\n')
    .replace(/\n{3,}/gu, '\n\n');
}

function levelOf(line: string): number | undefined {
  return /^(?<marks>#{1,6})\s+\S/u.exec(line)?.groups?.['marks']?.length;
}
