import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Place } from '../../src/core/place.ts';
import { mayUse, narrower, visibilityOf } from '../../src/core/visibility.ts';

const owner = '1'.repeat(18);
const stranger = '2'.repeat(18);
const channel = '3'.repeat(18);
const thread = '4'.repeat(18);
const otherHome = '5'.repeat(18);

function place(changes: Partial<Place>): Place {
  return { audience: 'public', channelId: channel, homeId: channel, ...changes };
}

const anyPlace = fc.record({
  audience: fc.constantFrom('dm' as const, 'private' as const, 'public' as const),
  channelId: fc.constantFrom(channel, thread),
  homeId: fc.constantFrom(channel, thread),
});
const anyVisibility = fc.constantFrom('everywhere' as const, 'here' as const, 'dm' as const);

describe('mayUse', () => {
  it("never lets anybody's memory be used for another speaker", () => {
    fc.assert(
      fc.property(anyPlace, anyVisibility, (where, visibility) => {
        expect(mayUse({ ownerId: owner, visibility, homeId: where.homeId }, where, stranger)).toBe(false);
      }),
    );
  });

  it('never carries what was said in private into a public place', () => {
    fc.assert(
      fc.property(anyPlace, anyPlace, (from, to) => {
        const memory = { ownerId: owner, visibility: visibilityOf(from.audience), homeId: from.homeId };
        const isCarriedOut =
          (from.audience !== 'public' && to.audience === 'public') ||
          (from.audience === 'dm' && to.audience !== 'dm');
        expect(isCarriedOut && mayUse(memory, to, owner)).toBe(false);
      }),
    );
  });

  it("lets the owner's DM use everything", () => {
    fc.assert(
      fc.property(anyVisibility, (visibility) => {
        expect(
          mayUse({ ownerId: owner, visibility, homeId: channel }, place({ audience: 'dm' }), owner),
        ).toBe(true);
      }),
    );
  });

  it('lets a thread use what was said here in its parent, but not the parent what was said in a private thread', () => {
    const parent = place({ audience: 'private' });
    const privateThread = place({
      audience: 'private',
      channelId: thread,
      homeId: thread,
      parentId: channel,
    });
    const fromParent = { ownerId: owner, visibility: 'here' as const, homeId: parent.homeId };
    const fromThread = { ownerId: owner, visibility: 'here' as const, homeId: privateThread.homeId };
    expect(mayUse(fromParent, privateThread, owner)).toBe(true);
    expect(mayUse(fromThread, parent, owner)).toBe(false);
  });

  it('stops using a memory in its own channel when that channel becomes public', () => {
    const memory = { ownerId: owner, visibility: 'here' as const, homeId: channel };
    expect(mayUse(memory, place({ audience: 'private' }), owner)).toBe(true);
    expect(mayUse(memory, place({ audience: 'public' }), owner)).toBe(false);
  });
});

it('the narrower of two reaches is usable only where both are', () => {
  const anyHome = fc.constantFrom('here', 'elsewhere');
  const anyReach = fc.record({ visibility: anyVisibility, home: anyHome });
  fc.assert(
    fc.property(anyReach, anyReach, anyPlace, (a, b, where) => {
      const [first, second] = [a, b].map(({ visibility, home }) => ({
        visibility,
        homeId: home === 'here' ? where.homeId : otherHome,
      }));
      if (first === undefined || second === undefined) return;
      const both =
        mayUse({ ownerId: owner, ...first }, where, owner) &&
        mayUse({ ownerId: owner, ...second }, where, owner);
      expect(mayUse({ ownerId: owner, ...narrower(first, second) }, where, owner)).toBe(both);
    }),
  );
});
