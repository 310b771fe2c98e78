import type { IncomingMessage } from '../core/chat.ts';
import type { Clock } from '../core/time.ts';
import { ModelError } from '../core/errors.ts';
import type { ModelClient } from '../core/model.ts';
import { hasMoreReaders, type Place } from '../core/place.ts';
import type { Offer, OfferPort, Tool } from '../core/tool.ts';
import { sessionOf, type TurnContext } from '../core/turn-context.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { MediaBudget } from '../model/media.ts';
import { runToolLoop } from '../model/tool-loop.ts';
import type { AfterTurn } from './after-turn.ts';
import type { CommandOrder } from './commands.ts';
import { saveBestEffort } from './journal.ts';
import type { PromptComposer, SwitchedOff } from './prompt-input.ts';
import {
  addOffer,
  beginReply,
  brokenOffLine,
  endRefused,
  failureLine,
  keptBackLine,
  lengthLimitLine,
  lineUnder,
  markHandled,
  newestOf,
  sendLine,
  showOffers,
  stoppedLine,
  type Question,
  type Reply,
  type ReplyPorts,
} from './reply.ts';
import type { TurnControl } from './sessions.ts';
import type { WaitingReactions } from './waiting-reactions.ts';

/** Output tokens of an answer at most: some 12,000 characters. */
const answerMaxTokens = 4096;

/** Whom a turn needs. What is decided by a place may change while the turn runs, so it is asked again where something is written or done. */
export interface TurnPorts extends ReplyPorts {
  readonly commandOrder: Pick<CommandOrder, 'settled'>;
  readonly waitingReactions: Pick<WaitingReactions, 'begin' | 'end' | 'endForTurn'>;
  /** What the owner has switched off where; neither rejects. */
  readonly settings: {
    readonly isMemoryOff: (place: Place) => Promise<boolean>;
    readonly areActionsOff: (place: Place) => Promise<boolean>;
  };
  readonly log: Pick<SessionLog, 'recordUser' | 'recordReply'>;
  readonly prompts: Pick<PromptComposer, 'compose'>;
  readonly memoryTools: readonly Tool[];
  /** What the model may do on Discord; none where that is off altogether. */
  readonly actionTools: readonly Tool[];
  /** Where what a tool offers is shown to the speaker. */
  readonly offers: OfferPort;
  readonly model: ModelClient;
  readonly mediaBudget: MediaBudget;
  readonly modelName: string;
  /** Milliseconds for an answer, tools included. */
  readonly answerTimeoutMs: number;
  readonly afterTurn: Pick<AfterTurn, 'schedule'>;
  readonly clock: Clock;
  /** A short reference that people can quote and the log can be searched for. */
  readonly makeReference: () => string;
}

/** How a turn ended. `left`: the next start asks it again. `dropped`: nobody waits for it any more. `refused`: Discord will never take the reply, and the person was told. `failed`: the reply could not be brought out. */
export type TurnOutcome = 'answered' | 'explained' | 'taken-away' | 'refused' | 'left' | 'dropped' | 'failed';

/** What is to be sent: the answer, which may be empty; a line under it or in its place, where what was done is told too; and what is offered. */
interface Answer extends Known {
  readonly text: string;
  readonly problem?: string;
}

/** What becomes known while the model works: what was done and offered, and whether it had other people's words or a file before it, which the answer may repeat [M5a]. */
interface Known {
  readonly notes: string[];
  readonly offers: Offer[];
  hasThirdPartyText: boolean;
}

/**
 * One turn, from the speaker's words to the last line of the answer: all that happens to a message, in this order. The order makes a kill at
 * any point safe: the words are on disk before the model is called [F4]; what is shown of the answer while it grows is in the journal; the
 * whole answer is on disk before it is finished; the messages count as handled once it was. Log and journal hold the place as it was when the
 * message was said; the answer is made for who can read it by now, and shown only as long as nobody else can [V2]. Never rejects.
 */
export async function runTurn(
  messages: readonly IncomingMessage[],
  control: TurnControl,
  bot: TurnPorts,
): Promise<TurnOutcome> {
  const turn = turnOf(messages, bot.clock());
  await bot.commandOrder.settled(sessionOf(turn));
  if (control.ending !== undefined && control.ending !== 'stopped') return 'dropped';
  bot.waitingReactions.endForTurn(messages);
  const stopTyping = bot.replies.typing(turn.place.channelId);
  const off = await switchedOff(turn.place, bot);
  const memory = openMemory(turn, off.isMemoryOff, bot);
  try {
    await memory.recordQuestion();
    const readers = await bot.presentPlace(turn.place);
    const reply = await beginReply(bot, questionOf(turn), readers, control);
    const answer = await answerTurn(answeredFor(turn, readers), off, reply, control, bot);
    if (control.takenAway.aborted) return await takeAway(turn, reply, answer, control, bot);
    if (answer === 'left') return 'left';
    return await deliver(turn, memory, reply, answer, control, bot);
  } catch (error) {
    bot.logger.error('a turn could not be finished', { ...sessionOf(turn), error });
    return 'failed';
  } finally {
    stopTyping();
    if (turn.speaker.isBot === undefined) bot.afterTurn.schedule(sessionOf(turn));
    await memory.close();
  }
}

function turnOf(messages: readonly IncomingMessage[], now: Date): TurnContext {
  const newest = messages.at(-1);
  if (newest === undefined) throw new RangeError('A turn has at least one message');
  const { author, isOwner, place } = newest;
  const isBot = author.kind === 'bot' ? { isBot: true as const } : {};
  const speaker = { id: author.id, name: author.name, isOwner, ...isBot };
  return { speaker, place, messages, now, hasThirdPartyText: true };
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

/** The turn as it is answered: for more readers than it was said to, where somebody was let in since. */
function answeredFor(turn: TurnContext, readers: Place): TurnContext {
  return hasMoreReaders(turn.place, readers) ? { ...turn, place: readers, saidIn: turn.place } : turn;
}

/** What the owner has switched off here, decided once for the whole turn. */
async function switchedOff(place: Place, { settings }: TurnPorts): Promise<SwitchedOff> {
  const [isMemoryOff, areActionsOff] = await Promise.all([
    settings.isMemoryOff(place),
    settings.areActionsOff(place),
  ]);
  return { isMemoryOff, areActionsOff };
}

type TurnMemory = ReturnType<typeof openMemory>;

/** What the turn writes to memory: nothing where that is off, or is switched off by the moment of writing. */
function openMemory(turn: TurnContext, isOff: boolean, bot: TurnPorts) {
  const { log, journal, logger, settings, clock } = bot;
  return {
    async recordQuestion(): Promise<void> {
      if (!isOff) await saveBestEffort(logger, 'the message', () => log.recordUser(turn));
    },
    async recordReply(ids: readonly string[], { text, hasThirdPartyText }: Answer): Promise<void> {
      // The reply to what was not logged is not logged either, though memory was switched on meanwhile.
      if (isOff || (await settings.isMemoryOff(turn.place))) return;
      const at = clock().toISOString();
      await saveBestEffort(logger, 'the reply', () =>
        log.recordReply({ ...turn, hasThirdPartyText }, { ids, text, at }),
      );
    },
    /** Where memory is off, the channel's journal keeps no answer's text once it was sent. */
    async close(): Promise<void> {
      if (!(await settings.isMemoryOff(turn.place))) return;
      await saveBestEffort(logger, 'that an answer is kept nowhere', () =>
        journal.eraseSentTexts(turn.place.channelId),
      );
    },
  };
}

/** The model's answer, made of memory and with tools, shown as it grows; or a line that says why there is none. Never rejects. */
async function answerTurn(
  turn: TurnContext,
  off: SwitchedOff,
  reply: Reply,
  control: TurnControl,
  bot: TurnPorts,
): Promise<Answer | 'left'> {
  const { signal } = control;
  const known: Known = { notes: [], offers: [], hasThirdPartyText: true };
  let soFar = '';
  try {
    signal.throwIfAborted();
    const { prompt, hasThirdPartyText, notes } = await bot.prompts.compose(turn, off, signal);
    known.hasThirdPartyText = hasThirdPartyText;
    known.notes.push(...notes);
    const { system, messages } = prompt;
    const { text, stop } = await runToolLoop({
      client: bot.model,
      request: {
        purpose: 'chat',
        userId: turn.speaker.id,
        model: bot.modelName,
        system,
        messages,
        maxTokens: answerMaxTokens,
      },
      tools: [...(off.isMemoryOff ? [] : memoryTools(bot)), ...(off.areActionsOff ? [] : actionTools(bot))],
      context: { ...turn, hasThirdPartyText },
      mediaBudget: bot.mediaBudget,
      deadlineMs: bot.answerTimeoutMs,
      signal,
      onText: (piece) => reply.show((soFar += piece)),
      onRestart: () => (soFar = ''),
      onQueue: (isWaiting) => showWaiting(turn, isWaiting, bot),
      onNote: (note) => known.notes.push(note),
      onOffer: (offer) => turn.speaker.isBot === undefined && addOffer(known.offers, offer),
      onThirdPartyText: () => (known.hasThirdPartyText = true),
      logger: bot.logger,
    });
    // What the time limit or a refusal ended is no whole answer: it is shown as the part that came, marked, and logged [E1].
    if (stop === 'timeout') throw new ModelError('The answer broke off', 'timeout', { partialText: text });
    if (stop === 'refusal') throw new ModelError('The answer broke off', 'invalid', { partialText: text });
    return stop === 'cut' ? { text, problem: lengthLimitLine, ...known } : { text, ...known };
  } catch (error) {
    // Nothing is offered under what is no whole answer.
    return explain(error, turn, reply, { ...known, offers: [] }, control, bot);
  }
}

/** What people get instead of a whole answer: what came of it, and one clear line. */
async function explain(
  error: unknown,
  { speaker, place }: TurnContext,
  reply: Reply,
  known: Known,
  control: TurnControl,
  { makeReference, logger }: TurnPorts,
): Promise<Answer | 'left'> {
  const text = error instanceof ModelError ? error.partialText.trim() : '';
  switch (control.ending) {
    case 'stopped':
      return { text, problem: stoppedLine, ...known };
    case 'shutdown':
      if (reply.hasBegun && text !== '') break;
      if (!reply.hasBegun) await reply.takeAway();
      return 'left';
    case 'deleted':
    case 'reply-deleted':
    case 'more-readers':
      return { text, ...known };
    case undefined:
  }
  const reference = makeReference();
  const { channelId } = place;
  logger.error('a turn failed', { reference, userId: speaker.id, channelId, error });
  return { text, problem: text === '' ? failureLine(error, reference) : brokenOffLine(reference), ...known };
}

/** Journal → Discord → log → handled, in this order; an empty answer is a line in its place. */
async function deliver(
  turn: TurnContext,
  memory: TurnMemory,
  reply: Reply,
  answer: Answer,
  control: TurnControl,
  bot: TurnPorts,
): Promise<TurnOutcome> {
  const { text, problem, notes, offers, hasThirdPartyText } = answer;
  const question = questionOf(turn);
  const line = lineUnder(problem, notes);
  if (text === '') {
    const wasSeen = reply.hasBegun;
    await reply.takeAway();
    if (line !== undefined) await sendLine(bot, question, line, wasSeen);
    await markHandled(bot, question);
    return 'explained';
  }
  if (!(await reply.mayShow())) return takeAway(turn, reply, answer, control, bot);
  await saveBestEffort(bot.logger, 'the answer', () =>
    bot.journal.prepare({ ...question, text, hasThirdPartyText }),
  );
  const finished = await reply.finish(text);
  switch (finished.kind) {
    case 'sent':
      await memory.recordReply(finished.ids, answer);
      await markHandled(bot, question);
      if (line !== undefined) await sendLine(bot, question, line, true);
      if (offers.length > 0) await showOffers(bot, turn, reply, finished.ids, offers);
      return 'answered';
    case 'refused':
      await endRefused(bot, question, finished);
      return 'refused';
    case 'gone':
    case 'withheld':
      return takeAway(turn, reply, answer, control, bot);
  }
}

/** Nothing of the reply stays, neither in the channel nor in log or history. */
async function takeAway(
  turn: TurnContext,
  reply: Reply,
  answer: Answer | 'left',
  { ending }: TurnControl,
  bot: TurnPorts,
): Promise<TurnOutcome> {
  const question = questionOf(turn);
  const wasSeen = reply.hasBegun;
  await reply.takeAway();
  bot.logger.warn('an answer was taken away', { ...sessionOf(turn), why: ending });
  if (ending === 'more-readers') {
    const notes = answer === 'left' ? [] : answer.notes;
    await sendLine(bot, question, lineUnder(keptBackLine, notes) ?? keptBackLine, wasSeen);
  }
  await markHandled(bot, question);
  return 'taken-away';
}

/** Shows at the turn's newest message that it waits for a place at the model; it is there until the place, or the turn's end. */
function showWaiting(
  { messages, place }: TurnContext,
  isWaiting: boolean,
  { waitingReactions }: TurnPorts,
): void {
  const newest = { id: newestOf({ messageIds: messages.map(({ id }) => id) }), channelId: place.channelId };
  if (isWaiting) waitingReactions.begin(newest);
  else waitingReactions.end(newest);
}

function memoryTools({ memoryTools: tools, settings }: TurnPorts): readonly Tool[] {
  const refusal = 'Memory is switched off in this channel.';
  return tools.map((tool) => refusedWhere(settings.isMemoryOff, tool, refusal));
}

function actionTools({ actionTools: tools, settings }: TurnPorts): readonly Tool[] {
  const refusal = 'Not done: actions are switched off in this place.';
  return tools.map((tool) => refusedWhere(settings.areActionsOff, tool, refusal));
}

/** The same tool, refusing where it was switched off since the turn began, or since it was offered. */
function refusedWhere(isOff: (place: Place) => Promise<boolean>, tool: Tool, refusal: string): Tool {
  return {
    definition: tool.definition,
    async run(input, context, signal) {
      if (await isOff(context.place)) return { ok: false, text: refusal };
      const outcome = await tool.run(input, context, signal);
      const { offer } = outcome;
      if (offer === undefined) return outcome;
      const carryOut = async (pressed: AbortSignal) =>
        (await isOff(context.place)) ? refusal : offer.carryOut(pressed);
      return { ...outcome, offer: { ...offer, carryOut } };
    },
  };
}
