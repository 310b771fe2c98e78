/** A line that may still turn out to open or close a code fence. */
const possibleFence = /^[ \t]*(?:`{1,2}|~{1,2}|`{3,}[^`]*|~{3,}.*)$/u;

/**
 * What can be shown of a text that is still growing: all but a last line whose meaning is not decided yet, as "``" or "```typ", and but the
 * first half of a character.
 */
export function visiblePart(text: string): string {
  const start = text.lastIndexOf('\n') + 1;
  if (possibleFence.test(text.slice(start))) return text.slice(0, start);
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd8_00 && last <= 0xdb_ff ? text.slice(0, -1) : text;
}
