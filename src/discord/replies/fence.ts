/** An open code fence, as a reader of the text sees it. */
export interface Fence {
  /** The line that opens it again in the next chunk: the opening line itself, language included. */
  readonly opener: string;
  /** The line that closes it. */
  readonly closer: string;
}

const openerPattern = /^(?<indent>[ \t]*)(?<marker>`{3,}|~{3,})(?<info>.*)$/u;
const closerPattern = /^[ \t]*(?<marker>`{3,}|~{3,})[ \t]*$/u;

/**
 * The fence that is open after some lines, given the one before them; the very same object where nothing changed. Indented fences
 * count, since Discord shows them as such. `maxLine` bounds the lines that will be repeated: a longer opening line is opened again
 * without its language, and a marker of that length is no fence.
 */
export function fenceAfter(lines: string, before: Fence | undefined, maxLine: number): Fence | undefined {
  let fence = before;
  for (const line of lines.split('\n')) fence = afterLine(line, fence, maxLine);
  return fence;
}

function afterLine(line: string, before: Fence | undefined, maxLine: number): Fence | undefined {
  if (before !== undefined) return closes(line, before) ? undefined : before;
  const { indent = '', marker = '', info = '' } = openerPattern.exec(line)?.groups ?? {};
  // Backticks after the marker make it inline code, as in "```x``` is a fence".
  const isInline = marker.startsWith('`') && info.includes('`');
  if (marker === '' || isInline || marker.length > maxLine) return undefined;
  const closer = indent.length + marker.length > maxLine ? marker : indent + marker;
  return { opener: line.length > maxLine ? closer : line, closer };
}

function closes(line: string, fence: Fence): boolean {
  const marker = closerPattern.exec(line)?.groups?.['marker'] ?? '';
  const opening = fence.closer.trimStart();
  return marker.startsWith(opening.charAt(0)) && marker.length >= opening.length;
}
