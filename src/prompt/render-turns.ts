import type { ModelMessage, TextBlock } from '../core/model.ts';

/** A text that one side says, possibly the last that the vendor should cache. */
export interface TurnText {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly cache?: true;
}

/**
 * Texts as alternating turns: neighbours of one role share a turn. Each keeps a block of its own, because a cache mark covers
 * whole blocks: a longer history then only adds blocks after those that are cached. Empty texts vanish.
 */
export function renderTurns(texts: readonly TurnText[]): readonly ModelMessage[] {
  const turns: { role: TurnText['role']; content: TextBlock[] }[] = [];
  for (const { role, text, cache } of texts) {
    if (text === '') continue;
    const block: TextBlock = cache === undefined ? { type: 'text', text } : { type: 'text', text, cache };
    const open = turns.at(-1);
    if (open?.role === role) open.content.push(block);
    else turns.push({ role, content: [block] });
  }
  return turns;
}
