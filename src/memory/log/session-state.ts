import { isDeepStrictEqual } from 'node:util';

import { z } from 'zod';

import type { SessionWork, Writes } from '../../core/writes.ts';
import { placeSchema, type SessionKey } from '../../core/place.ts';
import { assertSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind, ErasingOption, Store } from '../../core/store.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { reachFields } from '../../core/visibility.ts';

const summarySchema = z.object({
  text: z.string(),
  /** ISO 8601, UTC. */
  updatedAt: z.string(),
  /** The narrowest of all that was folded in. */
  ...reachFields,
});

const rollingSchema = z.object({
  /** The summary begins after this log line: 0, or the last reset's. */
  from: z.number(),
  /** The summary holds the log up to this line. */
  cursor: z.number(),
  /** Edits and deletions up to this log line are accounted for; never less than `cursor`. */
  seen: z.number(),
  /** Grows with every change; a job that finds another one drops its result [A4]. */
  revision: z.number(),
  /** Something was withdrawn: the summary is due at once. */
  rebuild: z.boolean(),
  /** How often a summary was reset or withdrawn; absent for never. */
  withdrawals: z.number().exactOptional(),
  summary: summarySchema.optional(),
});

const cursorSchema = z.object({ cursor: z.number() });

const stateSchema = z.object({
  version: z.literal(1),
  /** Where the session was last, with its audience then. */
  place: placeSchema.exactOptional(),
  speakerName: z.string().exactOptional(),
  /** The speaker owned the bot then, so the workspace is their notebook [N1]. */
  isOwner: z.literal(true).exactOptional(),
  rolling: rollingSchema.exactOptional(),
  shortTerm: cursorSchema.exactOptional(),
  extraction: cursorSchema.exactOptional(),
  reflection: cursorSchema.exactOptional(),
  /** When the profile was last checked for trimming, ISO 8601, UTC; in the DM's state only [N7]. */
  trimmedAt: z.string().exactOptional(),
});

/**
 * A session's state besides its log: `sessions/<channelId>/<userId>/state.json`. Each derived layer has a
 * cursor: the log's sequence number up to which it has folded [F4]. Without one, the rolling summary starts
 * at the log's beginning; other layers get theirs when the speaker writes while they are on, so that
 * switching one on never mines the past.
 */
export type SessionState = z.infer<typeof stateSchema>;
export type RollingState = z.infer<typeof rollingSchema>;
export type StoredSummary = z.infer<typeof summarySchema>;

export const stateKind: DocumentKind<SessionState> = { version: 1, schema: stateSchema };

/** Reads and writes reject with `StoreError`. A session never seen has no cursors. */
export type SessionStates = ReturnType<typeof createSessionStates>;

type StateChange = (state: SessionState) => SessionState;

export function createSessionStates({ store, writes }: { store: Store; writes: Writes }) {
  return {
    read: (session: SessionKey) => readState(store, session),
    /** A job of the user's queue [S3]. `change` may run twice, so it must have no effects. */
    update: (session: SessionWork, change: StateChange, options?: ErasingOption) =>
      writes.run(session, () => changeState(store, session, change, options)),
    /** `transactState` as a job of the user's queue; `job` must not use that queue itself. */
    transact: (session: SessionWork, job: StateJob, options?: ErasingOption) =>
      writes.run(session, () => transactState(store, session, job, options)),
  };
}

/** Resolves with a change that depends on more than the document, or `undefined` for none. */
export type StateJob = (state: SessionState) => Promise<StateChange | undefined>;

/** For use within a job of the user's queue. */
export async function transactState(
  store: Store,
  session: SessionKey,
  job: StateJob,
  options?: ErasingOption,
): Promise<SessionState> {
  const state = await readState(store, session);
  const change = await job(state);
  return change === undefined ? state : changeState(store, session, change, options);
}

/** For use within a job of the user's queue. */
export async function changeState(
  store: Store,
  session: SessionKey,
  change: StateChange,
  options: ErasingOption = {},
): Promise<SessionState> {
  const changed = await store.update(
    stateKey(session),
    stateKind,
    (current) => {
      const next = change(current ?? unseen);
      return next === unseen ? current : next;
    },
    options,
  );
  return changed ?? unseen;
}

/** Of a session never seen, nothing but the version. */
export async function readState(store: Store, session: SessionKey): Promise<SessionState> {
  return (await store.read(stateKey(session), stateKind)) ?? unseen;
}

export function stateKey(session: SessionKey): string {
  return `${sessionFolder(session)}/state.json`;
}

const unseen: SessionState = { version: 1 };

/** Layers that fold the log only from when they were switched on. */
export type FoldName = 'shortTerm' | 'extraction' | 'reflection';

/** The state after the speaker wrote; an inactive layer loses its cursor, so that it never mines the past. */
export function seenIn(
  state: SessionState,
  { place, speaker }: Pick<TurnContext, 'place' | 'speaker'>,
  before: number,
  activeFolds: readonly FoldName[],
): SessionState {
  const { shortTerm: _s, extraction: _e, reflection: _r, isOwner: _o, ...rest } = state;
  const cursors = activeFolds.map((name) => [name, state[name] ?? { cursor: before }]);
  const next: SessionState = {
    ...rest,
    place,
    speakerName: speaker.name,
    ...(speaker.isOwner ? { isOwner: true } : {}),
    ...Object.fromEntries(cursors),
  };
  return isDeepStrictEqual(next, state) ? state : next;
}

export const sessionsFolder = 'sessions';

/** @throws {RangeError} when the id is not a Discord id [S6]. */
export function channelFolder(channelId: string): string {
  return `${sessionsFolder}/${assertSnowflake(channelId)}`;
}

/** @throws {RangeError} when an id is not a Discord id [S6]. */
export function sessionFolder({ channelId, userId }: SessionKey): string {
  return `${channelFolder(channelId)}/${assertSnowflake(userId)}`;
}

/** [W3] */
export function logKey(session: SessionKey): string {
  return `${sessionFolder(session)}/${logFile}`;
}

export const logFile = 'messages.jsonl';
