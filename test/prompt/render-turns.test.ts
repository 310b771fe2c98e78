import { describe, expect, it } from 'vitest';
import { renderTurns } from '../../src/prompt/render-turns.ts';

describe('renderTurns', () => {
  it('lets neighbours of one role share a turn, each with a block of its own', () => {
    const turns = renderTurns([
      { role: 'user', text: 'a\n' },
      { role: 'user', text: 'b\n', cache: true },
      { role: 'assistant', text: 'c\n' },
      { role: 'user', text: 'd' },
    ]);
    expect(turns).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a\n' },
          { type: 'text', text: 'b\n', cache: true },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'c\n' }] },
      { role: 'user', content: [{ type: 'text', text: 'd' }] },
    ]);
  });

  it('makes no block of an empty text, with a cache mark or without', () => {
    const turns = renderTurns([
      { role: 'user', text: '', cache: true },
      { role: 'assistant', text: '' },
      { role: 'user', text: 'x' },
    ]);
    expect(turns).toEqual([{ role: 'user', content: [{ type: 'text', text: 'x' }] }]);
  });
});
