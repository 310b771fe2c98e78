import { messageIdsOf, type MessageChange, type RecentChanges } from '../core/changes.ts';
import type { Logger } from '../core/logger.ts';
import type { SessionKey } from '../core/place.ts';
import type { Processes } from '../core/processes.ts';
import { isYounger } from '../core/snowflake.ts';
import type { Store } from '../core/store.ts';
import { unconditional, type Writes } from '../core/writes.ts';
import type { Deletion, MemoryLayer, Withdrawn, WithdrawnMessage } from './layer.ts';
import { idsOf, type LoggedMessage } from './log/records.ts';
import type { SessionLog } from './log/session-log.ts';
import { saysAny, withdrawnTerms } from './log/withdrawal.ts';
import { sessionsIn, withheldCauses, type WithheldRecord } from './withheld.ts';

/** The outbox of a channel, as far as changes reach it. */
export interface AnswerKeeper {
  /** Drops answers that were not sent yet. */
  deleteUnsent(
    channelId: string,
    isWithdrawn: (answer: {
      readonly messageIds: readonly string[];
      readonly text: string;
      readonly footer?: { readonly lines: readonly string[] } | undefined;
    }) => boolean,
  ): Promise<unknown>;
  /** Hides these messages from history, though they stay on Discord. */
  hide(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** These messages get no answer any more, even if Discord sends them again. */
  markHandled(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** Deletes answers to what a person said in these channels before a moment, ISO 8601, unfinished ones too. */
  erase(userId: string, before: string, channelIds: readonly string[]): Promise<unknown>;
}

export interface DeletingPorts {
  readonly store: Pick<Store, 'removeAll'>;
  readonly recent: Pick<RecentChanges, 'dropTextsOf'>;
  /** The users' write queue [S3]. */
  readonly writes: Pick<Writes, 'run'>;
  readonly log: Pick<SessionLog, 'affected' | 'held' | 'mentions' | 'everyOfPerson'>;
  /** All of them, the log first, on or off. */
  readonly layers: readonly MemoryLayer[];
  readonly answers: AnswerKeeper;
  /**
   * Ends what runs and waits here for an erased person, and evicts what is kept of them in memory. What waits for
   * other processes too is dropped only by the one that erases. Must not throw.
   */
  readonly endWork: (userId: string, erasedBy: 'here' | 'elsewhere') => void;
  /** Keeps the moment of an erasing. As part of a job of the person's queue. Rejects with `StoreError`. */
  readonly noteErased: (userId: string, at: string) => Promise<void>;
  readonly processes: Pick<Processes, 'notices'>;
  readonly logger: Logger;
}

/** The layers that could not follow a change yet, with the reason; it stays withheld for them. */
export type Failures = ReadonlyMap<string, unknown>;

/** What became of a change, and how many messages went with it, answers included. */
export interface Outcome {
  readonly failures: Failures;
  readonly messages: number;
}

/** For steps of which one that fails holds up no other. */
export function attempting(failures: Map<string, unknown>, about: object, logger: Logger) {
  return async (layer: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      failures.set(layer, error);
      logger.error('a change could not be applied to a layer of memory', { ...about, layer, error });
    }
  };
}

/**
 * Has every layer delete what a record covers, or all of a person [K11]. Part of a job of the person's queue, but for
 * an erasing. Safe to repeat; never rejects.
 */
export function createDeleting(ports: DeletingPorts) {
  const { store, recent, writes, log, layers, answers, processes, logger } = ports;

  /** In order: what layers find by words goes after the messages that said them. */
  async function deletionsFor(entry: WithheldRecord): Promise<readonly Deletion[]> {
    const { userId, change: about } = entry;
    if (about.kind === 'purged') {
      const found = await log.mentions(userId, about.words, isBefore(about.commandId), true);
      const causes = found.map((each) => ({ kind: 'deleted' as const, ...each }));
      const words = { ...about, kind: 'words' as const, userId };
      return [...(await Promise.all(causes.map((cause) => deletionOf(userId, cause, true)))), words];
    }
    if (about.kind === 'erased') return [];
    if (about.kind === 'edited' || about.kind === 'deleted') return [await deletionOf(userId, about)];
    // Anything else goes by what its record covers.
    const causes = await Promise.all(sessionsIn(entry).map((session) => withheldCauses(log, session, entry)));
    const messages = await Promise.all(causes.flat().map((cause) => deletionOf(userId, cause, true)));
    const isResolved = about.kind === 'forgotten' || undefined;
    return [...messages.map((each) => ({ ...each, isResolved })), { kind: 'record', userId, record: entry }];
  }

  async function deletionOf(userId: string, cause: MessageChange, areItemsKept?: true) {
    const session = { channelId: cause.channelId, userId };
    const messages = await log.affected(session, cause);
    return { kind: 'messages' as const, session, messages, cause, areItemsKept };
  }

  /** The log last, since it has the words to find the rest by: it waits for the others. */
  async function deleteEverywhere(deletion: Deletion): Promise<Failures> {
    const failures = new Map<string, unknown>();
    const attempt = attempting(failures, { kind: deletion.kind }, logger);
    if (deletion.kind === 'messages')
      await attempt('answers', () => deleteAnswers(answers, deletion.cause, deletion.messages));
    for (const layer of layers.toReversed())
      if (layer.name !== 'log' || failures.size === 0)
        await attempt(layer.name, () => layer.delete(deletion));
    return failures;
  }

  /** Answers to what was deleted or edited, of which nothing may be told any more, stay on Discord too [G5]. */
  async function hideAnswers({ change: about, messages }: WithheldRecord): Promise<void> {
    if (about.kind !== 'edited' && about.kind !== 'deleted') return;
    const own = new Set(messageIdsOf(about));
    const whole = messages.flatMap(({ messageId, sentences }) => (sentences === undefined ? messageId : []));
    const ids = whole.filter((id) => !own.has(id));
    if (ids.length > 0) await answers.hide(about.channelId, ids);
  }

  /** They stay on Discord, where they would be read again, or answered. */
  async function hideFromHistory({ session, messages, cause }: Withdrawn): Promise<void> {
    const gone = [...messageIdsOf(cause), ...messages.flatMap(({ before }) => idsOf(before))];
    await answers.hide(session.channelId, [...new Set(gone)]);
    const replies = messages.map(({ before }) => (before.role === 'user' ? [] : before.replyTo));
    const answered = new Set(replies.flat());
    const waiting = messageIdsOf(cause).filter((id) => !answered.has(id));
    if (waiting.length > 0) await answers.markHandled(session.channelId, waiting);
  }

  /** The person's own folder tells where the rest is, so it goes last: what a kill came before is found again. */
  async function eraseEverywhere(userId: string, at: string, failures: Map<string, unknown>): Promise<void> {
    const attempt = attempting(failures, { kind: 'erased', userId }, logger);
    const sessions: SessionKey[] = [];
    await attempt('log', async () => sessions.push(...(await log.everyOfPerson(userId))));
    const channelIds = sessions.map(({ channelId }) => channelId);
    await attempt('answers', () => answers.erase(userId, at, channelIds));
    for (const layer of layers)
      await attempt(layer.name, () => layer.delete({ kind: 'person', userId, sessions }));
    // What no layer knows of, such as damaged copies and what was put there by hand.
    for (const channelId of channelIds)
      await attempt('log', () => store.removeAll(`sessions/${channelId}/${userId}`));
    if (failures.size === 0) await attempt('settings', () => store.removeAll(`users/${userId}`));
    await attempt('settings', () => ports.noteErased(userId, at));
  }

  /** As a job of the person's queue that it enters by itself. */
  async function erasePerson(userId: string, at: string, failures: Map<string, unknown>): Promise<void> {
    processes.notices.tell({ kind: 'erased', userId, isDone: false });
    ports.endWork(userId, 'here');
    recent.dropTextsOf(userId);
    await writes.run(unconditional(userId), () => eraseEverywhere(userId, at, failures));
    // Something may have been read by others since the first notice.
    processes.notices.tell({ kind: 'erased', userId, isDone: true });
    logger.info('all that was held about a person was erased', { userId, isDone: failures.size === 0 });
  }

  return async function deleteCovered(entry: WithheldRecord): Promise<Outcome> {
    const { userId, change: about } = entry;
    const failures = new Map<string, unknown>();
    let messages = 0;
    const attempt = attempting(failures, { kind: about.kind, userId }, logger);
    await attempt('answers', () => hideAnswers(entry));
    await attempt('log', async () => {
      if (about.kind === 'erased') return erasePerson(userId, about.at, failures);
      for (const deletion of await deletionsFor(entry)) {
        for (const failure of await deleteEverywhere(deletion)) failures.set(...failure);
        if (deletion.kind !== 'messages') continue;
        messages += deletion.messages.length;
        if (about.kind === 'forgotten' || about.kind === 'purged') await hideFromHistory(deletion);
      }
    });
    return { failures, messages };
  };
}

/** Of an edited message's answers those go that say what it says no more. */
export async function deleteAnswers(
  answers: Pick<AnswerKeeper, 'deleteUnsent'>,
  change: MessageChange,
  messages: readonly WithdrawnMessage[],
): Promise<void> {
  const ids = new Set(messageIdsOf(change));
  const before = messages.find((message) => ids.has(message.before.id))?.before.text ?? '';
  const gone = change.kind === 'edited' ? withdrawnTerms(before, change.text) : undefined;
  await answers.deleteUnsent(
    change.channelId,
    ({ messageIds, text, footer }) =>
      messageIds.some((id) => ids.has(id)) &&
      (gone === undefined || saysAny([text, ...(footer?.lines ?? [])].join('\n'), gone)),
  );
}

/** What was said since a command stays, with the answers to it, though a later start finishes the command. */
function isBefore(commandId: string): (message: LoggedMessage) => boolean {
  return (message) => {
    const request = message.role === 'assistant' ? message.replyTo.at(-1) : undefined;
    return !isYounger(request ?? message.id, commandId);
  };
}
