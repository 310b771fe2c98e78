/** How each line of a footer begins; a model's own line never does in an answer [K6]. */
const sign = '-# ';

/** A text with small last lines under it. */
export function withFooter(text: string, lines: readonly string[]): string {
  return [text, ...lines.map((line) => sign + line)].join('\n');
}

/** The text of a message of the bot's own, and the lines of its footer, without their sign. */
export function splitFooter(content: string): { readonly text: string; readonly lines: readonly string[] } {
  const all = content.split('\n');
  const start = all.findLastIndex((line) => !line.startsWith(sign)) + 1;
  // What consists of small lines alone is a message of its own.
  if (start === 0) return { text: content, lines: [] };
  const text = all.slice(0, start).join('\n');
  return { text, lines: all.slice(start).map((line) => line.slice(sign.length)) };
}
