import type { ModelRequest } from '../../core/model.ts';
import { normalizeText } from '../../core/text.ts';
import type { ChatReply } from './chat-reply.ts';
import { memoryWishIn } from './memory-wish.ts';
import { readRequest, requestText } from './read-request.ts';
import { statementsIn } from './statements.ts';
import { parseTurnLine } from './turn-line.ts';

const nothingNew: ChatReply = { type: 'text', text: 'Nothing new.' };

/**
 * A look back by rules: what the person said of themselves and no facts file says yet is added to facts/user.md, where there are facts files at all.
 * What they asked to be remembered or forgotten is left to items. A conversation begins with the person, so the first turn tells their name.
 */
export function composeReflection(request: ModelRequest): ChatReply {
  const { sections, tools, toolRuns } = readRequest(request);
  if (toolRuns.length > 0) return { type: 'text', text: 'Done.' };
  if (!tools.has('memory_append') || !requestText(request).includes('facts/')) return nothingNew;
  const turns = (sections.get('turns') ?? []).flatMap((line) => parseTurnLine(line) ?? []);
  const known = normalizeText((sections.get('facts') ?? []).join('\n'));
  const said = turns.flatMap(({ name, text }) =>
    name === turns[0]?.name && memoryWishIn(text) === undefined ? statementsIn(text) : [],
  );
  const lines = new Set(
    said.flatMap(({ text }) => (known.includes(normalizeText(text)) ? [] : [`- ${text}`])),
  );
  if (lines.size === 0) return nothingNew;
  const entry = [...lines].join('\n');
  return { type: 'tool', name: 'memory_append', input: { path: 'facts/user.md', entry } };
}
