import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createSignIn, signInKind, type PagePerson } from '../../src/page/sign-in.ts';
import { dmPlace } from '../commands/harness.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { plainWrites } from '../support/plain-writes.ts';

const people = ['1', '2'].map((last): PagePerson => ({
  id: `10000000000000000${last}`,
  name: last,
  isOwner: false,
}));
const nobody: PagePerson = { id: '100000000000000009', name: '', isOwner: false };
const minuteMs = 60_000;

const step = fc.oneof(
  fc.record({ kind: fc.constant('link' as const), who: fc.nat(1) }),
  fc.record({ kind: fc.constant('open' as const), token: fc.nat(9) }),
  fc.record({ kind: fc.constant('look' as const), token: fc.nat(9) }),
  fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ kind: fc.constant('use' as const), session: fc.nat(5) }),
  fc.record({ kind: fc.constant('end' as const), session: fc.nat(5) }),
  fc.record({ kind: fc.constant('erase' as const), who: fc.nat(1) }),
);

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const idOf = (who: number) => people[who]?.id;

/** Links and sessions as they should be, beside those that are. */
function createScene() {
  let now = Date.parse('2026-01-15T10:00:00Z');
  const signIn = createSignIn({
    store: new MemoryStore(),
    writes: plainWrites(),
    clock: () => new Date(now),
  });
  const links: { readonly token: string; readonly who: number; readonly until: number; isDead: boolean }[] =
    [];
  const sessions: { readonly id: string; readonly who: number; until: number; readonly last: number }[] = [];

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
        const token = await signIn.link(people[each.who] ?? nobody);
        links.push({ token, who: each.who, until: now + 10 * minuteMs, isDead: false });
        break;
      }
      case 'open': {
        const link = working(each.token);
        const token = links[each.token]?.token ?? 'guessed';
        const id = (await signIn.open(token, () => Promise.resolve(dmPlace)))?.id;
        if (link !== undefined) link.isDead = true;
        const last = now + 12 * 60 * minuteMs;
        if (id !== undefined) sessions.push({ id, who: link?.who ?? -1, until: now + 60 * minuteMs, last });
        return [id && (await signIn.session(id))?.person.id, link && idOf(link.who)];
      }
      case 'look':
        return [
          await signIn.nameOf(links[each.token]?.token ?? 'guessed'),
          people[working(each.token)?.who ?? -1]?.name,
        ];
      case 'wait':
        now += each.minutes * minuteMs;
        break;
      case 'use': {
        const used = sessions[each.session];
        const session = await signIn.session(used?.id ?? '');
        if (session === undefined || used === undefined) break;
        await signIn.extend(session);
        used.until = Math.min(now + 60 * minuteMs, used.last);
        break;
      }
      case 'end': {
        const session = sessions[each.session];
        await signIn.end(session?.id ?? '');
        if (session !== undefined) session.until = 0;
        break;
      }
      case 'erase':
        await signIn.endAllOf(people[each.who]?.id ?? '');
        killLinksOf(each.who);
        for (const session of sessions) if (session.who === each.who) session.until = 0;
        break;
    }
    return [undefined, undefined];
  }

  return {
    take,
    open: async () => {
      const ids = [...sessions.map(({ id }) => id), 'guessed', `${people[0]?.id}.guessed`];
      return Promise.all(ids.map(async (id) => (await signIn.session(id))?.person.id));
    },
    shouldBeOpen: () => [
      ...sessions.map(({ who, until }) => (until > now ? idOf(who) : undefined)),
      undefined,
      undefined,
    ],
  };
}

describe('links and sessions [Y1]', () => {
  it('work once, for ten minutes and an hour from each use, the newest link of a person alone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const scene = createScene();
        for (const each of steps) {
          const [found, wanted] = await scene.take(each);
          expect(found).toBe(wanted);
          expect(await scene.open()).toEqual(scene.shouldBeOpen());
        }
      }),
    );
  });

  it('made in one process work in another over the same store, which keeps hashes only [X3]', async () => {
    const [person = nobody] = people;
    const store = new MemoryStore();
    const opened = () => createSignIn({ store, writes: plainWrites(), clock: () => new Date(0) });
    const token = await opened().link(person, '/status');
    const session = await opened().open(token, () => Promise.resolve(dmPlace));
    expect(session?.path).toBe('/status');
    expect(await opened().session(session?.id ?? '')).toMatchObject({ person, place: dmPlace });
    const kept = JSON.stringify(await store.read(`users/${person.id}/page.json`, signInKind));
    for (const secret of [token, session?.id ?? '']) expect(kept).not.toContain(secret.split('.')[1]);
  });

  it('are not made by what began before an erasing [K11]', async () => {
    const [person = nobody] = people;
    const store = new MemoryStore();
    let erasedAt: string | undefined;
    const writes = plainWrites(() => Promise.resolve(erasedAt));
    const signIn = createSignIn({ store, writes, clock: () => new Date(0) });
    const opened = signIn.open(await signIn.link(person), async () => {
      erasedAt = '2026-01-15T10:00:00Z';
      await signIn.endAllOf(person.id);
      return dmPlace;
    });
    await expect(opened).resolves.toBeUndefined();
    expect(await store.list(`users/${person.id}`)).toEqual([]);
  });
});
