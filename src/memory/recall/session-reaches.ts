import { LRUCache } from 'lru-cache';

import { sessionName } from '../../core/place.ts';
import type { SessionKey } from '../../core/place.ts';
import { narrower } from '../../core/visibility.ts';
import type { SessionLog } from '../session-log/session-log.ts';
import type { Reach } from './recall-unit.ts';

const keptSessions = 1000;

/**
 * Where may be told what was noted in a session: where all that was said in it may be. A note can hold any of it, and a channel that was
 * private once may be public now.
 */
export type SessionReaches = (session: SessionKey) => Promise<Reach>;

export function createSessionReaches(log: Pick<SessionLog, 'since'>): SessionReaches {
  const known = new LRUCache<string, { readonly cursor: number; readonly reach: Reach | undefined }>({
    max: keptSessions,
  });
  return async (session) => {
    const name = sessionName(session);
    const before = known.get(name) ?? { cursor: 0, reach: undefined };
    const { messages, last } = await log.since(session, before.cursor);
    let { reach } = before;
    for (const { message } of messages) reach = narrowed(reach, message);
    known.set(name, { cursor: last, reach });
    return reach ?? { visibility: 'dm', homeId: session.channelId };
  };
}

/** Of two homes that are as narrow as each other, neither admits what was said in the other: that leaves the DM. */
export function narrowed(a: Reach | undefined, { visibility, homeId }: Reach): Reach {
  if (a === undefined) return { visibility, homeId };
  const narrow = narrower(a.visibility, visibility);
  if (a.visibility === 'here' && visibility === 'here' && a.homeId !== homeId) {
    return { visibility: 'dm', homeId };
  }
  return { visibility: narrow, homeId: a.visibility === narrow ? a.homeId : homeId };
}
