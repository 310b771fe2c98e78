import type { ModelRequest } from '../../core/model.ts';
import { readRequest } from './read-request.ts';
import { statementsIn } from './statements.ts';
import { parseTurnLine } from './turn-line.ts';

/** Findings in one message at most [A2]. */
const maxItems = 3;

/** What the person says about themselves in the turns, as the JSON that extraction asks for; quotes are literal. */
export function composeExtraction(request: ModelRequest): string {
  const lines = readRequest(request).sections.get('turns') ?? [];
  const items = lines.flatMap((line) => {
    const turn = parseTurnLine(line);
    if (turn === undefined) return [];
    return statementsIn(turn.text)
      .slice(0, maxItems)
      .map(({ kind, text, quote }) => ({ kind, text, quote, messageId: turn.messageId }));
  });
  return JSON.stringify({ items });
}
