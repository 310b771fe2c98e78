import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { adultsAmong, hasMoreReaders, type Place } from '../../src/core/place.ts';
import { mayUse, narrower, reachOf, type Reach } from '../../src/core/visibility.ts';

const owner = '1'.repeat(18);
const stranger = '2'.repeat(18);
const channel = '3'.repeat(18);
const thread = '4'.repeat(18);
const otherHome = '5'.repeat(18);
const guild = '6'.repeat(18);
const otherGuild = '7'.repeat(18);

function place(changes: Partial<Place>): Place {
  return { audience: 'public', channelId: channel, homeId: channel, guildId: guild, ...changes };
}

/** Some roles, all of them, or nobody knows whom. */
const anyReaders = fc.oneof(
  fc.subarray(['crew', 'staff', 'bob']),
  fc.constant(['@everyone']),
  // Of age-restricted channels.
  fc.subarray(['crew', 'staff', 'bob']).map(adultsAmong),
  fc.constant(adultsAmong(['@everyone'])),
  fc.constant(undefined),
);

const anyPlace = fc
  .record({
    audience: fc.constantFrom('dm' as const, 'private' as const, 'public' as const),
    channelId: fc.constantFrom(channel, thread),
    homeId: fc.constantFrom(channel, thread),
    readers: anyReaders,
  })
  .map(({ readers, ...rest }): Place => ({
    ...rest,
    // The parent stands in one server, and the thread for a channel of the other.
    guildId: rest.homeId === channel ? guild : otherGuild,
    ...(readers === undefined ? {} : { readers }),
  }));

/** Who can read, one by one; `all` is everybody else who is let in. */
function readersAt({ audience, readers }: Place): readonly string[] {
  if (audience === 'dm') return [];
  const all = ['crew', 'staff', 'bob', 'all'];
  return (readers ?? ['@everyone']).flatMap((reader) => {
    const who = reader.replace('18:', '');
    const named = who === '@everyone' ? all : who === '' ? [] : [who];
    const ages = reader === who ? ['grown', 'minor'] : ['grown'];
    return named.flatMap((each) => ages.map((age) => `${age} ${each}`));
  });
}

/** Those that an age-restricted channel has. */
function isAgeRestricted({ readers = [] }: Place): boolean {
  return readers.some((reader) => reader.startsWith('18:'));
}
const anyVisibility = fc.constantFrom(
  'everywhere' as const,
  'server' as const,
  'here' as const,
  'dm' as const,
);

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
        const isCarriedOut =
          (from.audience !== 'public' && to.audience === 'public') ||
          (from.audience === 'dm' && to.audience !== 'dm');
        expect(isCarriedOut && mayUse({ ownerId: owner, ...reachOf(from) }, to, owner)).toBe(false);
      }),
    );
  });

  it('never carries what was said in one server, in public or not, into another one [V1]', () => {
    fc.assert(
      fc.property(anyPlace, anyPlace, (from, to) => {
        fc.pre(from.audience !== 'dm' && to.audience !== 'dm' && from.guildId !== to.guildId);
        expect(mayUse({ ownerId: owner, ...reachOf(from) }, to, owner)).toBe(false);
      }),
    );
  });

  it('uses what was said in public in all of its server, and without a server on record in the DM only [V1]', () => {
    fc.assert(
      fc.property(anyPlace, (to) => {
        const said = { ownerId: owner, ...reachOf(place({})) };
        expect(mayUse(said, to, owner)).toBe(to.audience === 'dm' || to.guildId === guild);
        const { guildId: _, ...unknown } = said;
        expect(mayUse(unknown, to, owner)).toBe(to.audience === 'dm');
        const { guildId: __, ...nowhere } = to;
        expect(mayUse(unknown, nowhere, owner)).toBe(to.audience === 'dm');
      }),
    );
  });

  it('never uses in front of somebody what was said in private when they could not read along [V2a]', () => {
    fc.assert(
      fc.property(anyPlace, anyPlace, (from, to) => {
        fc.pre(from.audience === 'private' && to.audience !== 'dm');
        const known = from.readers === undefined ? [] : readersAt(from);
        const isNew = from.readers === undefined || readersAt(to).some((reader) => !known.includes(reader));
        expect(isNew && mayUse({ ownerId: owner, ...reachOf(from) }, to, owner)).toBe(false);
      }),
    );
  });

  it('uses what was said in an age-restricted channel in no other server channel, except what was said before the restriction [V0]', () => {
    fc.assert(
      fc.property(anyPlace, anyPlace, (from, to) => {
        fc.pre(from.audience === 'private' && to.audience !== 'dm');
        const isOut = isAgeRestricted(from) && !isAgeRestricted(to);
        expect(isOut && mayUse({ ownerId: owner, ...reachOf(from) }, to, owner)).toBe(false);
      }),
    );
    for (const readers of [['crew'], ['@everyone'], []]) {
      const before = place({ audience: 'private', readers });
      const now = place({ audience: 'private', readers: adultsAmong(readers) });
      expect(mayUse({ ownerId: owner, ...reachOf(before) }, now, owner)).toBe(true);
      expect(mayUse({ ownerId: owner, ...reachOf(now) }, now, owner)).toBe(true);
      expect(mayUse({ ownerId: owner, ...reachOf(now) }, before, owner)).toBe(false);
    }
  });

  it('uses nothing private where nobody knows who reads along, and what was said there in the DM only [V0]', () => {
    const unknown = place({ audience: 'private' });
    const crewed = place({ audience: 'private', readers: ['crew'] });
    expect(mayUse({ ownerId: owner, ...reachOf(crewed) }, unknown, owner)).toBe(false);
    expect(mayUse({ ownerId: owner, ...reachOf(place({})) }, unknown, owner)).toBe(true);
    for (const each of [unknown, crewed, place({ readers: ['@everyone'] })])
      expect(mayUse({ ownerId: owner, ...reachOf(unknown) }, each, owner)).toBe(false);
    expect(mayUse({ ownerId: owner, ...reachOf(unknown) }, place({ audience: 'dm' }), owner)).toBe(true);
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
    const parent = place({ audience: 'private', readers: ['crew'] });
    const privateThread = place({
      audience: 'private',
      readers: ['crew'],
      channelId: thread,
      homeId: thread,
      parentId: channel,
    });
    const fromParent = { ownerId: owner, ...reachOf(parent) };
    const fromThread = { ownerId: owner, ...reachOf(privateThread) };
    expect(mayUse(fromParent, privateThread, owner)).toBe(true);
    expect(mayUse(fromThread, parent, owner)).toBe(false);
  });
});

describe('hasMoreReaders', () => {
  it('is true whenever an answer made from usable memory may no longer be shown', () => {
    fc.assert(
      fc.property(anyPlace, anyPlace, anyPlace, (from, before, after) => {
        const now = { ...before, audience: after.audience, ...(after.readers && { readers: after.readers }) };
        const memory = { ownerId: owner, ...reachOf(from) };
        const isMadeOf = before.audience === 'private' && mayUse(memory, before, owner);
        const isShown = isMadeOf && now.audience !== 'dm' && !hasMoreReaders(before, now);
        expect(isShown && !mayUse(memory, now, owner)).toBe(false);
      }),
    );
  });

  it.each<[string, Partial<Place>, Partial<Place>, boolean]>([
    ['a role was let in', { readers: ['crew'] }, { readers: ['crew', 'staff'] }, true],
    ['a role was shut out', { readers: ['crew', 'staff'] }, { readers: ['crew'] }, false],
    ['everybody was', { readers: ['crew'] }, { audience: 'public', readers: ['@everyone'] }, true],
    ['it cannot be known any more', { readers: ['crew'] }, {}, true],
    ['it is age-restricted no more', { readers: adultsAmong([]) }, { readers: [] }, true],
    ['it became age-restricted', { readers: ['crew'] }, { readers: adultsAmong(['crew']) }, false],
    ['it could not be known before', {}, { audience: 'public', readers: ['@everyone'] }, false],
    [
      'those who read are all that are let in',
      { readers: ['crew'] },
      { audience: 'public', readers: ['crew'] },
      true,
    ],
  ])('where %s', (_, before, now, expected) => {
    const [a, b] = [before, now].map((changes) => place({ audience: 'private', ...changes }));
    expect(a !== undefined && b !== undefined && hasMoreReaders(a, b)).toBe(expected);
  });
});

it('the narrower of two reaches is usable only where both are', () => {
  const anyHome = fc.constantFrom('here', 'beside', 'elsewhere', 'unknown');
  const anyReach = fc.record({ visibility: anyVisibility, home: anyHome, readers: anyReaders });
  fc.assert(
    fc.property(anyReach, anyReach, anyPlace, (a, b, there) => {
      const where = { ...there, guildId: guild };
      const [first, second] = [a, b].map(({ visibility, home, readers }): Reach => ({
        visibility,
        homeId: home === 'here' ? where.homeId : otherHome,
        ...(home === 'unknown' ? {} : { guildId: home === 'elsewhere' ? otherGuild : guild }),
        ...(readers === undefined ? {} : { readers }),
      }));
      if (first === undefined || second === undefined) return;
      const both =
        mayUse({ ownerId: owner, ...first }, where, owner) &&
        mayUse({ ownerId: owner, ...second }, where, owner);
      expect(mayUse({ ownerId: owner, ...narrower(first, second) }, where, owner)).toBe(both);
    }),
  );
});
