import { deserialize, serialize } from 'node:v8';

import { growingCache } from '../../core/limits.ts';
import { sessionName, type SessionKey } from '../../core/place.ts';
import type { LogBlock } from '../../core/store.ts';
import { createTimeSlice } from '../../core/time.ts';
import { isSameReach, narrower, pickReach, type Reach } from '../../core/visibility.ts';
import { mayHoldOthersWords, type LoggedMessage, type LogRecord } from '../log/records.ts';
import type { SessionLog } from '../log/session-log.ts';
import {
  elementOf,
  indexUnits,
  readUnit,
  segmentOf,
  type ReadUnit,
  type RecallUnit,
  type Segment,
  type SegmentIndex,
  type TextReaders,
} from './segments.ts';
import type { RecallSource } from './sources.ts';

/** After so long a pause another sitting begins. */
const pauseMs = 60 * 60 * 1000;

/** What an index depends on besides lines and time zone. The first number grows with every change to what is made of a text. */
const form = `5 ${process.versions['unicode']} ${process.versions['tz']}`;

/** Sessions of which it is remembered where may be told what was said in them. */
const rememberedReaches = 1000;

/** What a session's messages are read from. */
type MessageLog = Pick<SessionLog, 'logState' | 'since' | 'blocks'>;

/** The messages of all sessions of a person [W3]: the log's end and edition are asked at every search; what came since is added. */
export function createMessageSource(log: MessageLog & Pick<SessionLog, 'sessionsOfPerson'>) {
  const reaches = growingCache<string, Reach>(rememberedReaches);
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
          const [first, ...others] = ofSession.flatMap((segment) =>
            segment.reaches.map(({ reach }) => reach),
          );
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
    /** Where may be told what was said in a session: where all of it may be, as the last search of its person found it; else in the DM. */
    reachOf: (session: SessionKey): Reach =>
      reaches.get(sessionName(session)) ?? { visibility: 'dm', homeId: session.channelId },
  };
}

/** The messages of a block, indexed as their own lines have them. */
interface BlockIndex {
  readonly index: SegmentIndex;
  /** The number of each message's line. */
  readonly lines: Float64Array;
  /** The numbers of lines that edit or delete a message, and of that message's line. */
  readonly changes: readonly (readonly [line: number, of: number])[];
}

interface IndexedBlock extends BlockIndex {
  readonly block: LogBlock<LogRecord>;
}

/** By the number of a message's line, the edit or deletion that it does not show yet. */
type Pending = ReadonlyMap<number, LogRecord>;

/** One session's messages in the index: a segment for each block of the log. To the newest those are added that come. */
export class SessionMessages {
  readonly #log: MessageLog;
  readonly #session: SessionKey;
  readonly #readers: TextReaders;
  #segments: readonly Segment[] = [];
  /** What the newest segment is made of. */
  #newest: ReadUnit[] = [];
  #cursor = 0;
  #edition: number | undefined;
  /** The highest line of the newest block. */
  #end = 0;

  constructor(log: MessageLog, session: SessionKey, readers: TextReaders) {
    this.#log = log;
    this.#session = session;
    this.#readers = readers;
  }

  async segments(): Promise<readonly Segment[]> {
    const { last, edition } = await this.#log.logState(this.#session);
    if (edition !== this.#edition || (last !== this.#cursor && !(await this.#add(last)))) {
      await this.#load(last);
      this.#edition = edition;
    }
    return this.#segments;
  }

  /** Adds what came to the newest block; `false` where something else happened. */
  async #add(last: number): Promise<boolean> {
    if (last < this.#cursor || last >= this.#end) return false;
    const since = await this.#log.since(this.#session, this.#cursor);
    if (since.last >= this.#end || since.withdrawals.some(({ of }) => of <= this.#cursor)) return false;
    const pause = createTimeSlice();
    for (const { sequence, message } of since.messages) {
      this.#read(this.#newest, sequence, message);
      await pause();
    }
    this.#segments = [...this.#segments.slice(0, -1), segmentOf(this.#newest)];
    this.#cursor = Math.max(last, since.last);
    return true;
  }

  /** Takes what is kept of the log's blocks, and makes the rest. */
  async #load(last: number): Promise<void> {
    const { timeZone } = this.#readers.dates;
    const blocks: IndexedBlock[] = [];
    let newest: ReadUnit[] = [];
    let cursor = last;
    for await (const block of this.#log.blocks(this.#session)) {
      let made = block.kept && restored(block.kept, timeZone);
      newest = [];
      if (made === undefined) {
        const changes = await this.#readBlock(block, newest);
        made = { index: indexUnits(newest), lines: Float64Array.from(newest, lineOf), changes };
        await block.keep(serialize({ form, timeZone, made }));
      }
      blocks.push({ block, ...made });
      cursor = Math.max(cursor, made.lines.at(-1) ?? 0, made.changes.at(-1)?.[0] ?? 0);
    }
    const pending = await pendingIn(blocks);
    const segments: Segment[] = [];
    for (const { block, index, lines } of blocks) {
      if (pending.size > 0 && lines.some((line) => pending.has(line))) {
        const units: ReadUnit[] = [];
        await this.#readBlock(block, units, pending);
        segments.push(segmentOf(units));
        if (segments.length === blocks.length) newest = units;
      } else segments.push({ ...index, unit: (at) => this.#unitOf(block, index, lines[at] ?? 0, at) });
    }
    this.#segments = segments;
    this.#newest = newest;
    this.#cursor = cursor;
    this.#end = blocks.at(-1)?.block.end ?? 0;
  }

  /** Adds the messages of a block to the units before them; gives the numbers of the lines that change a message, and of its line. */
  async #readBlock(
    block: LogBlock<LogRecord>,
    units: ReadUnit[],
    pending: Pending = new Map(),
  ): Promise<BlockIndex['changes']> {
    const changes: (readonly [number, number])[] = [];
    const pause = createTimeSlice();
    for await (const { sequence, record } of block.entries()) {
      await pause();
      const change = pending.get(sequence);
      if (record.type !== 'message') changes.push([sequence, record.of]);
      else if (change?.type === 'edit') this.#read(units, sequence, { ...record, text: change.text });
      else if (change === undefined) this.#read(units, sequence, record);
    }
    return changes;
  }

  #read(units: ReadUnit[], line: number, message: LoggedMessage): void {
    const before = units.at(-1)?.unit;
    const { at = '', reach, stretch } = before ?? { reach: pickReach(message), stretch: 0 };
    const isToSameReaders = isSameReach(reach, message);
    const isSameSitting = isToSameReaders && Date.parse(message.at) - Date.parse(at) < pauseMs;
    // What was said to other readers is no neighbour: neither is shown with the other.
    const sitting = {
      reach: isToSameReaders ? reach : pickReach(message),
      stretch: isSameSitting ? stretch : stretch + 1,
    };
    units.push(readUnit(this.#readers, unitOf(this.#session, line, message, sitting)));
  }

  /** Read from its line only when it is asked for. */
  #unitOf(block: LogBlock<LogRecord>, index: SegmentIndex, line: number, at: number): RecallUnit {
    const message = block.record(line);
    const { reach } = elementOf(index.reaches, index.reachOf[at] ?? 0);
    if (message?.type !== 'message') throw new RangeError(`No message in line ${line}`);
    return unitOf(this.#session, line, message, { reach, stretch: index.stretchOf[at] ?? 0 });
  }
}

/** What was kept, unless another version of the program, or of Node, made it. */
function restored(bytes: Uint8Array, timeZone: string): BlockIndex | undefined {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store gives back the very bytes that were kept
    const kept = deserialize(bytes) as { form: string; timeZone: string; made: BlockIndex };
    return kept.form === form && kept.timeZone === timeZone ? kept.made : undefined;
  } catch {
    return undefined;
  }
}

/** A change is shown by the message's own line when it was carried out, and only marked until then. */
async function pendingIn(blocks: readonly IndexedBlock[]): Promise<Pending> {
  const pending = new Map<number, LogRecord>();
  const pause = createTimeSlice();
  for (const { block, changes } of blocks) {
    for (const [line, of] of changes) {
      await pause();
      const changed = blocks.find(({ block: { end } }) => of <= end);
      const message = changed?.lines.includes(of) === true ? changed.block.record(of) : undefined;
      const change = message && block.record(line);
      if (message?.type !== 'message' || change === undefined) continue;
      if (change.type === 'edit' && change.text === message.text) pending.delete(of);
      else pending.set(of, change);
    }
  }
  return pending;
}

function lineOf({ unit: { reference } }: ReadUnit): number {
  return reference.kind === 'message' ? reference.line : 0;
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
    ...(message.role === 'assistant' && { thirdPartyTextAt: message.thirdPartyTextAt ?? at }),
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
