import { ModelError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { inputMaxChars, type ModelClient, type WithPauses } from '../../core/model.ts';
import { hasUnknownReaders, sessionName, type Place, type SessionKey } from '../../core/place.ts';
import { dataText, renderSection, type Section } from '../../core/section.ts';
import type { Store } from '../../core/store.ts';
import { clipAtSentence, toSingleLine } from '../../core/text.ts';
import { localDateTime, type Clock } from '../../core/time.ts';
import { sessionOf } from '../../core/turn-context.ts';
import { mayUse } from '../../core/visibility.ts';
import type { SessionWork } from '../../core/writes.ts';
import type { MemoryLayer } from '../layer.ts';
import { parseNote } from '../log/kept-summary.ts';
import type { SessionLog } from '../log/session-log.ts';
import type { SessionStates, StoredSummary } from '../log/session-state.ts';
import { inBatches } from '../log/records.ts';
import { createRollingRecord, rollingOf } from './record.ts';
import { foldBatch, type SummaryWriter } from './write-summary.ts';

/** `dropped`: a change came meanwhile [A4]; `failed`: the model gave nothing usable, so the old one stays. */
export type RollingOutcome = 'not-due' | 'updated' | 'dropped' | 'failed';

export interface RollingSettings {
  /** Off: nothing is read, shown or written; `reset` and changes still clear. */
  readonly enabled: boolean;
  readonly model: string;
  /** Between two summaries. */
  readonly everyTurns: number;
  /** Of a summary. */
  readonly maxChars: number;
}

export type RollingSummary = ReturnType<typeof createRollingSummary>;

/** The rolling summary of each session [R1]–[R5]. Everything may reject with `StoreError`. */
export function createRollingSummary(options: {
  readonly settings: RollingSettings;
  readonly model: ModelClient;
  readonly withPauses: WithPauses;
  readonly store: Store;
  readonly states: SessionStates;
  readonly log: Pick<SessionLog, 'since' | 'lastSequence' | 'everyOfPerson' | 'sessionsOfPerson'>;
  readonly clock: Clock;
  /** IANA. */
  readonly timeZone: string;
  /** A person's own, in which turns are dated [H3]. Must not reject. */
  readonly timeZoneOf: (userId: string) => Promise<string>;
  readonly logger: Logger;
}) {
  const { settings, store, states, log, model, clock, timeZone, logger } = options;
  const { enabled, everyTurns, maxChars } = settings;
  const record = createRollingRecord({ store, states, log, timeZone });

  async function update(session: SessionWork, signal: AbortSignal | undefined): Promise<RollingOutcome> {
    const { rolling, messages, turns, end, seen, place } = await record.read(session);
    if (turns < (rolling.rebuild ? 1 : everyTurns)) return 'not-due';
    // Everything private would be left out, though the readers may not have changed.
    if (place !== undefined && hasUnknownReaders(place)) return 'not-due';
    const ownZone = await options.timeZoneOf(session.userId);
    const writer: SummaryWriter = { model, modelName: settings.model, maxChars, clock, timeZone: ownZone };
    const name = sessionName(session);
    const batches = inBatches(messages, ownZone, inputMaxChars(model, settings.model));
    let current = rolling;
    for (const [index, batch] of batches.entries()) {
      const last = batch.at(-1)?.sequence ?? current.cursor;
      const summary = await options.withPauses(
        { purpose: 'summary', userId: session.userId, conversation: name, model: settings.model },
        () => foldBatch(writer, session, current.summary, batch, place, signal),
      );
      const cursor = index === batches.length - 1 ? end : last;
      const stored = await record.commit(session, current, { cursor, seen, summary }, batch);
      if (stored === undefined) return 'dropped';
      current = stored;
    }
    if (batches.length > 0) return 'updated';
    // A summary could not be asked about [K9]: it skips what was said.
    await record.commit(session, rolling, { cursor: end, seen, summary: rolling.summary });
    return 'not-due';
  }

  /** Folds new turns when there are enough. Model failures are logged, not thrown. */
  async function updateIfDue(session: SessionWork, signal?: AbortSignal): Promise<RollingOutcome> {
    if (!enabled) return 'not-due';
    try {
      return await update(session, signal);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      const { failure, message: reason } = error;
      const name = sessionName(session);
      logger.warn('a summary could not be written; the old one stays', { session: name, failure, reason });
      return 'failed';
    }
  }

  const layer: MemoryLayer = {
    name: 'rolling',
    async sections(context) {
      if (!enabled) return [];
      const { rolling, turns } = await record.read(sessionOf(context));
      const { place, speaker } = context;
      const facts = { withdrawals: rolling.withdrawals ?? 0, turnsSince: turns };
      if (rolling.summary === undefined && turns === 0) return [{ ...nothingSaid, summary: facts }];
      const summary = usable(rolling.summary, sessionOf(context), place, speaker.id);
      return summary === undefined
        ? []
        : [{ ...summarySection(summary, { maxChars, timeZone }), summary: facts }];
    },
    async fold(_userId, sessions, signal) {
      for (const session of sessions) await updateIfDue(session, signal);
    },
    /** No summary that may hold a changed message stays [G5]; `fold` goes on from an earlier one. */
    async delete(deletion) {
      switch (deletion.kind) {
        case 'messages':
          await record.withdraw(
            deletion.session,
            deletion.messages.map(({ sequence }) => sequence),
          );
          return;
        case 'words':
          for (const session of await log.sessionsOfPerson(deletion.userId))
            await record.withdrawSaying(session, deletion.words);
          return;
        case 'record':
          return;
        case 'conversations':
        case 'person':
          for (const session of deletion.sessions) {
            await record.clear(session);
            for (const { key } of await record.notes.files(session, 'stored')) await store.remove(key);
          }
      }
    },
    async *export(userId) {
      for (const session of await log.everyOfPerson(userId)) {
        const folder = `conversations/${session.channelId}`;
        const { summary } = await record.withoutWithheld(session, rollingOf(await states.read(session)));
        if (summary !== undefined) yield { path: `${folder}/summary.md`, text: summary.text };
        for (const { key, text } of await record.notes.files(session, 'told'))
          yield { path: `${folder}/${key.slice(key.lastIndexOf('detail/'))}`, text };
      }
    },
  };

  return {
    ...layer,
    updateIfDue,
    /** What of it holds some lines of a conversation's log, for what is to be withheld. */
    holding: record.holding,
    /** Clears summary, counter and cursor; a running job brings nothing back [R4]. */
    async reset(session: SessionWork): Promise<void> {
      await record.reset(session);
    },
    /** `undefined` where there is none or it may not be used in the place [V2]. */
    async show(session: SessionKey, place: Place, speakerId: string): Promise<string | undefined> {
      if (!enabled) return undefined;
      const { rolling } = await record.read(session);
      return usable(rolling.summary, session, place, speakerId)?.text;
    },
    /** The summary made at a moment, replaced or not, if it may be used in the place [V2]. */
    async madeAt(
      session: SessionKey,
      at: string,
      place: Place,
      speakerId: string,
    ): Promise<string | undefined> {
      const { summary } = await record.withoutWithheld(session, rollingOf(await states.read(session)));
      const kept = (await record.notes.files(session, 'told')).flatMap(({ text }) => parseNote(text) ?? []);
      const made = [summary, ...kept].filter((each) => each?.updatedAt === at);
      return made.find((each) => usable(each, session, place, speakerId) !== undefined)?.text;
    },
  };
}

function usable<Summary extends StoredSummary>(
  summary: Summary | undefined,
  { userId }: SessionKey,
  place: Place,
  speakerId: string,
): Summary | undefined {
  const isUsable = summary !== undefined && mayUse({ ownerId: userId, ...summary }, place, speakerId);
  return isUsable ? summary : undefined;
}

/** History will show all that the first summary is to hold, until its window moves. */
const nothingSaid: Section = { name: 'conversation_summary', slot: 'fast', title: '', lines: [], budget: 0 };

/** With an absolute time, so that the bytes stay the same [R5][P2]; clipped here only [R2]. */
export function summarySection(
  summary: Pick<StoredSummary, 'text' | 'updatedAt'>,
  { maxChars, timeZone }: { readonly maxChars: number; readonly timeZone: string },
): Section {
  const name = 'conversation_summary';
  const when = localDateTime(new Date(summary.updatedAt), timeZone);
  const title = `Summary of this conversation until ${when} (${timeZone}):`;
  const lines = summary.text.split('\n').map(toSingleLine).filter(Boolean).join('\n');
  const text = clipAtSentence(dataText(lines), maxChars);
  return {
    name,
    slot: 'fast',
    title,
    lines: text === '' ? [] : text.split('\n'),
    budget: renderSection({ name, title, lines: [''] }).length + maxChars,
    sources: [{ kind: 'summary', at: summary.updatedAt }],
  };
}
