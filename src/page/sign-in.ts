import { hash } from 'node:crypto';

import type { CommandReply } from '../core/commands.ts';
import { lruCache } from '../core/limits.ts';
import type { Place } from '../core/place.ts';
import type { Clock } from '../core/time.ts';
import type { Speaker } from '../core/turn-context.ts';

/** Whose page it is. */
export type PagePerson = Pick<Speaker, 'id' | 'name' | 'isOwner'>;

/** Where a link leads. */
export type PagePath = '/' | '/status';

/** One browser that is signed in. */
export interface Session {
  readonly person: PagePerson;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** The person's direct messages, where their commands count as given. */
  readonly place: Place;
  /** The answer to the last command, shown on the page that follows it. */
  said?: { readonly id: string } & Pick<CommandReply, 'text' | 'buttons' | 'form' | 'files'>;
  /** Its person had everything erased. */
  isOver?: true;
}

interface Link {
  readonly person: PagePerson;
  readonly path: PagePath;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Milliseconds that a link and a session last [Y1]. */
const linkMs = 10 * 60_000;
export const sessionMs = 60 * 60_000;
const mostKept = 10_000;

/**
 * Links that work once and the sessions that they open [Y1], in memory only. Neither a link's token nor a session's
 * id is kept, only its SHA-256. `randomToken` gives text that cannot be guessed and may stand in an address.
 */
export function createSignIn({ clock, randomToken }: { clock: Clock; randomToken: () => string }) {
  /** By hash. */
  const links = lruCache<string, Link>(mostKept);
  const sessions = lruCache<string, Session>(mostKept);
  const now = (): number => clock().getTime();

  function linkOf(token: string): Link | undefined {
    const link = links.get(hashOf(token));
    return link !== undefined && link.expiresAt > now() ? link : undefined;
  }

  function endLinksOf(userId: string): void {
    for (const [key, { person }] of links) if (person.id === userId) links.delete(key);
  }

  return {
    /** The token of a new link, which replaces an earlier one. */
    link(person: PagePerson, path: PagePath = '/'): string {
      const token = randomToken();
      endLinksOf(person.id);
      links.set(hashOf(token), { person, path, expiresAt: now() + linkMs });
      return token;
    },
    /** Whose link this is; `undefined` where it does not work, or no longer. Uses nothing up. */
    personOf: (token: string): PagePerson | undefined => linkOf(token)?.person,
    /** Uses a link up, and resolves with the id of a new session and where it leads. Rejects as `placeOf` does; the link still works then. */
    async open(token: string, placeOf: (userId: string) => Promise<Place>) {
      const found = linkOf(token);
      const place = found && (await placeOf(found.person.id));
      // Somebody may have used or replaced it meanwhile.
      const link = linkOf(token);
      if (link === undefined || place === undefined) return undefined;
      const { person, path } = link;
      links.delete(hashOf(token));
      const id = randomToken();
      sessions.set(hashOf(id), { person, place, expiresAt: now() + sessionMs });
      return { id, path };
    },
    session(id: string): Session | undefined {
      const session = sessions.get(hashOf(id));
      return session !== undefined && session.expiresAt > now() ? session : undefined;
    },
    end: (id: string): void => void sessions.delete(hashOf(id)),
    /** Ends all links and sessions of a person. */
    endAllOf(userId: string): void {
      endLinksOf(userId);
      for (const [key, session] of sessions) {
        if (session.person.id !== userId) continue;
        session.isOver = true;
        sessions.delete(key);
      }
    },
  };
}

function hashOf(secret: string): string {
  return hash('sha256', secret, 'base64url');
}
