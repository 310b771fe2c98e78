import type { DocumentBlock, ImageBlock, ModelMessage, TextBlock } from '../core/model.ts';

/** A text that one side says, possibly the last that the vendor should cache. */
export interface TurnText {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly cache?: true;
}

/** A picture or document that a person sends. */
export interface TurnMedia {
  readonly role: 'user';
  readonly media: ImageBlock | DocumentBlock;
}

type Turn =
  | { readonly role: 'user'; readonly content: (TextBlock | ImageBlock | DocumentBlock)[] }
  | { readonly role: 'assistant'; readonly content: TextBlock[] };

/**
 * Texts as alternating turns: neighbours of one role share a turn. Each keeps a block of its own, because a cache mark covers
 * whole blocks: a longer history then only adds blocks after those that are cached. Empty texts vanish.
 */
export function renderTurns(pieces: readonly (TurnText | TurnMedia)[]): readonly ModelMessage[] {
  const turns: Turn[] = [];
  for (const piece of pieces) {
    const open = turns.at(-1);
    if ('media' in piece) {
      if (open?.role === 'user') open.content.push(piece.media);
      else turns.push({ role: 'user', content: [piece.media] });
      continue;
    }
    const { role, text, cache } = piece;
    if (text === '') continue;
    const block: TextBlock = cache === undefined ? { type: 'text', text } : { type: 'text', text, cache };
    if (open?.role === role) open.content.push(block);
    else turns.push({ role, content: [block] });
  }
  return turns;
}
