import { z } from 'zod';

import type { MessageChange, RecentChanges } from '../core/changes.ts';
import type { ChannelPort } from '../core/chat.ts';
import type { KeyedQueue } from '../core/keyed-queue.ts';
import type { Logger } from '../core/logger.ts';
import { sessionName, type SessionKey } from '../core/place.ts';
import type { Processes } from '../core/processes.ts';
import { isYounger } from '../core/snowflake.ts';
import type { Store } from '../core/store.ts';
import type { Clock, Timer } from '../core/time.ts';
import { reachFields } from '../core/visibility.ts';
import type { Erased, Forgotten, LayerName, MemoryLayer, Purged, WithdrawnMessage } from './layer.ts';
import { idsOf, type LoggedMessage } from './log/records.ts';
import type { SessionLog } from './log/session-log.ts';
import { saysAny, withdrawnTerms } from './log/withdrawal.ts';
import { messagesSchema, type MessagesByChannel } from './undo.ts';

/** What the ledger holds: a change that has not reached every layer yet. */
export type Change = MessageChange | Forgotten | Purged | Erased | Expired;

/** Messages of one conversation that are older than people's words are kept [K15]. */
export interface Expired {
  readonly kind: 'expired';
  readonly userId: string;
  readonly channelId: string;
  readonly messageIds: readonly string[];
}

export const changeSchema: z.ZodType<Change> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('edited'),
    channelId: z.string(),
    messageId: z.string(),
    authorId: z.string().exactOptional(),
    text: z.string(),
    reach: z.object(reachFields).exactOptional(),
  }),
  z.object({
    kind: z.literal('deleted'),
    channelId: z.string(),
    messageIds: z.array(z.string()).readonly(),
  }),
  z.object({
    kind: z.literal('forgotten'),
    userId: z.string(),
    itemIds: z.array(z.string()).readonly(),
    words: z.string(),
    commandId: z.string(),
    messages: messagesSchema.exactOptional(),
  }),
  z.object({
    kind: z.literal('purged'),
    userId: z.string(),
    words: z.string(),
    commandId: z.string(),
  }),
  z.object({
    kind: z.literal('expired'),
    userId: z.string(),
    channelId: z.string(),
    messageIds: z.array(z.string()).readonly(),
  }),
  z.object({
    kind: z.literal('erased'),
    userId: z.string(),
    at: z.string(),
  }),
]);

/** Keeps answers that are ready until they are sent. */
export interface AnswerKeeper {
  /** Messages of a channel were edited or deleted: answers that `isWithdrawn` picks are kept no more. */
  withdraw(
    channelId: string,
    isWithdrawn: (answer: { readonly messageIds: readonly string[]; readonly text: string }) => boolean,
  ): Promise<void>;
  /** Hides these messages from history, though they stay on Discord. */
  hide(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** They are again. */
  unhide(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** These messages get no answer any more, even if Discord sends them again. */
  markHandled(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** Keeps no answer to what a person said in these channels before a moment, ISO 8601, and takes away what stands of one that is not whole. */
  erase(userId: string, before: string, channelIds: readonly string[]): Promise<unknown>;
  /** Another process does that. */
  noteErased(userId: string, before: string): void;
}

export interface ChangeLedgerPorts {
  readonly store: Pick<Store, 'append' | 'scan' | 'rewrite' | 'remove' | 'removeAll' | 'list'>;
  readonly recent: RecentChanges;
  /** The users' write queue [S3]. */
  readonly writes: KeyedQueue;
  readonly log: Pick<
    SessionLog,
    'sessionsOf' | 'affected' | 'message' | 'everyOfPerson' | 'sessionsOfPerson' | 'mentions' | 'placesOf'
  >;
  /** All of them, the log first, on or off. */
  readonly layers: readonly MemoryLayer[];
  readonly answers: AnswerKeeper;
  /** Whether what a person says in a conversation by now may be written down [K9]. Must not reject. */
  readonly mayStore: (session: SessionKey) => Promise<boolean>;
  readonly placeOf: ChannelPort['placeOf'];
  /** A session has changed: rebuild what was derived from it; if messages came back, its history too. */
  readonly changed: (session: SessionKey, hasMoreHistory?: true) => void;
  /**
   * Ends what runs and waits here for a person who is erased, and lets go of what is kept of them in memory only. What waits for other processes too
   * goes only where the erasing is carried out: another process may hear of it late, when the person has started over. Must not throw.
   */
  readonly endWork: (userId: string, erasedBy: 'here' | 'elsewhere') => void;
  /** Keeps the moment of an erasing, the one thing that stays of it. As part of a job of the person's queue. Rejects with `StoreError`. */
  readonly noteErased: (userId: string, at: string) => Promise<void>;
  readonly processes: Processes;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
}

/** What became of a change: the layers that could not follow it yet, with the reason; the ledger keeps it open for them. */
export type Failures = ReadonlyMap<LayerName | 'answers', unknown>;

/** Messages that go with something of a person. */
export interface WithMessages {
  readonly userId: string;
  readonly messages?: MessagesByChannel;
}

/** The conversations that a change of messages may concern, and whether a layer holds something of them that no log may have. Rejects with `StoreError`. */
export async function conversationsOf(
  change: MessageChange,
  { log, layers }: Pick<ChangeLedgerPorts, 'log' | 'layers'>,
): Promise<readonly { readonly session: SessionKey; readonly isHeld: boolean }[]> {
  const held = await Promise.all(layers.map(async (layer) => (await layer.holdersOf?.(change)) ?? []));
  const found = [
    ...(await log.sessionsOf(change)).map((session) => ({ session, isHeld: false })),
    ...held.flat().map((session) => ({ session, isHeld: true })),
  ];
  return [...new Map(found.map((each) => [sessionName(each.session), each])).values()];
}

/** Goes through the messages that something was forgotten with, as deletions, conversation by conversation. */
export async function eachConversation(
  { userId, messages = [] }: WithMessages,
  work: (session: SessionKey, cause: Extract<MessageChange, { kind: 'deleted' }>) => Promise<void>,
): Promise<void> {
  for (const { channelId, messageIds } of messages)
    await work({ channelId, userId }, { kind: 'deleted', channelId, messageIds });
}

/**
 * The messages that come back, answers among them, where something forgotten is taken back: not those that went with what of the person's forgettings
 * stands besides.
 */
export async function comingBack(
  log: Pick<SessionLog, 'affected'>,
  change: WithMessages,
  standing: readonly WithMessages[],
): Promise<readonly { readonly session: SessionKey; readonly messageIds: readonly string[] }[]> {
  const found: { session: SessionKey; messageIds: readonly string[] }[] = [];
  const kept = new Set<string>();
  const gather = (of: WithMessages, work: (session: SessionKey, ids: readonly string[]) => void) =>
    eachConversation(of, async (session, cause) => {
      const held = (await log.affected(session, cause)).flatMap(({ before }) => idsOf(before));
      work(session, [...new Set([...cause.messageIds, ...held])]);
    });
  for (const each of standing) await gather(each, (_session, ids) => ids.forEach((id) => kept.add(id)));
  await gather(change, (session, ids) => {
    found.push({ session, messageIds: ids.filter((id) => !kept.has(id)) });
  });
  return found;
}

/** What messages were taken out with, less what is said again: it was brought back, and a kill kept that from being noted. */
export async function stillForgotten(
  log: Pick<SessionLog, 'affected' | 'placesOf'>,
  session: SessionKey,
  cause: MessageChange,
): Promise<readonly WithdrawnMessage[]> {
  const forgotten: WithdrawnMessage[] = [];
  for (const message of await log.affected(session, cause))
    if ((await log.placesOf(session, idsOf(message.before))).length === 0) forgotten.push(message);
  return forgotten;
}

function messageIdsOf(change: MessageChange): readonly string[] {
  return change.kind === 'edited' ? [change.messageId] : change.messageIds;
}

export function isSupersededBy(earlier: Change, later: Change): boolean {
  if (later.kind === 'erased')
    return earlier.kind === 'edited'
      ? earlier.authorId === later.userId
      : earlier.kind !== 'deleted' && earlier.userId === later.userId;
  return (
    earlier.kind === 'edited' &&
    (later.kind === 'edited' || later.kind === 'deleted') &&
    messageIdsOf(later).includes(earlier.messageId)
  );
}

/**
 * In order, without edits that a later change of the same message replaces: carried out first, they would remove
 * the present text.
 */
export function notOvertaken<T extends { readonly change: Change }>(left: readonly T[]): readonly T[] {
  const last = new Map<string, T>();
  for (const each of left)
    if (each.change.kind === 'edited' || each.change.kind === 'deleted')
      for (const id of messageIdsOf(each.change)) last.set(id, each);
  return left.filter((each) => each.change.kind !== 'edited' || last.get(each.change.messageId) === each);
}

/** Which messages a command is about that a later start may finish: what was said since stays, and so do the answers to it. */
export function saidBefore(commandId: string): (message: LoggedMessage) => boolean {
  return (message) => {
    const asked = message.role === 'assistant' ? message.replyTo.at(-1) : undefined;
    return !isYounger(asked ?? message.id, commandId);
  };
}

/** Of an edited message's answers those go that say what it says no more. */
export async function withdrawAnswers(
  answers: Pick<AnswerKeeper, 'withdraw'>,
  change: MessageChange,
  messages: readonly WithdrawnMessage[],
): Promise<void> {
  const ids = new Set(messageIdsOf(change));
  const before = messages.find((message) => ids.has(message.before.id))?.before.text ?? '';
  const gone = change.kind === 'edited' ? withdrawnTerms(before, change.text) : undefined;
  await answers.withdraw(
    change.channelId,
    (answer) =>
      answer.messageIds.some((id) => ids.has(id)) && (gone === undefined || saysAny(answer.text, gone)),
  );
}

/**
 * Has every layer erase a person, and what lies beside the layers go. As part of a job of the person's queue. Their own folder tells where the
 * rest is: it goes when all of that is gone, so that what could not be done, or a kill came before, is found again.
 */
export async function eraseEverywhere(
  {
    store,
    log,
    layers,
    answers,
    noteErased,
  }: Pick<ChangeLedgerPorts, 'store' | 'log' | 'layers' | 'answers' | 'noteErased'>,
  { userId, at }: Erased,
  attempt: (name: LayerName | 'answers', work: () => Promise<unknown>) => Promise<boolean>,
): Promise<void> {
  const sessions = new Map<string, SessionKey>();
  let isDone = await attempt('log', async () => {
    for (const session of await log.everyOfPerson(userId)) sessions.set(session.channelId, session);
  });
  const erasure = { userId, sessions: [...sessions.values()], isWhole: true };
  const channelIds = [...sessions.keys()];
  isDone = (await attempt('answers', () => answers.erase(userId, at, channelIds))) && isDone;
  for (const layer of layers) isDone = (await attempt(layer.name, () => layer.erase(erasure))) && isDone;
  // What no layer knows of, such as damaged copies and what was put there by hand.
  for (const { channelId } of erasure.sessions)
    isDone = (await attempt('log', () => store.removeAll(`sessions/${channelId}/${userId}`))) && isDone;
  if (isDone) await attempt('settings', () => store.removeAll(`users/${userId}`));
  await attempt('settings', () => noteErased(userId, at));
}
