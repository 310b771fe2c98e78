import { dataLine } from '../../core/section.ts';
import { clip } from '../../core/text.ts';
import type { Passage } from './passages.ts';
import type { Reference } from './recall-unit.ts';

/** A tool's result is passed on up to 8,000 characters [P4]; a passage that would go over it is left out whole. */
const outputChars = 7900;
const shownQueryChars = 200;

/** What was found, as the model reads it [C3]. */
export function renderPassages(query: string, passages: readonly Passage[]): string {
  const heading = (count: number): string =>
    `Found ${count} result(s) for: "${clip(dataLine(query), shownQueryChars)}"`;
  const blocks: string[] = [];
  let used = heading(passages.length).length;
  for (const [index, passage] of passages.entries()) {
    const block = renderPassage(index + 1, passage);
    if (used + block.length + 2 > outputChars) break;
    used += block.length + 2;
    blocks.push(block);
  }
  return [heading(blocks.length), ...blocks].join('\n\n');
}

function renderPassage(number: number, { source, unit, content }: Passage): string {
  const { place, citation, link } = cited(unit.reference);
  return [
    `[${number}] Source: ${source}`,
    place,
    `Content: ${content}`,
    `Citation: ${citation}`,
    ...(link === undefined ? [] : [`Link: ${link}`]),
  ].join('\n');
}

function cited(reference: Reference): {
  readonly place: string;
  readonly citation: string;
  readonly link?: string;
} {
  switch (reference.kind) {
    case 'line': {
      const path = dataLine(reference.path);
      return { place: `File: ${path}:${reference.line}`, citation: `${path}#L${reference.line}` };
    }
    case 'message': {
      const { guildId = '@me', channelId, messageId, line } = reference;
      return {
        place: `Line: ${line}`,
        citation: `messages.jsonl#L${line}`,
        link: `https://discord.com/channels/${guildId}/${channelId}/${messageId}`,
      };
    }
    case 'item':
      return { place: `Item: ${reference.id}`, citation: `durable.json#${reference.id}` };
  }
}
