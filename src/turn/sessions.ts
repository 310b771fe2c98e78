import { createAbortGroup } from '../core/abort-group.ts';
import type { MessageChange, RecentChanges } from '../core/changes.ts';
import type { IncomingMessage } from '../core/chat.ts';
import { sessionName } from '../core/place.ts';
import { compareSnowflakes } from '../core/snowflake.ts';
import { messageMaxChars } from '../prompt/quoted.ts';
import { pauseFor } from '../core/time.ts';
import { isSameReach, reachOf } from '../core/visibility.ts';

/** Runs one turn over the messages given; must not throw. The control may tell it to end, also before it begins. */
export type TurnRunner = (messages: readonly IncomingMessage[], control: TurnControl) => Promise<unknown>;

/** Resolves when the author of a message may begin a turn [L2], or the signal is aborted; must not reject. */
export type MayBegin = (message: IncomingMessage, signal: AbortSignal) => Promise<void>;

/** What waits for a session's next turn at most [L1]: messages, and characters of their texts together. */
const maxWaiting = { messages: 20, characters: messageMaxChars };

/** `refused`: too much waits in the session, and no turn takes the message. */
export type SubmitOutcome = 'over' | 'refused';

/** Milliseconds in which the comment on a message that was passed on has come: Discord's dialog sends it right behind, as a message of its own [G6]. */
const commentWaitMs = 1000;

/** Resolves after so many milliseconds, or when the signal is aborted. */
type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

interface Waiting {
  message: IncomingMessage;
  readonly done: (outcome: SubmitOutcome) => void;
}

interface Session {
  waiting: Waiting[];
  running: readonly IncomingMessage[];
  control: TurnControl;
  /** Ends the wait for more of what they say. */
  hurry: () => void;
}

/**
 * Keeps each session's messages in order: while a turn runs, what the same speaker writes in the same channel waits and is
 * taken together as the next turn [F3]. Other sessions do not wait. What was said before and after the channel's readers changed
 * is not taken together, since each is as private as the channel was then [V1]. What waits is bounded [L1], also while its author has begun too many
 * turns [L2]. A message that was passed on without a word waits a moment for the comment that belongs to it [G6].
 */
export class SessionTurns {
  readonly #run: TurnRunner;
  readonly #changes: Pick<RecentChanges, 'wasDeleted'>;
  readonly #sessions = new Map<string, Session>();
  readonly #mayBegin: MayBegin | undefined;
  readonly #pause: Pause;
  readonly #waits = createAbortGroup();
  readonly #quiet: (() => void)[] = [];
  #stopped = false;
  #stoppedTurns = 0;

  constructor(
    run: TurnRunner,
    changes: Pick<RecentChanges, 'wasDeleted'>,
    mayBegin?: MayBegin,
    pause: Pause = pauseFor,
  ) {
    this.#pause = pause;
    this.#run = run;
    this.#changes = changes;
    this.#mayBegin = mayBegin;
  }

  /** Resolves when the turn that took this message is over, the message was withdrawn, or it is refused. */
  submit(message: IncomingMessage): Promise<SubmitOutcome> {
    if (this.#stopped) return Promise.resolve('over');
    const name = sessionName({ channelId: message.channelId, userId: message.author.id });
    const session = this.#sessions.get(name);
    return new Promise((done) => {
      if (session !== undefined) {
        const entry = { message, done };
        // After a gap older messages may come behind newer ones; the newest is the one that is replied to.
        session.waiting = [...session.waiting, entry].toSorted(byTime);
        refuseSurplus(session, entry);
        session.hurry();
        return;
      }
      const started = {
        waiting: [{ message, done }],
        running: [],
        control: new TurnControl(),
        hurry: () => {},
      };
      this.#sessions.set(name, started);
      void this.#work(name, started);
    });
  }

  /**
   * An edited message that still waits is taken with its new text, a deleted one is dropped; a turn ends when all of its messages are deleted,
   * or one of its reply.
   */
  follow(change: MessageChange): void {
    for (const session of this.#sessions.values()) {
      if (change.kind === 'edited') {
        for (const entry of session.waiting) {
          if (entry.message.id !== change.messageId) continue;
          entry.message = { ...entry.message, text: change.text };
          refuseSurplus(session, entry);
        }
        continue;
      }
      const gone = session.waiting.filter(({ message }) => change.messageIds.includes(message.id));
      session.waiting = session.waiting.filter((entry) => !gone.includes(entry));
      for (const entry of gone) entry.done('over');
      const { running, control } = session;
      if (running.length === 0) continue;
      if (running.every(({ id }) => this.#changes.wasDeleted(id))) control.end('deleted');
      if (change.messageIds.some((id) => control.isReply(id))) control.end('reply-deleted');
    }
  }

  /**
   * The author of a message wants no more of the answer; the message is theirs, or the bot's reply to it. The turn that runs ends; of a message
   * that waits nothing more comes, once `drop` has noted that. Nobody else can do that.
   */
  async stopBy(userId: string, messageId: string, drop: () => Promise<void>): Promise<void> {
    for (const session of this.#sessions.values()) {
      const { running, waiting, control } = session;
      const isTheirs = (message: IncomingMessage): boolean => message.author.id === userId;
      const isRunning = control.isReply(messageId) || running.some(({ id }) => id === messageId);
      if (isRunning && running.every(isTheirs)) {
        if (control.ending === undefined) this.#stoppedTurns += 1;
        control.end('stopped');
      }
      const entry = waiting.find(({ message }) => message.id === messageId && isTheirs(message));
      if (entry === undefined) continue;
      session.waiting = waiting.filter((each) => each !== entry);
      await drop();
      entry.done('over');
    }
  }

  /** A channel or thread is deleted: turns there end, those that wait too. */
  endIn(channelId: string): void {
    for (const [name, session] of this.#sessions) {
      if (!name.startsWith(`${channelId}:`)) continue;
      for (const entry of session.waiting.splice(0)) entry.done('over');
      if (session.running.length > 0) session.control.end('channel-deleted');
    }
  }

  /** A person has everything erased [K11]: their turns end without a trace, those that wait too. */
  endOf(userId: string): void {
    for (const session of this.#sessions.values()) {
      const isTheirs = ({ author }: IncomingMessage): boolean => author.id === userId;
      const gone = session.waiting.filter(({ message }) => isTheirs(message));
      session.waiting = session.waiting.filter((entry) => !gone.includes(entry));
      for (const entry of gone) entry.done('over');
      if (session.running.some(isTheirs)) session.control.end('erased');
    }
  }

  /** Turns that run, messages that wait for one, and turns that their authors have stopped since the start. */
  get open(): { readonly running: number; readonly waiting: number; readonly stopped: number } {
    const sessions = [...this.#sessions.values()];
    const waiting = sessions.reduce((sum, session) => sum + session.waiting.length, 0);
    const running = sessions.filter((session) => session.running.length > 0).length;
    return { running, waiting, stopped: this.#stoppedTurns };
  }

  /** Resolves when no turn runs or waits. */
  idle(): Promise<void> {
    if (this.#sessions.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#quiet.push(resolve));
  }

  /** Takes nothing more; what waits is dropped (it is fetched again after the restart), what runs goes on. */
  stop(): void {
    this.#stopped = true;
    this.#waits.end();
    for (const session of this.#sessions.values()) {
      for (const entry of session.waiting) entry.done('over');
      session.waiting = [];
    }
  }

  /** Ends the running turns too. */
  abort(): void {
    this.stop();
    for (const session of this.#sessions.values()) session.control.end('shutdown');
  }

  async #work(name: string, session: Session): Promise<void> {
    for (let [first] = session.waiting; first !== undefined; [first] = session.waiting) {
      const { message } = first;
      const mayBegin = this.#mayBegin;
      if (mayBegin !== undefined) await this.#waits.run((signal) => mayBegin(message, signal));
      if (isUncommented(session)) await this.#untilCommented(session);
      // All of it may have been withdrawn meanwhile.
      if (session.waiting.length === 0) break;
      const batch = session.waiting.splice(0, sameReaders(session.waiting));
      session.running = batch.map((entry) => entry.message);
      session.control = new TurnControl();
      await this.#run(session.running, session.control);
      session.running = [];
      for (const entry of batch) entry.done('over');
    }
    this.#sessions.delete(name);
    if (this.#sessions.size === 0) for (const resolve of this.#quiet.splice(0)) resolve();
  }

  /** Waits for what comes behind a message that was passed on, and if that is another one, for what comes behind that. */
  async #untilCommented(session: Session): Promise<void> {
    while (isUncommented(session)) {
      const newest = session.waiting.at(-1);
      const next = new AbortController();
      session.hurry = () => next.abort();
      await this.#waits.run((end) => this.#pause(commentWaitMs, AbortSignal.any([next.signal, end])));
      if (session.waiting.at(-1) === newest) return;
    }
  }
}

function byTime(a: Waiting, b: Waiting): number {
  return compareSnowflakes(a.message.id, b.message.id);
}

/** Whether the newest message that waits was passed on, and nothing said of it. */
function isUncommented({ waiting }: Session): boolean {
  const newest = waiting.at(-1)?.message;
  return newest?.forwards !== undefined && newest.text === '';
}

/** Refuses a message that has just come, or was just edited, where more than the bound would wait with it. */
function refuseSurplus(session: Session, entry: Waiting): void {
  const { waiting } = session;
  const characters = waiting.reduce((sum, { message }) => sum + message.text.length, 0);
  if (waiting.length <= maxWaiting.messages && characters <= maxWaiting.characters) return;
  session.waiting = waiting.filter((each) => each !== entry);
  entry.done('refused');
}

/** How many messages from the first on were said to the same readers. */
function sameReaders(waiting: readonly Waiting[]): number {
  const [first, ...rest] = waiting.map(({ message }) => reachOf(message.place));
  const other = rest.findIndex((reach) => first !== undefined && !isSameReach(first, reach));
  return other === -1 ? waiting.length : other + 1;
}

/**
 * Why a turn ends before its answer is whole: all that it answers was deleted; its channel was; somebody deleted the reply; its author wants no
 * more; somebody was let into the channel; the bot stops; all that is held about its author is erased.
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

/** What a turn is told by the outside while it runs, and what the outside must know of it. */
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

  /** Its person has everything erased. */
  get isErased(): boolean {
    return this.#ending === 'erased';
  }

  /** Whether nothing of the reply may stay where people see it. */
  get isTakenAway(): boolean {
    return this.#ending !== undefined && takesAway(this.#ending);
  }

  /** Calls back once that is so, if it is not yet. */
  whenTakenAway(takeAway: () => void): void {
    this.#takeAway = takeAway;
  }

  /** The first ending counts, but that what takes the reply away comes before what lets it stand. */
  end(ending: TurnEnding): void {
    if (this.isTakenAway || (this.#ending !== undefined && !takesAway(ending))) return;
    this.#ending = ending;
    this.#model.abort();
    if (takesAway(ending)) this.#takeAway?.();
  }

  /** The messages that the reply has by now. */
  noteReply(messageIds: readonly string[]): void {
    this.#replyIds = messageIds;
  }

  isReply(messageId: string): boolean {
    return this.#replyIds.includes(messageId);
  }
}
