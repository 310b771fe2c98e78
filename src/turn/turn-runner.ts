import type { IncomingMessage } from '../core/chat.ts';
import { ModelError } from '../core/errors.ts';
import type { Clock } from '../core/time.ts';
import { becamePublic } from '../core/place.ts';
import { sessionOf } from '../core/turn-context.ts';
import type { TurnContext } from '../core/turn-context.ts';
import type { SessionLog } from '../memory/session-log/session-log.ts';
import type { AfterTurn } from './after-turn.ts';
import { beginAnswerReply, newestOf } from './answer-reply.ts';
import type { AnswerReply, AnswerReplyOptions, Question } from './answer-reply.ts';
import { brokenOffLine, failureLine, keptBackLine, lengthLimitLine, stoppedLine } from './failure-line.ts';
import { createKeep } from './keep.ts';
import { lineUnder } from './line-under.ts';
import type { TurnRunner } from './session-turns.ts';
import type { TurnControl } from './turn-control.ts';

/** The model's answer to a turn. `stop` tells whether the text is whole. */
export interface Answer {
  readonly text: string;
  readonly stop: 'whole' | 'cut';
}

/** What is told while an answer is made. */
export interface AnswerListener {
  /** The text so far, which may begin anew. */
  readonly onText: (textSoFar: string) => void;
  /** Something was done that people are to be told, whatever becomes of the answer. */
  readonly onNote: (note: string) => void;
}

/** Reads memory, builds the prompt, asks the model. Rejects with `ModelError`. */
export type AnswerTurn = (
  context: TurnContext,
  signal: AbortSignal,
  listener: AnswerListener,
) => Promise<Answer>;

export interface TurnRunnerOptions extends AnswerReplyOptions {
  readonly answer: AnswerTurn;
  readonly sessionLog: Pick<SessionLog, 'recordUser' | 'recordReply'>;
  readonly afterTurn: Pick<AfterTurn, 'schedule'>;
  readonly clock: Clock;
  /** A short reference that people can quote and the log can be searched for. */
  readonly makeReference: () => string;
}

/** What is to be sent: an answer, which may be empty, and a line under it or in its place. */
interface Outcome {
  readonly text: string;
  readonly problem?: string;
}

/** One turn on its way. */
interface Run {
  readonly context: TurnContext;
  readonly question: Question;
  readonly control: TurnControl;
  readonly reply: AnswerReply;
  /** What was done, to be told under the reply. */
  readonly notes: string[];
}

/**
 * One turn from the logged message to the sent, logged reply [F4]. The order makes a kill at any point safe: the user's words are
 * on disk before the model is called; what is shown of the answer while it grows is in the journal; the whole answer is on disk before it is
 * finished; the messages count as handled once it was. Log and journal hold the place as it was when the message was said; the answer is made
 * for who can read it by now, and shown only as long as nobody else can.
 */
export function createTurnRunner(options: TurnRunnerOptions): TurnRunner {
  const { journal, sessionLog, afterTurn, replies, presentPlace, clock, logger } = options;
  const keep = createKeep(logger);

  return async (messages, control) => {
    const context = contextOf(messages, clock());
    const channelId = context.place.channelId;
    const stopTyping = replies.typing(channelId);
    try {
      await keep('the message', () => sessionLog.recordUser(context));
      const place = await presentPlace(context.place);
      const isWider = becamePublic(context.place, place);
      const question = questionOf(context);
      const reply = await beginAnswerReply(options, question, place, control);
      const run = { context, question, control, reply, notes: [] };
      const outcome = await ask(run, isWider ? { ...context, place, saidIn: context.place } : context);
      if (control.takenAway.aborted) await takeAway(run);
      else if (outcome !== undefined) await deliver(run, outcome);
    } catch (error) {
      logger.error('a turn could not be finished', { channelId, userId: context.speaker.id, error });
    } finally {
      stopTyping();
      if (context.speaker.isBot === undefined) afterTurn.schedule(sessionOf(context));
    }
  };

  /** Nothing where the turn is left to the next start. */
  async function ask({ control, reply, notes }: Run, context: TurnContext): Promise<Outcome | undefined> {
    const { signal } = control;
    try {
      signal.throwIfAborted();
      const { text, stop } = await options.answer(context, signal, {
        onText: (soFar) => reply.show(soFar),
        onNote: (note) => notes.push(note),
      });
      return stop === 'cut' ? { text, problem: lengthLimitLine } : { text };
    } catch (error) {
      const partialText = error instanceof ModelError ? error.partialText.trim() : '';
      if (control.ending === 'stopped') return { text: partialText, problem: stoppedLine };
      if (control.ending === 'shutdown' && (!reply.hasBegun || partialText === '')) {
        if (!reply.hasBegun) await reply.withdraw();
        return undefined;
      }
      const reference = options.makeReference();
      const { speaker, place } = context;
      if (!control.takenAway.aborted)
        logger.error('a turn failed', { reference, userId: speaker.id, channelId: place.channelId, error });
      return partialText === ''
        ? { text: '', problem: failureLine(error, reference) }
        : { text: partialText, problem: brokenOffLine(reference) };
    }
  }

  async function deliver(run: Run, { text, problem }: Outcome): Promise<void> {
    const { question, reply, notes } = run;
    const line = lineUnder(problem, notes);
    if (text === '') {
      const wasSeen = reply.hasBegun;
      await reply.withdraw();
      if (line !== undefined) await sendLine(question, line, wasSeen);
      await markHandled(question);
      return;
    }
    if (!(await isSent(run, text))) {
      await takeAway(run);
      return;
    }
    await markHandled(question);
    if (line !== undefined) await sendLine(question, line, true);
  }

  /** Whether the answer stands there, whole and logged; if not, it may not. */
  async function isSent({ context, question, reply }: Run, text: string): Promise<boolean> {
    if (!(await reply.mayShow())) return false;
    await keep('the answer', () => journal.prepare({ ...question, text }));
    const finished = await reply.finish(text);
    if (finished.kind !== 'sent') return false;
    const { ids } = finished;
    await keep('the reply', () => sessionLog.recordReply(context, { ids, text, at: clock().toISOString() }));
    return true;
  }

  /** Nothing of the reply stays, neither in the channel nor in log or history. */
  async function takeAway({ question, control, reply, notes }: Run): Promise<void> {
    const wasSeen = reply.hasBegun;
    await reply.withdraw();
    const { channelId } = question.place;
    logger.warn('an answer was taken away', { channelId, userId: question.userId, why: control.ending });
    if (control.ending === 'became-public') {
      await sendLine(question, lineUnder(keptBackLine, notes) ?? keptBackLine, wasSeen);
    }
    await markHandled(question);
  }

  async function markHandled({ place, messageIds }: Question): Promise<void> {
    await keep('that the message was handled', () => journal.markHandled(place.channelId, messageIds));
  }

  /** Error lines are known by their ids, so that they enter neither history nor log [F2]. */
  async function sendLine(question: Question, line: string, isAfterReply: boolean): Promise<void> {
    const nonceBase = newestOf(question) + (isAfterReply ? 'e' : '');
    const { channelId } = question.place;
    await replies.send(channelId, line, nonceBase, (id) =>
      keep('what is no part of history', () => journal.hide(channelId, [id])),
    );
  }
}

function questionOf({ messages, speaker, place }: TurnContext): Question {
  return {
    messageIds: messages.map(({ id }) => id),
    userId: speaker.id,
    speakerName: speaker.name,
    ...(speaker.isBot === undefined ? {} : { isBot: speaker.isBot }),
    place,
  };
}

function contextOf(messages: readonly IncomingMessage[], now: Date): TurnContext {
  const newest = messages.at(-1);
  if (newest === undefined) throw new RangeError('A turn has at least one message');
  return {
    speaker: {
      id: newest.author.id,
      name: newest.author.name,
      isOwner: newest.isOwner,
      ...(newest.author.kind === 'bot' ? { isBot: true } : {}),
    },
    place: newest.place,
    messages,
    now,
    hasThirdPartyText: true,
  };
}
