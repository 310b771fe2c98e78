import { lruCache } from '../../core/limits.ts';
import { sessionName, type SessionKey } from '../../core/place.ts';
import { createTimeSlice } from '../../core/time.ts';
import { isSameReach, narrower, pickReach, type Reach } from '../../core/visibility.ts';
import { mayHoldOthersWords, type LoggedMessage } from '../log/records.ts';
import type { SessionLog } from '../log/session-log.ts';
import { addUnit, createSegment, type RecallUnit, type Segment, type TextReaders } from './segments.ts';
import type { RecallSource } from './sources.ts';

/** After so long a pause another sitting begins. */
const pauseMs = 60 * 60 * 1000;

/** Of one segment: a search holds the event loop for no longer than these take [L4]. */
const segmentMessages = 4096;

/** Sessions whose reach is remembered. */
const rememberedReaches = 1000;

type MessageLog = Pick<SessionLog, 'logState' | 'since'>;

/**
 * The messages of all sessions of a person [W3]; each search checks the log's end and edition, and adds what
 * is new.
 */
export function createMessageSource(log: MessageLog & Pick<SessionLog, 'sessionsOfPerson'>) {
  const reaches = lruCache<string, Reach>(rememberedReaches);
  const source: RecallSource = {
    name: 'messages',
    open(person, readers) {
      let known = new Map<string, SessionMessages>();
      return async () => {
        const own = await log.sessionsOfPerson(person.id);
        known = new Map(
          own.map((session) => {
            const name = sessionName(session);
            return [name, known.get(name) ?? new SessionMessages(log, session, readers)];
          }),
        );
        const segments: Segment[] = [];
        for (const [name, messages] of known) {
          const ofSession = await messages.segments();
          const [first, ...others] = ofSession.map(({ reach }) => reach);
          if (first === undefined) reaches.delete(name);
          else reaches.set(name, others.reduce(narrower, first));
          segments.push(...ofSession);
        }
        return segments;
      };
    },
  };
  return {
    ...source,
    /** Where all that was said in a session may be told, as its person's last search found; else the DM. */
    reachOf: (session: SessionKey): Reach =>
      reaches.get(sessionName(session)) ?? { visibility: 'dm', homeId: session.channelId },
  };
}

/** One session's messages as segments, one after another. New ones are added; any other change reads all again. */
export class SessionMessages {
  readonly #log: MessageLog;
  readonly #session: SessionKey;
  readonly #readers: TextReaders;
  #segments: Segment[] = [];
  #cursor = 0;
  #edition: number | undefined;

  constructor(log: MessageLog, session: SessionKey, readers: TextReaders) {
    this.#log = log;
    this.#session = session;
    this.#readers = readers;
  }

  async segments(): Promise<readonly Segment[]> {
    const { last, edition } = await this.#log.logState(this.#session);
    if (edition !== this.#edition || last < this.#cursor) this.#forget();
    if (last !== this.#cursor) await this.#add();
    this.#edition = edition;
    return this.#segments;
  }

  #forget(): void {
    this.#segments = [];
    this.#cursor = 0;
  }

  async #add(): Promise<void> {
    let since = await this.#log.since(this.#session, this.#cursor);
    if (since.withdrawals.some(({ of }) => of <= this.#cursor)) {
      this.#forget();
      since = await this.#log.since(this.#session, 0);
    }
    const pause = createTimeSlice();
    for (const { sequence, message } of since.messages) {
      await pause();
      this.#read(sequence, message);
    }
    // A line that is counted may still be on its way to the disk.
    this.#cursor = since.last;
  }

  /** Messages with other readers are not neighbours: they are never shown together. */
  #read(line: number, message: LoggedMessage): void {
    const newest = this.#segments.at(-1);
    const { at = '', stretch = 0 } = newest?.units.at(-1) ?? {};
    const isToSameReaders = newest !== undefined && isSameReach(newest.reach, message);
    const hasRoom = isToSameReaders && newest.units.length < segmentMessages;
    const segment = hasRoom ? newest : createSegment(pickReach(message));
    if (segment !== newest) this.#segments.push(segment);
    const isSameSitting = isToSameReaders && Date.parse(message.at) - Date.parse(at) < pauseMs;
    const sitting = { reach: segment.reach, stretch: isSameSitting ? stretch : stretch + 1 };
    addUnit(segment, unitOf(this.#session, line, message, sitting), this.#readers);
  }
}

function unitOf(
  { channelId }: SessionKey,
  line: number,
  message: LoggedMessage,
  sitting: Pick<RecallUnit, 'reach' | 'stretch'>,
): RecallUnit {
  const { id, at, author, guildId, role } = message;
  return {
    text: textOf(message),
    author,
    at,
    isBot: role === 'assistant',
    hasThirdPartyText: mayHoldOthersWords(message),
    thirdPartyTextAt: message.role === 'assistant' ? (message.thirdPartyTextAt ?? at) : undefined,
    ...sitting,
    reference: {
      kind: 'message',
      channelId,
      messageId: id,
      line,
      ...(guildId === undefined ? {} : { guildId }),
    },
  };
}

function textOf({ text, attachments }: LoggedMessage): string {
  return attachments.length === 0 ? text : `${text} [${attachments.join(', ')}]`.trimStart();
}
