import type { MessageChange, RecentChanges } from '../core/changes.ts';
import { edited, type IncomingMessage } from '../core/message.ts';
import { measure } from '../core/logger.ts';
import { sessionName } from '../core/place.ts';
import { compareSnowflakes } from '../core/snowflake.ts';
import { messageMaxChars } from '../prompt/quoted.ts';
import { sleep, type Timer } from '../core/time.ts';
import { isSameReach, reachOf } from '../core/visibility.ts';

/** Must not throw. The control may end it even before it begins. */
export type TurnRunner = (messages: readonly IncomingMessage[], control: TurnControl) => Promise<unknown>;

/** Resolves when the author may begin a turn [L2], or on abort; must not reject. */
export type MayBegin = (message: IncomingMessage, signal: AbortSignal) => Promise<void>;

/** The most that may wait for a session's next turn [L1]. */
const maxWaiting = { messages: 20, characters: messageMaxChars };

/** `refused`: too much waits, and no turn takes the message. */
export type SubmitOutcome = 'over' | 'refused';

/**
 * How long a forwarded message waits for its comment: Discord's dialog sends that as a message right behind
 * [G6].
 */
const commentWaitMs = 1000;

interface Waiting {
  message: IncomingMessage;
  readonly done: (outcome: SubmitOutcome) => void;
}

interface Session {
  waiting: Waiting[];
  running: readonly IncomingMessage[];
  control: TurnControl;
  /** Ends the wait for a comment. */
  hurry: () => void;
  /** Resolves when nothing runs or waits in it. */
  over: Promise<void>;
}

export type SessionTurns = ReturnType<typeof createSessionTurns>;

/**
 * Keeps each session's messages in order: while a turn runs, the speaker's further messages in the channel
 * wait and form the next turn [F3]. Talk before and after a change of readers is kept apart, since each is as
 * private as the channel was [V1]. What waits is bounded [L1], also for the author's limit of turns [L2]. A
 * forwarded message without a word waits a moment for its comment [G6].
 */
export function createSessionTurns(
  run: TurnRunner,
  changes: Pick<RecentChanges, 'wasDeleted'>,
  timer: Timer,
  mayBegin?: MayBegin,
) {
  const sessions = new Map<string, Session>();
  let isStopped = false;

  async function work(name: string, session: Session): Promise<void> {
    for (let [first] = session.waiting; first !== undefined; [first] = session.waiting) {
      const { message } = first;
      const control = new TurnControl();
      session.control = control;
      if (mayBegin !== undefined) await mayBegin(message, control.signal);
      if (isUncommented(session)) await untilCommented(session);
      // What waits now came after that: it begins by itself.
      if (control.ending !== undefined) continue;
      // All of it may have been withdrawn meanwhile.
      if (session.waiting.length === 0) break;
      const batch = session.waiting.splice(0, answeredTogether(session.waiting));
      session.running = batch.map((entry) => entry.message);
      await run(session.running, control);
      session.running = [];
      for (const entry of batch) entry.done('over');
    }
    sessions.delete(name);
  }

  /** Waits for the comment on a forwarded message, and on one that follows it. */
  async function untilCommented(session: Session): Promise<void> {
    while (isUncommented(session)) {
      const newest = session.waiting.at(-1);
      const next = new AbortController();
      session.hurry = () => next.abort();
      await sleep(commentWaitMs, next.signal, timer);
      if (session.waiting.at(-1) === newest) return;
    }
  }

  /** Takes nothing more; what waits is dropped (it is fetched after the restart), what runs goes on. */
  function stop(): void {
    isStopped = true;
    for (const session of sessions.values()) {
      dropWaiting(session, () => true);
      session.hurry();
      if (session.running.length === 0) session.control.end('shutdown');
    }
  }

  return {
    /** Resolves when the message's turn is over, it was withdrawn, or it is refused. */
    submit(message: IncomingMessage): Promise<SubmitOutcome> {
      if (isStopped) return Promise.resolve('over');
      const name = sessionName({ channelId: message.channelId, userId: message.author.id });
      const session = sessions.get(name);
      return new Promise((done) => {
        const entry = { message, done };
        if (session !== undefined) {
          // After a gap older messages may come late; the newest gets the reply.
          session.waiting = [...session.waiting, entry].toSorted((a, b) =>
            compareSnowflakes(a.message.id, b.message.id),
          );
          measure('waited', { queue: 'turns' });
          refuseSurplus(session, entry);
          session.hurry();
          return;
        }
        const over = Promise.resolve();
        const started = { waiting: [entry], running: [], control: new TurnControl(), hurry: () => {}, over };
        sessions.set(name, started);
        started.over = work(name, started);
      });
    },

    /**
     * A waiting message takes its edit or is dropped; a turn ends when all of its messages, or one of its
     * reply, are deleted.
     */
    follow(change: MessageChange): void {
      for (const session of sessions.values()) {
        if (change.kind === 'edited') {
          for (const entry of session.waiting) {
            if (entry.message.id !== change.messageId) continue;
            entry.message = edited(entry.message, change);
            refuseSurplus(session, entry);
          }
          continue;
        }
        dropWaiting(session, ({ id }) => change.messageIds.includes(id));
        const { running, control } = session;
        if (running.length === 0) continue;
        if (running.every(({ id }) => changes.wasDeleted(id))) control.end('deleted');
        if (change.messageIds.some((id) => control.isReply(id))) control.end('reply-deleted');
      }
    },

    /**
     * An author stops the answer by a message of theirs, or by the bot's reply. The running turn ends; a
     * waiting message is dropped once `drop` has noted that.
     */
    async stopBy(userId: string, messageId: string, drop: () => Promise<void>): Promise<void> {
      for (const session of sessions.values()) {
        const { running, waiting, control } = session;
        const isTheirs = (message: IncomingMessage): boolean => message.author.id === userId;
        const isRunning = control.isReply(messageId) || running.some(({ id }) => id === messageId);
        if (isRunning && running.every(isTheirs)) control.end('stopped');
        const entry = waiting.find(({ message }) => message.id === messageId && isTheirs(message));
        if (entry === undefined) continue;
        session.waiting = waiting.filter((each) => each !== entry);
        await drop();
        entry.done('over');
      }
    },

    /** A channel or thread is deleted: its turns end. */
    endIn(channelId: string): void {
      for (const [name, session] of sessions) {
        if (!name.startsWith(`${channelId}:`)) continue;
        dropWaiting(session, () => true);
        if (session.running.length > 0) session.control.end('channel-deleted');
      }
    },

    /** A person has everything erased [K11]: their turns end without a trace. */
    endTurnsOf(userId: string): void {
      for (const session of sessions.values()) {
        const isTheirs = ({ author }: IncomingMessage): boolean => author.id === userId;
        // A turn that waits to begin ends too: it would be noted of them.
        if (dropWaiting(session, isTheirs) || session.running.some(isTheirs)) session.control.end('erased');
      }
    },

    /** Running turns, and waiting messages. */
    get open(): { readonly running: number; readonly waiting: number } {
      const all = [...sessions.values()];
      const waiting = all.reduce((sum, session) => sum + session.waiting.length, 0);
      const running = all.filter((session) => session.running.length > 0).length;
      return { running, waiting };
    },

    /** Resolves when a person's turns that run or wait now are over; `undefined` without any. */
    overFor(userId: string): Promise<unknown> | undefined {
      const theirs = [...sessions].filter(([name]) => name.endsWith(`:${userId}`));
      return theirs.length > 0 ? Promise.all(theirs.map(([, { over }]) => over)) : undefined;
    },

    /** Resolves when no turn runs or waits. */
    async idle(): Promise<void> {
      while (sessions.size > 0) await Promise.all(Array.from(sessions.values(), ({ over }) => over));
    },

    stop,

    /** Ends the running turns too. */
    abort(): void {
      stop();
      for (const session of sessions.values()) session.control.end('shutdown');
    },
  };
}

/** Whether the newest waiting message is a forward without a comment. */
function isUncommented({ waiting }: Session): boolean {
  const newest = waiting.at(-1)?.message;
  return newest?.forwards !== undefined && newest.text === '';
}

/** Waiting messages that nobody is to answer any more; tells whether there were any. */
function dropWaiting(session: Session, isGone: (message: IncomingMessage) => boolean): boolean {
  const gone = session.waiting.filter(({ message }) => isGone(message));
  session.waiting = session.waiting.filter((entry) => !gone.includes(entry));
  for (const entry of gone) entry.done('over');
  return gone.length > 0;
}

/** Refuses a new or edited message that would exceed the bound. */
function refuseSurplus(session: Session, entry: Waiting): void {
  const { waiting } = session;
  const characters = waiting.reduce((sum, { message }) => sum + message.text.length, 0);
  if (waiting.length <= maxWaiting.messages && characters <= maxWaiting.characters) return;
  session.waiting = waiting.filter((each) => each !== entry);
  entry.done('refused');
}

/** How many messages from the first on have the same readers; each `/ask` is alone, as its reply is [EW2]. */
function answeredTogether(waiting: readonly Waiting[]): number {
  const ask = waiting.findIndex(({ message }) => message.askedIn !== undefined);
  if (ask !== -1) return ask === 0 ? 1 : answeredTogether(waiting.slice(0, ask));
  const [first, ...reaches] = waiting.map(({ message }) => reachOf(message.place));
  const other = reaches.findIndex(
    (reach) => first === undefined || reach === undefined || !isSameReach(first, reach),
  );
  return other === -1 ? waiting.length : other + 1;
}

/**
 * Why a turn ends early: its messages, channel or reply were deleted; its author stops it; somebody new reads
 * the channel; the bot stops; its author is erased.
 */
export type TurnEnding =
  | 'deleted'
  | 'channel-deleted'
  | 'reply-deleted'
  | 'stopped'
  | 'more-readers'
  | 'shutdown'
  | 'erased';

function takesAway(ending: TurnEnding): boolean {
  return ending !== 'stopped' && ending !== 'shutdown';
}

/** How the outside steers a running turn and sees its state. */
export class TurnControl {
  readonly #model = new AbortController();
  #takeAway: (() => void) | undefined;
  #ending: TurnEnding | undefined;
  #replyIds: readonly string[] = [];

  get ending(): TurnEnding | undefined {
    return this.#ending;
  }

  /** Aborted when the model need not go on. */
  get signal(): AbortSignal {
    return this.#model.signal;
  }

  /** Whether nothing of the reply may stay visible. */
  get isTakenAway(): boolean {
    return this.#ending !== undefined && takesAway(this.#ending);
  }

  /** Calls back as soon as that is so. */
  whenTakenAway(takeAway: () => void): void {
    this.#takeAway = takeAway;
  }

  /** The first ending counts, except that those which remove the reply win. */
  end(ending: TurnEnding): void {
    if (this.isTakenAway || (this.#ending !== undefined && !takesAway(ending))) return;
    this.#ending = ending;
    this.#model.abort();
    if (takesAway(ending)) this.#takeAway?.();
  }

  noteReply(messageIds: readonly string[]): void {
    this.#replyIds = messageIds;
  }

  isReply(messageId: string): boolean {
    return this.#replyIds.includes(messageId);
  }
}
