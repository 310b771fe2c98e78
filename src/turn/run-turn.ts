import { setImmediate } from 'node:timers/promises';

import type { IncomingMessage } from '../core/message.ts';
import type { FinishedReply, Typing } from '../core/reply.ts';
import { unlessAborted, type Clock } from '../core/time.ts';
import type { KeyedQueue } from '../core/keyed-queue.ts';
import { timed } from '../core/logger.ts';
import { ModelError } from '../core/errors.ts';
import type { MemorySource, ToolRead } from '../core/memory-source.ts';
import { addUsage, noUsage, type ModelClient, type ModelUsage } from '../core/model.ts';
import { hasMoreReaders, sessionName } from '../core/place.ts';
import type { AnswerSize, PartSize } from '../core/section.ts';
import type { MemoryNotice, Offer, OfferPort, Tool } from '../core/tool.ts';
import { newestMark, ownMark, sessionOf, type TurnContext } from '../core/turn-context.ts';
import type { Writes } from '../core/writes.ts';
import type { ChangeLedger } from '../memory/changes.ts';
import type { UndoableNotes } from '../memory/notebook/undoable.ts';
import type { MediaBudget } from '../model/media.ts';
import { runToolLoop, type LoopResult } from '../model/tool-loop.ts';
import type { Prompt } from '../prompt/build-prompt.ts';
import type { AfterTurn } from './after-turn.ts';
import type { Hearing } from './hearing.ts';
import { markHandled, newestOf, saveBestEffort } from './outbox.ts';
import type { LateNotices, MemoryNotices } from './notices.ts';
import type { PromptComposer } from './prompt-input.ts';
import {
  addOffer,
  beginReply,
  brokenOffLine,
  doneLines,
  endRefused,
  failureLine,
  keptBackLine,
  lateLine,
  lengthLimitLine,
  lineInPlace,
  sendLine,
  showOffers,
  stoppedLine,
  tellRefused,
  type Question,
  type Reply,
  type ReplyPorts,
} from './reply.ts';
import type { TurnControl } from './sessions.ts';
import type { TurnLimits } from './turn-limits.ts';
import {
  type PauseNotes,
  openMemory,
  type TurnMemory,
  type TurnMemoryPorts,
  type TurnTools,
} from './turn-memory.ts';
import type { WaitingReactions } from './waiting-reactions.ts';

/** A server may name the size of its context twice, the second time by its own count [M13]. */
const mostSizes = 3;

/** What answers people. */
export interface TurnModel {
  readonly client: ModelClient;
  /** The name of the model that answers now [M10]. Never rejects. */
  readonly current: () => Promise<string>;
  /** US dollars of one call; `undefined` where the price is not known. */
  readonly costOf: (model: string, usage: ModelUsage) => number | undefined;
  /** Milliseconds for an answer, tools included. */
  readonly timeoutMs: number;
  /** Of an answer at most. */
  readonly answerTokens: number;
  readonly mediaBudget: MediaBudget;
}

/** Whom a turn needs. What is decided by a place may change while the turn runs, so it is asked again where something is written or done. */
export interface TurnPorts extends ReplyPorts, TurnMemoryPorts {
  readonly model: TurnModel;
  readonly tools: TurnTools;
  readonly commandOrder: KeyedQueue;
  readonly changes: Pick<ChangeLedger, 'settled'>;
  readonly waitingReactions: Pick<WaitingReactions, 'begin' | 'end' | 'endForTurn'>;
  readonly people: TurnMemoryPorts['people'] & ReplyPorts['people'];
  readonly pauseNotes: PauseNotes;
  /** Tells the speaker what became of their memory [K6][K13]. */
  readonly memoryNotices: MemoryNotices;
  /** What is stored after a turn, told in its answer or the next one. */
  readonly lateNotices: Pick<LateNotices, 'waiting' | 'answered'>;
  /** What background work took out of the speaker's notebook [A3]. */
  /** What the person's next answer tells once. */
  readonly untold: readonly ((turn: TurnContext) => ReturnType<UndoableNotes['untold']>)[];
  readonly prompts: Pick<PromptComposer, 'compose'>;
  readonly hearing: Pick<Hearing, 'hear'>;
  /** Where what a tool offers is shown to the speaker. */
  readonly offers: OfferPort;
  /** What people are told of the day's limits [L2]. */
  readonly limits: Pick<TurnLimits, 'costLine'>;
  readonly afterTurn: AfterTurn;
  readonly begin: Writes['begin'];
  readonly clock: Clock;
  /** A short reference that people can quote and the log can be searched for. */
  readonly makeReference: () => string;
}

/**
 * How a turn ended. `left`: the next start asks it again. `dropped`: nobody waits for it any more. `refused`:
 * Discord will never take the reply, and the person knows. `failed`: the reply could not be sent.
 */
export type TurnOutcome = 'answered' | 'explained' | 'taken-away' | 'refused' | 'left' | 'dropped' | 'failed';

/** What is to be sent: the answer, which may be empty, and why it is not whole. */
interface Answer extends Progress {
  readonly text: string;
  readonly problem?: string;
  /** The model could store nothing [M9]. */
  readonly hadNoTools?: boolean;
}

/** Collected while the model works: what was done and offered, and what the answer is made of. */
interface Progress {
  readonly notes: string[];
  readonly notices: MemoryNotice[];
  readonly offers: Offer[];
  /** What the model was shown of memory [K7]. */
  readonly used: { readonly prompt: MemorySource[]; readonly tools: ToolRead[] };
  /** Once the model is asked [Y2a]. */
  size?: AnswerSize;
  /** Where the answer may repeat other people's words or a file [M5a]. */
  thirdPartyMark: string | undefined;
}

/** What each step of a turn needs. */
interface RunningTurn {
  /** The turn as it was said. */
  readonly turn: TurnContext;
  /** The same for who can read the answer by now. */
  readonly answered: TurnContext;
  readonly question: Question;
  /** Lines about voice messages [G7]. */
  readonly heard: readonly string[];
  readonly memory: TurnMemory;
  readonly reply: Reply;
  readonly typing: Typing;
  readonly control: TurnControl;
  readonly bot: TurnPorts;
}

/**
 * One turn, from the speaker's words to the last line of the answer: all that happens to a message, in this order. The order makes a kill at
 * any point safe: the words are on disk before the model is called [F4]; what is shown of the answer while it grows is in the outbox; the
 * whole answer goes there before it is finished; the messages count as handled once it was. After a loss of power that took one of the last two,
 * the question is asked again, and the answer stands in the same messages. Log and outbox hold the place as it was when the
 * message was said; the answer is made for who can read it by now, and shown only as long as nobody else can [V2]. Never rejects.
 */
export async function runTurn(
  messages: readonly IncomingMessage[],
  control: TurnControl,
  bot: TurnPorts,
): Promise<TurnOutcome> {
  const newest = messages.at(-1);
  if (newest === undefined) throw new RangeError('A turn has at least one message');
  const { author, isOwner, place } = newest;
  const work = await bot.begin(author.id);
  const isBot = author.kind === 'bot' ? { isBot: true as const } : {};
  const speaker = { id: author.id, name: author.name, isOwner, ...isBot };
  const now = bot.clock();
  const unheard: TurnContext = { speaker, place, messages, now, work, hasThirdPartyText: true };
  await Promise.all([
    // The commands before it, so that a question after `!memory remember …` finds it [F3].
    bot.commandOrder.run(sessionName(sessionOf(unheard)), async () => {}),
    // What was taken back before it is in no memory that it reads.
    bot.changes.settled(place.channelId),
  ]);
  const isOver = (): boolean => control.ending !== undefined && control.ending !== 'stopped';
  if (isOver()) return 'dropped';
  bot.waitingReactions.endForTurn(messages);
  const typing = bot.replies.typing(place.channelId, newest.id);
  if (messages.some(({ voice }) => voice !== undefined)) typing.show();
  const { messages: heardMessages, lines: heard, problem } = await bot.hearing.hear(messages, control.signal);
  if (isOver()) {
    typing.end();
    return 'dropped';
  }
  const turn = { ...unheard, messages: heardMessages };
  const memory = await openMemory(turn, bot);
  try {
    const readers = await bot.presentPlace(place);
    const messageIds = messages.map(({ id }) => id);
    const question = {
      userId: author.id,
      work,
      messageIds,
      speakerName: speaker.name,
      isBot: speaker.isBot,
      isAsked: newest.askedIn && (true as const),
      place,
    };
    const reply = await beginReply(bot, question, readers, control);
    // For more readers than it was said to, where somebody was let in since.
    const answered = hasMoreReaders(place, readers)
      ? { ...turn, place: readers, originalPlace: place }
      : turn;
    const running = { turn, answered, question, heard, memory, reply, typing, control, bot };
    // The words are on their way to the disk, which takes as long as the prompt.
    await setImmediate();
    const answer =
      problem === undefined || control.signal.aborted
        ? await answerTurn(running)
        : { text: '', problem, ...noProgress() };
    if (control.isTakenAway) return await takeAway(running, answer);
    if (answer === 'left') return 'left';
    return await timed('delivery', deliver(running, answer));
  } catch (error) {
    bot.logger.error('a turn could not be finished', { ...sessionOf(turn), error });
    return 'failed';
  } finally {
    typing.end();
    // Whose person was erased leaves nothing to be made of it, and no new trace [K11].
    if (turn.speaker.isBot === undefined && control.ending !== 'erased')
      bot.afterTurn.schedule(sessionOf(turn));
    await memory.close();
  }
}

/** What is known before the model is asked. */
function noProgress(): Progress {
  return {
    notes: [],
    notices: [],
    offers: [],
    used: { prompt: [], tools: [] },
    thirdPartyMark: ownMark,
  };
}

/** The model's answer, made of memory and with tools, shown as it grows; or a line that says why there is none. Never rejects. */
async function answerTurn(running: RunningTurn): Promise<Answer | 'left'> {
  const progress = noProgress();
  try {
    const { text, stop, hadNoTools } = await askModel(running, progress);
    running.reply.hold();
    // An answer that a time limit or refusal cut short is shown as far as it came, marked and logged [E1].
    if (stop === 'timeout') throw new ModelError('The answer broke off', 'timeout', { partialText: text });
    if (stop === 'refusal') throw new ModelError('The answer broke off', 'invalid', { partialText: text });
    const answer = { text, hadNoTools, ...progress };
    return stop === 'cut' ? { ...answer, problem: lengthLimitLine } : answer;
  } catch (error) {
    // Nothing is offered under a partial answer.
    return explain(running, error, { ...progress, offers: [] });
  }
}

/** Asks with all that the model's context holds: again with less where its server names a smaller one [M13]. */
async function askModel(running: RunningTurn, progress: Progress): Promise<LoopResult> {
  const { client, current } = running.bot.model;
  const model = await current();
  const roomNow = () => client.limitsOf?.(model).roomTokens;
  for (let sizes = 1; ; sizes += 1) {
    const room = roomNow();
    try {
      return await askOnce(running, progress, model, room);
    } catch (error) {
      const isTooLarge = error instanceof ModelError && error.failure === 'too-large';
      // What a tool has done is not to be done again.
      const hasRunTools = progress.size?.parts.some(({ name }) => name === 'tool_results') === true;
      if (!isTooLarge || roomNow() === room || hasRunTools || sizes === mostSizes) throw error;
    }
  }
}

/** The order is what [F4] wants: the prompt is made while the words go to the disk, and both come before the model. */
async function askOnce(
  running: RunningTurn,
  progress: Progress,
  model: string,
  contextTokens: number | undefined,
): Promise<LoopResult> {
  const { answered: turn, memory, reply, typing, bot } = running;
  const { signal } = running.control;
  signal.throwIfAborted();
  const offered = memory.policy.tools(bot.tools);
  const needs = {
    tools: offered.map(({ definition }) => definition),
    actions: new Set(bot.tools.actions.map(({ definition }) => definition.name)),
    answerTokens: bot.model.answerTokens,
    contextTokens,
  };
  const composing = bot.prompts.compose(turn, memory.policy, needs, signal);
  const { prompt, names, thirdPartyMark, notes, ...fitted } = await timed('prompt', composing);
  progress.thirdPartyMark = thirdPartyMark;
  progress.notes.push(...notes);
  progress.used.prompt.splice(0, Infinity, ...prompt.sources);
  const { system, messages } = prompt;
  const tools = offered.filter(({ definition }) => fitted.tools.has(definition.name));
  const size = sizeOf(prompt, tools);
  progress.size = size;
  // The words are on disk before the model is called [F4].
  await unlessAborted(signal, memory.recorded);
  let textSoFar = '';
  const answering = runToolLoop({
    client: bot.model.client,
    request: {
      purpose: 'chat',
      userId: turn.speaker.id,
      conversation: sessionName(sessionOf(turn)),
      model,
      system,
      messages,
      maxTokens: fitted.maxTokens,
      names,
    },
    tools,
    resultsMaxChars: fitted.resultsMaxChars,
    context: { ...turn, hasThirdPartyText: thirdPartyMark !== undefined },
    mediaBudget: bot.model.mediaBudget,
    deadlineMs: bot.model.timeoutMs,
    signal,
    onText: (piece) => reply.show((textSoFar += piece)),
    onRestart: () => (textSoFar = ''),
    onQueue: (isWaiting) => showWaiting(running, isWaiting),
    onNote: (note) => progress.notes.push(note),
    onNotice: (notice) => progress.notices.push(notice),
    onOffer: (offer) => turn.speaker.isBot === undefined && addOffer(progress.offers, offer),
    onThirdPartyText: (mark) => (progress.thirdPartyMark = newestMark([progress.thirdPartyMark, mark])),
    onRead(read, characters) {
      if (read.sources.length > 0) progress.used.tools.push(read);
      size.parts.push({ name: 'tool_results', characters });
    },
    onUsage(usage, by) {
      size.usage = addUsage(size.usage, usage);
      const cost = bot.model.costOf(by, usage);
      size.cost = size.cost === undefined || cost === undefined ? undefined : size.cost + cost;
    },
    logger: bot.logger,
  });
  // Behind the request, which it would hold up.
  void setImmediate().then(() => typing.show());
  const result = await timed('answer', answering);
  return { ...result, hadNoTools: result.hadNoTools || (tools.length === 0 && offered.length > 0) };
}

/** What the model is given; what its calls take is added. */
function sizeOf({ parts, maxChars }: Prompt, tools: readonly Tool[]) {
  const characters = JSON.stringify(tools.map(({ definition }) => definition)).length;
  const first: PartSize[] = tools.length === 0 ? [] : [{ name: 'tools', characters }];
  const calls: { usage: ModelUsage; cost: number | undefined } = { usage: noUsage, cost: 0 };
  return { parts: [...first, ...parts], maxChars, ...calls };
}

/** What people get instead of a whole answer: what came of it, and one clear line. */
async function explain(
  { question, reply, control, bot: { limits, makeReference, clock, logger } }: RunningTurn,
  error: unknown,
  progress: Progress,
): Promise<Answer | 'left'> {
  const text = error instanceof ModelError ? error.partialText.trim() : '';
  if (control.isTakenAway) return { text, ...progress };
  if (control.ending === 'stopped') return { text, problem: stoppedLine, ...progress };
  if (control.ending === 'shutdown' && !(reply.hasStarted() && text !== '')) {
    if (!reply.hasStarted()) await reply.takeAway();
    return 'left';
  }
  const { userId, place } = question;
  const { channelId } = place;
  if (error instanceof ModelError && error.failure === 'over-limit') {
    logger.info('a turn has no answer, or a part of it, for the limit on cost', { userId, channelId });
    return { text, problem: limits.costLine(userId, text !== ''), ...progress };
  }
  const reference = makeReference();
  logger.error('a turn failed', { reference, userId, channelId, error });
  const problem = text === '' ? failureLine(error, reference, clock()) : brokenOffLine(reference);
  return { text, problem, ...progress };
}

/** Outbox → Discord → log → handled, in this order; an empty answer is a line in its place. */
async function deliver(running: RunningTurn, answer: Answer): Promise<TurnOutcome> {
  const { turn, question, memory, reply, bot } = running;
  const { text, offers, thirdPartyMark } = answer;
  if (text === '') return explainInPlace(running, answer);
  if (!(await reply.mayShow())) return takeAway(running, answer);
  const late = await bot.lateNotices.waiting(turn);
  const untold = await Promise.all(bot.untold.map((each) => each(turn).catch(() => undefined)));
  const oneTime = await memory.oneTimeNotice();
  // The speaker may have had a message of the turn forgotten meanwhile, and with it what was stored.
  const isHidden = await bot.outbox.hiddenIn(question.place.channelId).catch(() => () => false);
  const isForgotten = question.messageIds.some(isHidden);
  const { size, notices } = isForgotten ? { size: undefined, notices: [] } : answer;
  await memory.recordUsed(answer.used, size);
  const later = [...late.map(({ notice }) => notice), ...untold.flatMap((each) => each?.notices ?? [])];
  const footer = await footerOf(running, answer, [...notices, ...later]);
  footer.lines.push(...(oneTime?.lines ?? []));
  footer.buttons.push(...(await bot.memoryNotices.why(question, answer.used)));
  await saveBestEffort(bot.logger, 'the answer', () =>
    bot.outbox.prepare({ ...question, text, footer, thirdPartyMark }),
  );
  const finished = await reply.finish(text, footer).catch(async (): Promise<FinishedReply> => {
    await sendLine(bot, question, lateLine, reply.hasStarted());
    return { kind: 'gone' };
  });
  switch (finished.kind) {
    case 'sent': {
      await memory.recordReply(finished.ids, answer);
      await markHandled(bot, question.place.channelId, question.messageIds);
      await oneTime?.sent();
      for (const each of untold)
        await saveBestEffort(bot.logger, 'what was told', async () => each?.markTold());
      bot.lateNotices.answered(turn, finished.ids, footer.buttons, late);
      if (offers.length > 0) await showOffers(bot, turn, reply, finished.ids, offers);
      return 'answered';
    }
    case 'refused':
      await endRefused(bot, question, finished);
      return 'refused';
    case 'gone':
    case 'withheld':
      return takeAway(running, answer);
  }
}

/** A line in place of an answer that is empty. */
async function explainInPlace(running: RunningTurn, answer: Answer): Promise<TurnOutcome> {
  const { question, reply, control, bot } = running;
  const wasSeen = reply.hasStarted();
  await reply.takeAway();
  const { problem, notices } = answer;
  const { lines, buttons } = await footerOf(running, { ...answer, problem: undefined }, notices);
  const line = lineInPlace(problem, lines);
  const stillHolds = async () =>
    control.ending !== 'deleted' &&
    control.ending !== 'erased' &&
    (lines.length === 0 || (await reply.mayShow()));
  if (line !== undefined) await sendLine(bot, question, line, wasSeen, buttons, stillHolds);
  await markHandled(bot, question.place.channelId, question.messageIds);
  return 'explained';
}

/** What the footer tells: what went wrong, what was done, and what became of memory. Never rejects. */
async function footerOf(
  { turn, heard, memory, reply, bot }: RunningTurn,
  { text, problem, notes, hadNoTools = false }: Answer,
  notices: readonly MemoryNotice[],
) {
  const paused = bot.pauseNotes.take(sessionOf(turn), memory.policy.consent);
  const done = [...heard, ...doneLines([...paused, ...notes, ...memory.secretNotes(text)])];
  const { lines, buttons } = await bot.memoryNotices.under(turn, notices, {
    present: { lines: problem === undefined ? done : [problem, ...done], buttons: [] },
    hadNoTools: hadNoTools && text !== '' && problem === undefined,
    mayName: reply.mayShow,
  });
  return { lines: [...lines], buttons: [...buttons] };
}

/** Nothing of the reply stays, neither in the channel nor in log or history. */
async function takeAway(
  { turn, question, reply, control: { ending }, bot }: RunningTurn,
  answer: Answer | 'left',
): Promise<TurnOutcome> {
  const wasSeen = reply.hasStarted();
  await reply.takeAway();
  bot.logger.warn('an answer was taken away', { ...sessionOf(turn), why: ending });
  if (ending === 'more-readers') {
    const { notes, notices } = answer === 'left' ? noProgress() : answer;
    const { lines, buttons } = await bot.memoryNotices.under(turn, notices, { mayName: reply.mayShow });
    const line = lineInPlace(keptBackLine, [...doneLines(notes), ...lines]) ?? keptBackLine;
    await sendLine(bot, question, line, wasSeen, buttons);
  }
  await markHandled(bot, question.place.channelId, question.messageIds);
  // There is no place any more that would take it [G3d].
  if (ending === 'channel-deleted') await tellRefused(bot.replies, question, 'place');
  return 'taken-away';
}

/** Shows at the turn's newest message that it waits for a place at the model; it is there until the place, or the turn's end. */
function showWaiting({ question, turn, bot: { waitingReactions } }: RunningTurn, isWaiting: boolean): void {
  const { askedIn } = turn.messages.at(-1) ?? {};
  const newest = { id: newestOf(question), channelId: question.place.channelId, askedIn };
  if (isWaiting) waitingReactions.begin(newest);
  else waitingReactions.end(newest);
}
