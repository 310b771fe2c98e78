/** The lines with visible characters that stand in `text` and in none of the others; white space around a line does not count. */
export function lostLines(text: string, others: readonly string[]): readonly string[] {
  const kept = new Set(others.flatMap((other) => linesOf(other)));
  return linesOf(text).filter((line) => !kept.has(line));
}

function linesOf(text: string): readonly string[] {
  return text
    .split(/\r\n?|\n/u)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
