import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { lookalike } from '../../src/core/text.ts';
import { createNaming } from '../../src/prompt/history.ts';
import { chatMessage, windowOf } from './samples.ts';
import { runs } from '../support/runs.ts';

const alice = { id: '1', name: 'Alice', kind: 'human' } as const;
/** Names that look like Alice's or the bot's, and others. */
const names = fc.oneof(
  fc.constantFrom('Alice', 'alice', 'АLICE', 'Alіce', 'A\u200blice', 'Álice', 'Ａｌｉｃｅ', 'Al1ce', ' Alice ', 'Alice (2)', 'Alice(2)', 'Discoclaw', 'Disc\u043eclaw', 'Dyno', 'Dyno (bot)'),
  fc.string({ maxLength: 6 }),
); // prettier-ignore
const anyAuthor = fc.record({
  id: fc.constantFrom('1', '2', '3', '4', '5'),
  name: names,
  kind: fc.constantFrom('human', 'bot'),
});

describe('people with names that look the same', () => {
  it('are told apart by a number, in any letters; the first to be named keeps the name', () => {
    const nameOf = createNaming('Discoclaw');
    expect(nameOf(alice)).toBe('Alice');
    expect(nameOf({ ...alice, id: '2', name: 'Аliсе' })).toBe('Аliсе (2)');
    expect(nameOf({ ...alice, id: '3', name: 'Alice\u2800' })).toBe('Alice\u2800 (3)');
    expect(nameOf({ ...alice, id: '4', name: 'D\u0456scocl\u0430w' })).toBe('D\u0456scocl\u0430w (2)');
    expect(nameOf(alice)).toBe('Alice');
  });

  it('never have names that look the same, and are the same where people are named in the same order [P2]', () => {
    fc.assert(
      fc.property(fc.array(anyAuthor, { maxLength: 12 }), (everybody) => {
        const nameOf = createNaming('Discoclaw');
        const shown = everybody.map((author) => ({ id: author.id, name: lookalike(nameOf(author)) }));
        for (const one of shown) {
          expect(one.name).not.toBe(lookalike('Discoclaw'));
          expect(shown.filter(({ id, name }) => name === one.name && id !== one.id)).toEqual([]);
        }
        expect(everybody.map(createNaming('Discoclaw'))).toEqual(everybody.map(nameOf));
      }),
      { numRuns: runs(1000) },
    );
  });

  it('are one person each: by the newest name, unless a bot or a proxy speaks for several', () => {
    const bob = { ...alice, id: '2', name: 'Bob' };
    const bridge = { id: '3', name: 'Dan', kind: 'bot' } as const;
    const front = { ...alice, id: '4', name: 'Fay', isProxied: true } as const;
    const others = [bob, { ...bob, name: 'Robert' }, bridge, { ...bridge, name: 'Eve' }, front];
    const authors = [{ ...alice, name: 'Lizzy' }, ...others, { ...front, name: 'Gus' }];
    const messages = authors.map((author, index) => chatMessage(index, 'hi', { author }));
    const { entries, nameOf } = windowOf(messages, { speaker: alice });
    const named = entries.map(({ text }) => text.replace(': hi\n', '')).join();
    expect(named).toBe('Alice,Robert,Robert,Dan (bot),Eve (bot),Fay,Gus');
    expect(nameOf({ ...front, name: 'Gus' })).toBe('Gus');
  });
});
