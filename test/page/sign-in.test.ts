import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createSignIn, type PagePerson } from '../../src/page/sign-in.ts';
import { dmPlace } from '../commands/harness.ts';

const people = ['1', '2'].map((last): PagePerson => ({
  id: `10000000000000000${last}`,
  name: last,
  isOwner: false,
}));
const nobody: PagePerson = { id: '', name: '', isOwner: false };
const minuteMs = 60_000;

const step = fc.oneof(
  fc.record({ kind: fc.constant('link' as const), who: fc.nat(1) }),
  fc.record({ kind: fc.constant('open' as const), token: fc.nat(9) }),
  fc.record({ kind: fc.constant('look' as const), token: fc.nat(9) }),
  fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ kind: fc.constant('end' as const), session: fc.nat(5) }),
  fc.record({ kind: fc.constant('erase' as const), who: fc.nat(1) }),
);

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const idOf = (who: number) => people[who]?.id;

/** Links and sessions as they should be, beside those that are. */
function createScene() {
  let now = Date.parse('2026-01-15T10:00:00Z');
  let made = 0;
  const signIn = createSignIn({ clock: () => new Date(now), randomToken: () => `t${(made += 1)}` });
  const links: { readonly token: string; readonly who: number; readonly until: number; isDead: boolean }[] =
    [];
  const sessions: { readonly id: string; readonly who: number; until: number }[] = [];

  function working(at: number) {
    const link = links[at];
    return link !== undefined && !link.isDead && link.until > now ? link : undefined;
  }

  function killLinksOf(who: number): void {
    for (const link of links) if (link.who === who) link.isDead = true;
  }

  /** Whose link or session it opened or showed, and whose it should be. */
  async function take(each: Step): Promise<readonly [string | undefined, string | undefined]> {
    switch (each.kind) {
      case 'link': {
        killLinksOf(each.who);
        const token = signIn.link(people[each.who] ?? nobody);
        links.push({ token, who: each.who, until: now + 10 * minuteMs, isDead: false });
        break;
      }
      case 'open': {
        const link = working(each.token);
        const token = links[each.token]?.token ?? 'guessed';
        const id = (await signIn.open(token, () => Promise.resolve(dmPlace)))?.id;
        if (link !== undefined) link.isDead = true;
        if (id !== undefined) sessions.push({ id, who: link?.who ?? -1, until: now + 60 * minuteMs });
        return [id && signIn.session(id)?.person.id, link && idOf(link.who)];
      }
      case 'look':
        return [
          signIn.personOf(links[each.token]?.token ?? 'guessed')?.id,
          idOf(working(each.token)?.who ?? -1),
        ];
      case 'wait':
        now += each.minutes * minuteMs;
        break;
      case 'end': {
        const session = sessions[each.session];
        signIn.end(session?.id ?? '');
        if (session !== undefined) session.until = 0;
        break;
      }
      case 'erase':
        signIn.endAllOf(people[each.who]?.id ?? '');
        killLinksOf(each.who);
        for (const session of sessions) if (session.who === each.who) session.until = 0;
        break;
    }
    return [undefined, undefined];
  }

  return {
    take,
    open: () => [...sessions.map(({ id }) => id), 'guessed'].map((id) => signIn.session(id)?.person.id),
    shouldBeOpen: () => [
      ...sessions.map(({ who, until }) => (until > now ? idOf(who) : undefined)),
      undefined,
    ],
  };
}

describe('links and sessions [Y1]', () => {
  it('work once, for ten minutes and an hour, the newest link of a person alone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const scene = createScene();
        for (const each of steps) {
          const [found, wanted] = await scene.take(each);
          expect(found).toBe(wanted);
          expect(scene.open()).toEqual(scene.shouldBeOpen());
        }
      }),
    );
  });

  it('a link that is replaced or used while Discord is asked opens nothing', async () => {
    const [person = nobody] = people;
    let made = 0;
    const signIn = createSignIn({ clock: () => new Date(0), randomToken: () => `t${(made += 1)}` });
    const token = signIn.link(person);
    const both = await Promise.all([1, 2].map(() => signIn.open(token, () => Promise.resolve(dmPlace))));
    expect(both.filter((id) => id !== undefined)).toHaveLength(1);
    const older = signIn.link(person);
    const opened = signIn.open(older, async () => {
      signIn.link(person);
      return dmPlace;
    });
    await expect(opened).resolves.toBeUndefined();
  });
});
