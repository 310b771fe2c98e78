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

describe('links and sessions [Y1]', () => {
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

  it('make no token once they are over, though the form was sent before [EW3]', async () => {
    const [person = nobody] = people;
    const store = new MemoryStore();
    const signIn = createSignIn({ store, writes: plainWrites(), clock: () => new Date(0) });
    const opened = await signIn.open(await signIn.link(person), () => Promise.resolve(dmPlace));
    const session = await signIn.session(opened?.id ?? '');
    await signIn.endAllOf(person.id);
    expect(session && (await signIn.makeToken(session, 'Cursor'))).toBeUndefined();
    expect(await store.list(`users/${person.id}`)).toEqual([]);
  });
});
