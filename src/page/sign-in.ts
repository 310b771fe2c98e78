import { hash, randomBytes } from 'node:crypto';

import { z } from 'zod';

import { dmPlace, type Place } from '../core/place.ts';
import { assertSnowflake, isSnowflake } from '../core/snowflake.ts';
import type { DocumentKind, Store } from '../core/store.ts';
import type { Clock } from '../core/time.ts';
import type { Speaker } from '../core/turn-context.ts';
import { toSingleLine } from '../core/text.ts';
import type { Writes } from '../core/writes.ts';

/** Whose page it is. */
export type PagePerson = Pick<Speaker, 'id' | 'name' | 'isOwner'>;

const paths = ['/', '/status'] as const;
/** Where a link leads. */
export type PagePath = (typeof paths)[number];

/** One browser that is signed in. */
export interface Session {
  /** The SHA-256 of its id. */
  readonly hash: string;
  readonly person: PagePerson;
  /** What each form of the session holds, so that no other site can send one [Y5]. */
  readonly csrf: string;
  /** The person's direct messages, where their commands count as given. */
  readonly place: Place;
  /** Milliseconds since the epoch: when it ends unless it is used again, and when it ends at the latest. */
  readonly expiresAt: number;
  readonly endsAt: number;
}

/** Milliseconds that a link lasts, a session from its last use on, and a session at most [Y1]. */
const linkMs = 10 * 60_000;
export const sessionMs = 60 * 60_000;
export const longestSessionMs = 12 * sessionMs;
/** Tokens of a person, characters of the name of each, and their calls that are known [EW3]. */
export const tokenLimits = { tokens: 5, nameChars: 40, calls: 50 };
/** A shorter time is not worth a write. */
const extendedByMs = 60_000;
/** The oldest of more ends. */
const sessionsPerPerson = 20;

const secretSchema = z.object({
  hash: z.string(),
  name: z.string(),
  isOwner: z.boolean(),
  /** Milliseconds since the epoch. */
  expiresAt: z.number(),
});
/** By which another assistant reads its person's memory [EW3], with the channel of their direct messages; times in ISO 8601. */
const tokenSchema = z.object({
  name: z.string(),
  hash: z.string(),
  personName: z.string(),
  channelId: z.string(),
  madeAt: z.string(),
  usedAt: z.string().optional(),
});
const documentSchema = z.object({
  version: z.literal(1),
  link: secretSchema.extend({ path: z.enum(paths) }).optional(),
  /** Oldest first, each with the channel of its person's direct messages. */
  sessions: z.array(secretSchema.extend({ channelId: z.string(), endsAt: z.number() })).readonly(),
  tokens: z.array(tokenSchema).readonly().default([]),
  /** Of other assistants, oldest first; nothing of what was asked. */
  calls: z
    .array(z.object({ name: z.string(), tool: z.string(), at: z.string(), hits: z.number() }))
    .readonly()
    .default([]),
});
type SignInDocument = Readonly<z.infer<typeof documentSchema>>;

/** A token that holds, and whose it is. */
export type HeldToken = z.infer<typeof tokenSchema> & { readonly userId: string };

export const signInKind: DocumentKind<SignInDocument> = { version: 1, schema: documentSchema };
const none: SignInDocument = { version: 1, sessions: [], tokens: [], calls: [] };

export type SignIn = ReturnType<typeof createSignIn>;

/**
 * Links that work once, the sessions that they open [Y1], and tokens [EW3], in `users/<userId>/page.json`: whichever
 * process made a link, the one with the page takes it [X3]. A secret begins with its person's id; only its SHA-256 is
 * kept. All reject with `StoreError`.
 */
export function createSignIn(ports: {
  readonly store: Pick<Store, 'read' | 'update' | 'remove'>;
  readonly writes: Pick<Writes, 'begin' | 'run'>;
  readonly clock: Clock;
}) {
  const { store, writes, clock } = ports;
  const isValid = ({ expiresAt }: { readonly expiresAt: number }): boolean => expiresAt > clock().getTime();

  /** What the secret's person has, without what is over. */
  async function heldBy(userId: string): Promise<SignInDocument> {
    return isSnowflake(userId) ? current(await store.read(keyOf(userId), signInKind)) : none;
  }

  function current(held: SignInDocument = none): SignInDocument {
    const { link, sessions } = held;
    return {
      ...held,
      link: link !== undefined && isValid(link) ? link : undefined,
      sessions: sessions.filter(isValid),
    };
  }

  /** Nothing that began before an erasing writes afterwards [K11]. `make` changes nothing where it returns `undefined`. */
  async function change(
    userId: string,
    make: (held: SignInDocument) => SignInDocument | undefined,
  ): Promise<void> {
    await writes.run(await writes.begin(userId), () =>
      store.update(keyOf(userId), signInKind, (held) => make(current(held))),
    );
  }

  async function linkOf(token: string) {
    const { link } = await heldBy(personIn(token));
    return link?.hash === hashOf(token) ? link : undefined;
  }

  return {
    /** The token of a new link, which replaces an earlier one. */
    async link({ id, name, isOwner }: PagePerson, path: PagePath = '/'): Promise<string> {
      const token = newSecret(id);
      const link = { hash: hashOf(token), name, isOwner, path, expiresAt: clock().getTime() + linkMs };
      await change(id, (held) => ({ ...held, link }));
      return token;
    },
    /** What the person of a link is called; `undefined` where it does not work, or no longer. Uses nothing up. */
    nameOf: async (token: string): Promise<string | undefined> => (await linkOf(token))?.name,
    /** Uses a link up, and resolves with the id of a new session and where it leads. Rejects as `placeOf` does too; the link still works then. */
    async open(token: string, placeOf: (userId: string) => Promise<Place>) {
      const userId = personIn(token);
      if ((await linkOf(token)) === undefined) return undefined;
      const { channelId } = await placeOf(userId);
      const id = newSecret(userId);
      let path: PagePath | undefined;
      await change(userId, (held) => {
        const { link, sessions } = held;
        // Somebody may have used or replaced it meanwhile.
        path = link?.hash === hashOf(token) ? link.path : undefined;
        if (link === undefined || path === undefined) return undefined;
        const { name, isOwner } = link;
        const now = clock().getTime();
        const session = {
          hash: hashOf(id),
          name,
          isOwner,
          channelId,
          expiresAt: now + sessionMs,
          endsAt: now + longestSessionMs,
        };
        return { ...held, link: undefined, sessions: [...sessions, session].slice(-sessionsPerPerson) };
      });
      return path === undefined ? undefined : { id, path };
    },
    async session(id: string): Promise<Session | undefined> {
      const userId = personIn(id);
      const key = hashOf(id);
      const found = (await heldBy(userId)).sessions.find((session) => session.hash === key);
      if (found === undefined) return undefined;
      const { name, isOwner, channelId, expiresAt, endsAt } = found;
      return {
        expiresAt,
        endsAt,
        hash: key,
        csrf: hashOf(`form ${id}`),
        person: { id: userId, name, isOwner },
        place: dmPlace(channelId),
      };
    },
    /** Somebody used their session, which lasts an hour from now. */
    async extend(session: Session): Promise<Session> {
      const expiresAt = Math.min(clock().getTime() + sessionMs, session.endsAt);
      if (expiresAt < session.expiresAt + extendedByMs) return session;
      await change(session.person.id, (held) => {
        const used = held.sessions.find((each) => each.hash === session.hash);
        if (used === undefined) return undefined;
        const at = held.sessions.indexOf(used);
        return { ...held, sessions: held.sessions.with(at, { ...used, expiresAt }) };
      });
      return { ...session, expiresAt };
    },
    async end(id: string): Promise<void> {
      const userId = personIn(id);
      const key = hashOf(id);
      if (!(await heldBy(userId)).sessions.some((session) => session.hash === key)) return;
      await change(userId, (held) => ({
        ...held,
        sessions: held.sessions.filter((session) => session.hash !== key),
      }));
    },
    /** A person's tokens and the last calls by them. */
    tokensOf: heldBy,
    /** A new token; `undefined` where the name is none, or taken, there are too many, or the session is over by now. */
    async makeToken({ hash: key, person, place }: Session, givenName: string): Promise<string | undefined> {
      const name = toSingleLine(givenName);
      const token = newSecret(person.id);
      let isMade = false;
      await change(person.id, (held) => {
        const { tokens, sessions } = held;
        const isFree = tokens.length < tokenLimits.tokens && !tokens.some((each) => each.name === name);
        const isOpen = sessions.some((session) => session.hash === key);
        isMade = isOpen && isFree && name !== '' && name.length <= tokenLimits.nameChars;
        const { channelId } = place;
        const madeAt = clock().toISOString();
        const made = { name, hash: hashOf(token), personName: person.name, channelId, madeAt };
        return isMade ? { ...held, tokens: [...tokens, made] } : undefined;
      });
      return isMade ? token : undefined;
    },
    revokeToken: (userId: string, name: string): Promise<void> =>
      change(userId, (held) => ({ ...held, tokens: held.tokens.filter((each) => each.name !== name) })),
    /** `undefined` for a token that does not hold, whatever the reason. */
    async findToken(token: string): Promise<HeldToken | undefined> {
      const userId = personIn(token);
      const key = hashOf(token);
      const found = (await heldBy(userId)).tokens.find(({ hash: known }) => known === key);
      return found && { ...found, userId };
    },
    /** Keeps that a token was used; resolves with whether it still holds: otherwise nothing may be told. */
    async noteCall(token: HeldToken, tool: string, hits: number): Promise<boolean> {
      let holds = false;
      await change(token.userId, (held) => {
        const used = held.tokens.find((each) => each.hash === token.hash);
        holds = used !== undefined;
        if (used === undefined) return undefined;
        const at = clock().toISOString();
        const tokens = held.tokens.with(held.tokens.indexOf(used), { ...used, usedAt: at });
        const calls = [...held.calls, { name: used.name, tool, at, hits }].slice(-tokenLimits.calls);
        return { ...held, tokens, calls };
      });
      return holds;
    },
    /** Ends all links, sessions and tokens of a person. */
    endAllOf: (userId: string): Promise<void> => store.remove(keyOf(userId)),
    /** It is a layer so that it is exported and erased with the others [K10] [K11]. */
    layer: {
      name: 'page' as const,
      sections: () => Promise.resolve([]),
      async delete({ kind, userId = '' }: { readonly kind: string; readonly userId?: string }) {
        if (kind === 'person') await store.remove(keyOf(userId));
      },
      async *export(userId: string) {
        const { tokens, calls } = await heldBy(userId);
        const shown = tokens.map(({ name, madeAt, usedAt }) => ({ name, madeAt, usedAt }));
        if (tokens.length + calls.length > 0)
          yield { path: 'elsewhere.json', text: JSON.stringify({ tokens: shown, calls }, undefined, 2) };
      },
    },
  };
}

function keyOf(userId: string): string {
  return `users/${assertSnowflake(userId)}/page.json`;
}

/** 256 bits that nobody can guess; may stand in an address. */
function newSecret(userId: string): string {
  return `${userId}.${randomBytes(32).toString('base64url')}`;
}

function personIn(secret: string): string {
  return secret.slice(0, Math.max(0, secret.indexOf('.')));
}

function hashOf(secret: string): string {
  return hash('sha256', secret, 'base64url');
}
