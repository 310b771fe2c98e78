import type { MessageChange, RecentChanges } from '../core/changes.ts';
import type { PresentPlace } from '../core/channels.ts';
import type {
  CommandContext,
  CommandHandlers,
  Unstarted,
  StartedCommandHandlers,
  CommandReply,
  CommandRequest,
} from '../core/commands.ts';
import { createKeyedQueue, type KeyedQueue } from '../core/keyed-queue.ts';
import type { Logger } from '../core/logger.ts';
import {
  edited,
  stopEmoji,
  type BotHandlers,
  type CommandCall,
  type IncomingMessage,
} from '../core/message.ts';
import { sessionName, type SessionKey, hasMoreReaders } from '../core/place.ts';
import type { ReplyPort, WaitingReactionPort } from '../core/reply.ts';
import { maskSecrets } from '../core/secrets.ts';
import type { Clock } from '../core/time.ts';
import { sessionOf } from '../core/turn-context.ts';
import type { Work, Writes } from '../core/writes.ts';
import { hideFromHistory, markHandled, type Outbox, saveBestEffort, type PersonalOutbox } from './outbox.ts';
import { endRefused, keptBackLine, lateLine, sendLine } from './reply.ts';
import type { SessionTurns } from './sessions.ts';
import type { WaitingReactions } from './waiting-reactions.ts';

export interface IntakePorts {
  readonly turns: SessionTurns;
  readonly waitingReactions: Pick<WaitingReactions, 'while'>;
  readonly reactions: Pick<WaitingReactionPort, 'refuse'>;
  readonly replies: Pick<ReplyPort, 'tellRefused' | 'send'>;
  readonly runCommand: (message: IncomingMessage, command: CommandCall) => Promise<void>;
  readonly commands: StartedCommandHandlers;
  readonly begin: Writes['begin'];
  /** Keeps a session's commands in order, in whichever form; turns wait for those before them [F3], commands for no turn [F2]. */
  readonly commandOrder: KeyedQueue;
  /** Knows of every edit and deletion first. */
  readonly changes: Pick<RecentChanges, 'latest'>;
  /** Takes a change to everybody who may hold the message [G5]. Must not reject. */
  readonly record: (change: MessageChange) => Promise<void>;
  /** Resolves when nothing of the person is being erased. */
  readonly erased: (userId: string) => Promise<void>;
  /**
   * Whether a person had erased what was said at a time [K11]; `ifUnknown` where that cannot be read. Must
   * not reject.
   */
  readonly erasedBy: (userId: string, ifUnknown: boolean) => Promise<(at: string) => boolean>;
  readonly lockedOut: BotHandlers['lockedOut'];
  readonly outbox: Pick<PersonalOutbox, 'isHandled' | 'isHidden' | 'markHandled' | 'hide' | 'begin'>;
  /** Ids of each `/ask` that this process answers: recovery leaves them alone. */
  readonly asking: Set<string>;
  /** Writes down its words, where they may be. Must not reject. */
  readonly recordAsked: (message: IncomingMessage, work: Work) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Its author has surely not erased a message as new as this. */
const newMs = 60_000;

const tooMuchWaits = '🚫 Too much of yours waits for an answer already. Please ask again in a moment.';

type Taken = Pick<IncomingMessage, 'id' | 'channelId'>;

/** Handles the gateway's events, each message once [G3]. */
export function createIntake(options: IntakePorts): BotHandlers & CommandHandlers {
  const { turns, waitingReactions, commandOrder, changes, outbox, logger } = options;
  const taken = new Set<string>();
  /** Hands on a session's messages in order, however long each look-up takes. */
  const line = createKeyedQueue();

  /** Resolves with what admits the next message, once the earlier ones have gone on. */
  function standInLine(session: SessionKey): Promise<() => void> {
    return new Promise((resolve) => {
      void line.run(sessionName(session), () => new Promise<void>((leave) => resolve(leave)));
    });
  }

  async function once(message: Taken, work: () => Promise<void>): Promise<void> {
    if (taken.has(message.id)) return;
    taken.add(message.id);
    try {
      if (!(await isKnown(message, outbox.isHandled))) await work();
    } finally {
      taken.delete(message.id);
    }
  }

  /** Never rejects. */
  async function isKnown({ channelId, id }: Taken, ask: Outbox['isHandled']): Promise<boolean> {
    try {
      return await ask(channelId, id);
    } catch (error) {
      logger.error('the outbox could not be read', { channelId, error });
      return false;
    }
  }

  return {
    async message(message) {
      const { command, channelId, author } = message;
      if (command === undefined) {
        const first = standInLine({ channelId, userId: author.id });
        try {
          await once(message, () => waitingReactions.while(message, () => submit(message, first)));
        } finally {
          (await first)();
          options.asking.delete(message.id);
        }
        return;
      }
      await commandOrder.run(sessionName({ channelId, userId: author.id }), () =>
        once(message, async () => {
          if (await isErased(message)) await markHandled(options, channelId, [message.id]);
          else if (await wasGiven(message)) await passOver(message);
          else await options.runCommand(message, command);
        }),
      );
    },
    async asked(message, state) {
      const { id, channelId, author, place } = message;
      if (state === 'dropped') {
        options.asking.delete(id);
        await withdraw(message);
        return markHandled(options, channelId, [id]);
      }
      options.asking.add(id);
      const work = await options.begin(author.id);
      const question = { messageIds: [id], userId: author.id, speakerName: author.name, place };
      await saveBestEffort(logger, 'that something was asked', () =>
        outbox.begin({ ...question, work, isAsked: true, replyIds: [] }),
      );
      await options.recordAsked(message, work);
    },
    lockedOut: options.lockedOut,
    unanswerable: (message) => once(message, () => tellUnanswerable(message)),
    complete: (request) => options.commands.complete(request),
    menu: (request) =>
      commandOrder.run(sessionName(sessionOf(request)), async () =>
        options.commands.menu(await started(request)),
      ),
    command: (request) =>
      commandOrder.run(sessionName(sessionOf(request)), async () =>
        options.commands.command(await started(request)),
      ),
    async edited(edit) {
      const { channelId, messageId, authorId, text, editedAt } = edit;
      if (edit.isCommand) {
        // Fetched after a gap, it would be taken for a command that was given.
        await Promise.all([
          options.record({ kind: 'deleted', channelId, messageIds: [messageId], text: maskSecrets(text) }),
          markHandled(options, channelId, [messageId]),
        ]);
        return;
      }
      const author = authorId === undefined ? {} : { authorId };
      await options.record({ kind: 'edited', channelId, messageId, ...author, text, editedAt });
    },
    deleted: (channelId, messageIds) => options.record({ kind: 'deleted', channelId, messageIds }),
    async reacted(channelId, messageId, userId, emoji) {
      if (emoji !== stopEmoji) return;
      await turns.stopBy(userId, messageId, () => markHandled(options, channelId, [messageId]));
    },
  };

  async function started<Request extends Unstarted<CommandContext>>(request: Request) {
    return { ...request, work: await options.begin(request.speaker.id) };
  }

  /** The message may have been edited or deleted before it could wait for its turn. */
  async function submit(message: IncomingMessage, first: Promise<() => void>): Promise<void> {
    const isGone = await isErased(message);
    const letNextOn = await first;
    // No more waiting from here: later changes find the message in the session.
    if (isGone) return markHandled(options, message.channelId, [message.id]);
    const changed = changes.latest(message.id);
    if (changed !== undefined && changed.text === undefined) return;
    const submitted = turns.submit(edited(message, changed));
    letNextOn();
    const outcome = await submitted;
    if (outcome === 'refused') await refuse(message);
  }

  /** Whether its author has had everything erased since. Never rejects. */
  async function isErased({ author, at }: IncomingMessage): Promise<boolean> {
    await options.erased(author.id);
    const isOld = options.clock().getTime() - Date.parse(at) > newMs;
    return (await options.erasedBy(author.id, isOld))(at);
  }

  /**
   * Too much waits [L1]: the author gets a sign, and the message is neither answered, even after a restart,
   * nor read.
   */
  async function refuse(message: IncomingMessage): Promise<void> {
    const { channelId, id, author, askedIn } = message;
    logger.info('a message was refused: too much is waiting', { channelId, userId: author.id });
    if (askedIn === undefined) options.reactions.refuse(channelId, id);
    else {
      await options.replies
        .send(channelId, tooMuchWaits, id, (lineId) => hideFromHistory(options, channelId, [lineId]))
        .catch((error: unknown) => logger.warn('a refusal could not be told', { channelId, error }));
      await withdraw(message);
    }
    await passOver(message);
  }

  /** The words of an `/ask` are in the log before its turn. */
  function withdraw({ channelId, id }: Taken): Promise<void> {
    return options.record({ kind: 'deleted', channelId, messageIds: [id] });
  }

  /** It is neither answered, even after a restart, nor part of history. */
  async function passOver({ channelId, id }: Taken): Promise<void> {
    await markHandled(options, channelId, [id]);
    await hideFromHistory(options, channelId, [id]);
  }

  /** A copy of what was carried out as a command already, before its proxy took it away [G2a]; such are hidden. Never rejects. */
  async function wasGiven({ channelId, originalId: id }: IncomingMessage): Promise<boolean> {
    return id !== undefined && isKnown({ channelId, id }, outbox.isHidden);
  }

  /** The author gets one sign, which a restart does not repeat [G3d]. */
  async function tellUnanswerable({
    id: messageId,
    channelId,
    author,
  }: Parameters<BotHandlers['unanswerable']>[0]): Promise<void> {
    await markHandled(options, channelId, [messageId]);
    await options.replies.tellRefused({ channelId, messageId, userId: author.id, isDm: false }, 'place');
  }
}

export interface CommandPorts {
  readonly handle: (request: CommandRequest) => Promise<CommandReply>;
  readonly begin: Writes['begin'];
  readonly outbox: PersonalOutbox;
  readonly replies: ReplyPort;
  readonly presentPlace: PresentPlace;
  readonly logger: Logger;
}

/**
 * Answers a `!memory` message without any model and without waiting for turns [F2]; neither it nor the answer
 * enters history or log. The answer is kept back if it gained readers [V2]. Changes are on disk before the
 * answer. Never rejects.
 */
export async function runCommand(
  message: IncomingMessage,
  command: CommandCall,
  ports: CommandPorts,
): Promise<void> {
  const { handle, begin, outbox, replies, presentPlace, logger } = ports;
  const { channelId, author, place } = message;
  const hide = (id: string): Promise<void> => hideFromHistory(ports, channelId, [id]);
  try {
    await hide(message.id);
    const work = await begin(author.id);
    const { text, buttons, onReplied } = await handle({
      id: message.id,
      command,
      isProxied: message.isProxied,
      speaker: { id: author.id, name: author.name, isOwner: message.isOwner },
      place,
      ephemeral: false,
      at: message.at,
      files: message.files,
      repliesTo: message.repliesTo,
      mentions: message.mentions,
      work,
    });
    const question = { userId: author.id, work, messageIds: [message.id], speakerName: author.name, place };
    await saveBestEffort(logger, 'the answer', () => outbox.prepare({ ...question, isCommand: true, text }));
    let wasSent = false;
    try {
      const mayShow = async () => !hasMoreReaders(place, await presentPlace(place));
      const under = buttons && { personId: author.id, buttons };
      const sent = await replies
        .send(channelId, text, message.id, hide, under, mayShow)
        .catch(() => sendLine(ports, question, lateLine));
      wasSent = sent?.kind === 'sent';
      if (sent?.kind === 'withheld') await sendLine(ports, question, keptBackLine);
      if (sent?.kind === 'refused') await endRefused(ports, question, sent);
    } finally {
      await onReplied?.(wasSent);
      // It is done; doing it again later could undo what came after it.
      await outbox.markHandled(channelId, [message.id]);
    }
  } catch (error) {
    logger.error('a command could not be finished', { channelId, userId: author.id, error });
  }
}
