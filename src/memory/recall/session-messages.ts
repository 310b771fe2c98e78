import type { SessionKey } from '../../core/place.ts';
import type { SequencedMessage, Withdrawal } from '../session-log/fold-log.ts';
import type { LoggedMessage } from '../session-log/log-record.ts';
import type { SessionLog } from '../session-log/session-log.ts';
import type { RecallUnit } from './recall-unit.ts';
import { Segment } from './segment.ts';
import type { SegmentReaders } from './segment.ts';

/** What a session's messages are read from. */
export type MessageReads = Pick<SessionLog, 'lastSequence' | 'since' | 'message'>;

/** After so long a pause another sitting begins. */
const pauseMs = 60 * 60 * 1000;
/** A segment of so many messages ends with its sitting, one of so many at once: what is edited makes one segment anew, not all. */
const fullSegment = 1000;
const longestSegment = 4000;

/** One session's messages in the index. */
export class SessionMessages {
  readonly #log: MessageReads;
  readonly #session: SessionKey;
  readonly #readers: SegmentReaders;
  #segments: Segment[] = [];
  #cursor = 0;
  #newest: RecallUnit | undefined;

  constructor(log: MessageReads, session: SessionKey, readers: SegmentReaders) {
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
    for (const [index, withdrawal] of earlier.entries()) this.#change(withdrawal, texts[index]);
    for (const message of messages) this.#add(message);
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
    this.#newest = unit;
  }

  /** An edited message has its new text, a deleted one goes. */
  #change({ of }: Withdrawal, text: string | undefined): void {
    const isMeant = ({ reference }: RecallUnit): boolean =>
      reference.kind === 'message' && reference.line === of;
    const at = this.#segments.findIndex(({ traits }) => traits.some(({ unit }) => isMeant(unit)));
    const units = this.#segments[at]?.traits.map(({ unit }) => unit);
    if (units === undefined) return;
    const changed = units.flatMap((unit) => {
      if (!isMeant(unit)) return [unit];
      return text === undefined ? [] : [{ ...unit, text }];
    });
    this.#segments[at] = new Segment(this.#readers, changed);
  }
}

function unitOf(
  { channelId }: SessionKey,
  line: number,
  message: LoggedMessage,
  before: RecallUnit | undefined,
): RecallUnit {
  const { id, at, author, visibility, homeId, guildId, role } = message;
  const isSameReach = before?.reach.visibility === visibility && before.reach.homeId === homeId;
  const pause = before?.at === undefined ? 0 : Date.parse(at) - Date.parse(before.at);
  const stretch = before?.stretch ?? 0;
  return {
    text: textOf(message),
    author,
    at,
    isBot: role === 'assistant',
    reach: isSameReach ? before.reach : { visibility, homeId },
    // What was said to other readers is no neighbour: neither is shown with the other.
    stretch: isSameReach && pause < pauseMs ? stretch : stretch + 1,
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
