import { namesPeople } from '../../core/own-words.ts';
import { sessionName, type SessionKey } from '../../core/place.ts';
import { isSameReach, pickReach } from '../../core/visibility.ts';
import { createTimeSlice } from '../../core/time.ts';
import { mayHoldOthersWords, type LoggedMessage, type SequencedMessage } from '../log/records.ts';
import type { SessionLog } from '../log/session-log.ts';
import { Segment, type RecallUnit, type TextReaders } from './segments.ts';
import type { RecallSource } from './sources.ts';

/** After so long a pause another sitting begins. */
const pauseMs = 60 * 60 * 1000;
/** A segment of so many messages ends with its sitting, one of so many at once: what is edited makes one segment anew, not all. */
const fullSegment = 1000;
const longestSegment = 4000;

/** What a session's messages are read from. */
type MessageLog = Pick<SessionLog, 'lastSequence' | 'since' | 'message'>;

/** The messages of all sessions of a person [W3]: the log's end is asked at every search, what came since is added. */
export function createMessageSource(log: MessageLog & Pick<SessionLog, 'sessions'>): RecallSource {
  return {
    name: 'messages',
    open(person, readers) {
      let known = new Map<string, SessionMessages>();
      return async () => {
        const own = (await log.sessions()).filter(({ userId }) => userId === person.id);
        known = new Map(
          own.map((session) => {
            const name = sessionName(session);
            return [name, known.get(name) ?? new SessionMessages(log, session, readers)];
          }),
        );
        const segments: Segment[] = [];
        for (const messages of known.values()) segments.push(...(await messages.segments()));
        return segments;
      };
    },
  };
}

/** One session's messages in the index. */
export class SessionMessages {
  readonly #log: MessageLog;
  readonly #session: SessionKey;
  readonly #readers: TextReaders;
  #segments: Segment[] = [];
  #cursor = 0;
  #newest: Sitting | undefined;

  constructor(log: MessageLog, session: SessionKey, readers: TextReaders) {
    this.#log = log;
    this.#session = session;
    this.#readers = readers;
  }

  async segments(): Promise<readonly Segment[]> {
    const last = await this.#log.lastSequence(this.#session);
    if (last < this.#cursor) this.#clear();
    if (last > this.#cursor) await this.#catchUp();
    return this.#segments;
  }

  #clear(): void {
    this.#segments = [];
    this.#cursor = 0;
    this.#newest = undefined;
  }

  async #catchUp(): Promise<void> {
    const { messages, withdrawals, last } = await this.#log.since(this.#session, this.#cursor);
    const earlier = withdrawals.filter(({ of }) => of <= this.#cursor);
    const texts = await Promise.all(earlier.map(({ id }) => this.#log.message(this.#session, id)));
    const pause = createTimeSlice();
    await this.#change(new Map(earlier.map(({ of }, index) => [of, texts[index]])), pause);
    for (const message of messages) {
      this.#add(message);
      await pause();
    }
    this.#cursor = last;
  }

  #add({ sequence, message }: SequencedMessage): void {
    const before = this.#newest;
    const unit = unitOf(this.#session, sequence, message, before);
    const segment = this.#segments.at(-1);
    const size = segment?.traits.length ?? longestSegment;
    const isFull = size >= fullSegment && unit.stretch !== before?.stretch;
    if (segment === undefined || isFull || size >= longestSegment) {
      this.#segments.push(new Segment(this.#readers, [unit]));
    } else segment.add(unit);
    this.#newest = { at: message.at, reach: unit.reach, stretch: unit.stretch };
  }

  /** By line, the new text of an edited message; a deleted one goes. Segments without any stay as they are. */
  async #change(texts: ReadonlyMap<number, string | undefined>, pause: () => Promise<void>): Promise<void> {
    for (const [at, { traits }] of this.#segments.entries()) {
      if (!traits.some(({ unit }) => texts.has(lineOf(unit)))) continue;
      const made = new Segment(this.#readers, []);
      for (const { unit } of traits) {
        const text = texts.get(lineOf(unit));
        const hasThirdPartyText =
          unit.isBot || text === undefined ? unit.hasThirdPartyText : namesPeople(text);
        if (!texts.has(lineOf(unit))) made.add(unit);
        else if (text !== undefined) made.add({ ...unit, text, hasThirdPartyText });
        await pause();
      }
      this.#segments[at] = made;
    }
  }
}

function lineOf({ reference }: RecallUnit): number {
  return reference.kind === 'message' ? reference.line : 0;
}

/** Where and when the newest message was said: whether the next belongs to the same sitting. Without its text, which may be deleted. */
type Sitting = Pick<RecallUnit, 'reach' | 'stretch'> & { readonly at: string };

function unitOf(
  { channelId }: SessionKey,
  line: number,
  message: LoggedMessage,
  before: Sitting | undefined,
): RecallUnit {
  const { id, at, author, guildId, role } = message;
  const isToSameReaders = before !== undefined && isSameReach(before.reach, message);
  const pause = before === undefined ? 0 : Date.parse(at) - Date.parse(before.at);
  const stretch = before?.stretch ?? 0;
  return {
    text: textOf(message),
    author,
    at,
    isBot: role === 'assistant',
    hasThirdPartyText: mayHoldOthersWords(message),
    reach: isToSameReaders ? before.reach : pickReach(message),
    // What was said to other readers is no neighbour: neither is shown with the other.
    stretch: isToSameReaders && pause < pauseMs ? stretch : stretch + 1,
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
