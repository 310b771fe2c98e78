import type { SessionKey } from '../../core/place.ts';
import { sessionName } from '../../core/place.ts';
import type { SessionLog } from '../session-log/session-log.ts';
import type { RecallPerson, RecallShelf, RecallSource } from './recall-source.ts';
import type { Segment, SegmentReaders } from './segment.ts';
import { SessionMessages } from './session-messages.ts';
import type { MessageReads } from './session-messages.ts';

type SessionsReads = MessageReads & Pick<SessionLog, 'sessions'>;

/** The messages of all sessions of a person [W3]: the log's end is asked at every search, what came since is added. */
export function createMessageSource({ log }: { readonly log: SessionsReads }): RecallSource {
  return {
    name: 'messages',
    open: (person, readers) => new MessageShelf(log, person, readers),
  };
}

class MessageShelf implements RecallShelf {
  readonly #log: SessionsReads;
  readonly #person: RecallPerson;
  readonly #readers: SegmentReaders;
  #known = new Map<string, SessionMessages>();

  constructor(log: SessionsReads, person: RecallPerson, readers: SegmentReaders) {
    this.#log = log;
    this.#person = person;
    this.#readers = readers;
  }

  async segments(): Promise<readonly Segment[]> {
    const sessions = await this.#log.sessions();
    const own = sessions.filter(({ userId }) => userId === this.#person.userId);
    const present = new Map(own.map((session) => [sessionName(session), this.#messagesOf(session)]));
    this.#known = present;
    const segments = await Promise.all([...present.values()].map((messages) => messages.segments()));
    return segments.flat();
  }

  #messagesOf(session: SessionKey): SessionMessages {
    return this.#known.get(sessionName(session)) ?? new SessionMessages(this.#log, session, this.#readers);
  }
}
