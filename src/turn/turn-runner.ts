import type { IncomingMessage, PresentPlace, ReplyPort } from '../core/chat.ts';
import { ModelError } from '../core/errors.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import { becamePublic } from '../core/place.ts';
import { sessionOf } from '../core/turn-context.ts';
import type { TurnContext } from '../core/turn-context.ts';
import type { SessionLog } from '../memory/session-log/session-log.ts';
import type { AfterTurn } from './after-turn.ts';
import type { ChannelJournal } from './channel-journal.ts';
import { brokenOffLine, failureLine, keptBackLine, lengthLimitLine } from './failure-line.ts';
import { createKeep } from './keep.ts';
import { lineUnder } from './line-under.ts';
import type { TurnRunner } from './session-turns.ts';

/** The model's answer to a turn. `stop` tells whether the text is whole. */
export interface Answer {
  readonly text: string;
  readonly stop: 'whole' | 'cut';
}

/** What is told while an answer is made. */
export interface AnswerListener {
  /** Something was done that people are to be told, whatever becomes of the answer. */
  readonly onNote: (note: string) => void;
}

/** Reads memory, builds the prompt, asks the model. Rejects with `ModelError`. */
export type AnswerTurn = (
  context: TurnContext,
  signal: AbortSignal,
  listener: AnswerListener,
) => Promise<Answer>;

export interface TurnRunnerOptions {
  readonly answer: AnswerTurn;
  readonly journal: ChannelJournal;
  readonly sessionLog: Pick<SessionLog, 'recordUser' | 'recordReply'>;
  readonly afterTurn: Pick<AfterTurn, 'schedule'>;
  readonly replies: ReplyPort;
  readonly presentPlace: PresentPlace;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A short reference that people can quote and the log can be searched for. */
  readonly makeReference: () => string;
}

/** What is to be sent: an answer, which may be empty, and a line under it or in its place. */
interface Outcome {
  readonly text: string;
  readonly problem?: string;
}

/**
 * One turn from the logged message to the sent, logged reply [F4]. The order makes a kill at any point safe: the user's words are
 * on disk before the model is called; the answer is on disk before it is sent; the messages count as handled once it was sent. Log and
 * journal hold the place as it was when the message was said; the answer is made for who can read it by now, and by the time it is sent.
 */
export function createTurnRunner(options: TurnRunnerOptions): TurnRunner {
  const { journal, sessionLog, afterTurn, replies, presentPlace, clock, logger } = options;
  const keep = createKeep(logger);

  return async (messages, signal) => {
    const context = contextOf(messages, clock());
    const channelId = context.place.channelId;
    const stopTyping = replies.typing(channelId);
    try {
      await keep('the message', () => sessionLog.recordUser(context));
      const notes: string[] = [];
      const { text, problem } = await answerTo(context, signal, { onNote: (note) => notes.push(note) });
      if (signal.aborted) return;
      if (text !== '') await sendReply(context, text);
      const line = lineUnder(problem, notes);
      if (line !== undefined) await sendLine(context, line, text === '');
      if (text === '')
        await keep('that the message was handled', () => journal.markHandled(channelId, idsOf(context)));
    } catch (error) {
      logger.error('a turn could not be finished', { channelId, userId: context.speaker.id, error });
    } finally {
      stopTyping();
      if (context.speaker.isBot === undefined) afterTurn.schedule(sessionOf(context));
    }
  };

  async function answerTo(
    context: TurnContext,
    signal: AbortSignal,
    listener: AnswerListener,
  ): Promise<Outcome> {
    const place = await presentPlace(context.place);
    const isWider = becamePublic(context.place, place);
    const seen = isWider ? { ...context, place, saidIn: context.place } : context;
    const outcome = await ask(seen, signal, listener);
    if (outcome.text === '' || !becamePublic(place, await presentPlace(place))) return outcome;
    logger.warn('an answer was kept back', { channelId: place.channelId, userId: context.speaker.id });
    return { text: '', problem: keptBackLine };
  }

  async function ask(context: TurnContext, signal: AbortSignal, listener: AnswerListener): Promise<Outcome> {
    try {
      const answer = await options.answer(context, signal, listener);
      return answer.stop === 'cut' ? { text: answer.text, problem: lengthLimitLine } : { text: answer.text };
    } catch (error) {
      if (signal.aborted) return { text: '' };
      const reference = options.makeReference();
      logger.error('a turn failed', {
        reference,
        userId: context.speaker.id,
        channelId: context.place.channelId,
        error,
      });
      const partialText = error instanceof ModelError ? error.partialText.trim() : '';
      return partialText === ''
        ? { text: '', problem: failureLine(error, reference) }
        : { text: partialText, problem: brokenOffLine(reference) };
    }
  }

  async function sendReply(context: TurnContext, text: string): Promise<void> {
    const messageIds = idsOf(context);
    const { place, speaker } = context;
    await keep('the answer', () =>
      journal.prepare({
        messageIds: [...messageIds],
        userId: speaker.id,
        speakerName: speaker.name,
        ...(speaker.isBot === undefined ? {} : { isBot: speaker.isBot }),
        place,
        text,
      }),
    );
    const ids = await replies.send(place.channelId, text, lastId(context));
    await keep('the reply', () => sessionLog.recordReply(context, { ids, text, at: clock().toISOString() }));
    await keep('that the message was handled', () => journal.markHandled(place.channelId, messageIds));
  }

  /** Error lines are known by their ids, so that they enter neither history nor log [F2]. */
  async function sendLine(context: TurnContext, line: string, isWholeReply: boolean): Promise<void> {
    const nonceBase = isWholeReply ? lastId(context) : `${lastId(context)}e`;
    const { channelId } = context.place;
    await replies.send(channelId, line, nonceBase, (id) =>
      keep('what is no part of history', () => journal.hide(channelId, [id])),
    );
  }
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
    othersPresent: true,
  };
}

function idsOf(context: TurnContext): readonly string[] {
  return context.messages.map((message) => message.id);
}

function lastId(context: TurnContext): string {
  return context.messages.at(-1)?.id ?? '';
}
