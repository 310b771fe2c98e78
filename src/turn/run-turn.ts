import { setImmediate } from 'node:timers/promises';

import type { IncomingMessage, Typing } from '../core/chat.ts';
import type { Clock } from '../core/time.ts';
import { timed } from '../core/logger.ts';
import { ModelError } from '../core/errors.ts';
import { usesNotes, type MemorySource, type ToolRead } from '../core/memory-source.ts';
import { addUsage, noUsage, type ModelClient, type ModelUsage } from '../core/model.ts';
import { hasMoreReaders, sessionName, type Place } from '../core/place.ts';
import type { AnswerSize, PartSize } from '../core/section.ts';
import type { MemoryNotice, Offer, OfferPort, Tool } from '../core/tool.ts';
import { newestTime, sessionOf, type TurnContext } from '../core/turn-context.ts';
import { workOf, type Work, type Writes } from '../core/writes.ts';
import type { ChangeLedger } from '../memory/changes.ts';
import type { MediaBudget } from '../model/media.ts';
import { runToolLoop } from '../model/tool-loop.ts';
import type { Prompt } from '../prompt/build-prompt.ts';
import type { AfterTurn } from './after-turn.ts';
import type { HeardTurn, Hearing } from './hearing.ts';
import type { CommandOrder } from './commands.ts';
import { saveBestEffort } from './outbox.ts';
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
  lengthLimitLine,
  lineInPlace,
  markHandled,
  newestOf,
  sendLine,
  showOffers,
  stoppedLine,
  tellRefused,
  type Question,
  type Reply,
  type ReplyPorts,
} from './reply.ts';
import type { PauseNotes } from './pauses.ts';
import type { TurnControl } from './sessions.ts';
import type { TurnLimits } from './turn-limits.ts';
import { openMemory, type TurnMemory, type TurnMemoryPorts } from './turn-memory.ts';
import { decidePolicy, type PolicyPorts, type ToolPorts, type TurnPolicy } from './turn-policy.ts';
import type { WaitingReactions } from './waiting-reactions.ts';

/** Output tokens of an answer at most: some 12,000 characters. */
const answerMaxTokens = 4096;

/** Whom a turn needs. What is decided by a place may change while the turn runs, so it is asked again where something is written or done. */
export interface TurnPorts extends ReplyPorts, PolicyPorts, ToolPorts, TurnMemoryPorts {
  readonly commandOrder: Pick<CommandOrder, 'settled'>;
  readonly changes: Pick<ChangeLedger, 'settled'>;
  readonly waitingReactions: Pick<WaitingReactions, 'begin' | 'end' | 'endForTurn'>;
  readonly people: PolicyPorts['people'] & ReplyPorts['people'];
  readonly pauseNotes: PauseNotes;
  /** Tells the speaker what became of their memory [K6][K13]. */
  readonly memoryNotices: MemoryNotices;
  /** What is stored after a turn, told in its answer or the next one. */
  readonly lateNotices: Pick<LateNotices, 'waiting' | 'answered'>;
  readonly prompts: Pick<PromptComposer, 'compose'>;
  readonly hearing: Pick<Hearing, 'hear'>;
  /** Where what a tool offers is shown to the speaker. */
  readonly offers: OfferPort;
  readonly model: ModelClient;
  readonly mediaBudget: MediaBudget;
  /** What people are told of the day's limits [L2]. */
  readonly limits: Pick<TurnLimits, 'costLine'>;
  /** The model that answers people [M10]. Never rejects. */
  readonly mainModel: () => Promise<string>;
  /** US dollars of one call; `undefined` where the price is not known. */
  readonly costOf: (model: string, usage: ModelUsage) => number | undefined;
  /** Milliseconds for an answer, tools included. */
  readonly answerTimeoutMs: number;
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

/** What is to be sent: the answer, which may be empty, what its footer tells, and what is offered. */
interface Answer extends Known {
  readonly text: string;
  readonly problem?: string;
  /** The model could store nothing [M9]. */
  readonly hadNoTools?: boolean;
}

/**
 * Collected while the model works: what was done and offered, and whether the answer may repeat other people's
 * words or a file [M5a].
 */
interface Known {
  /** Lines about voice messages [G7]. */
  readonly heard: readonly string[];
  readonly notes: string[];
  readonly notices: MemoryNotice[];
  readonly offers: Offer[];
  /** What the model was shown of memory [K7]. */
  readonly used: { readonly prompt: MemorySource[]; readonly tools: ToolRead[] };
  /** Once the model is asked [Y2a]. */
  size?: AnswerSize;
  hasThirdPartyText: boolean;
  /** When that was in view itself, where only an earlier answer that may repeat it was (ISO 8601, UTC). */
  thirdPartyTextAt?: string | undefined;
  /** It was shown what was said in a channel, which the answer retells [B4]. */
  retells?: true;
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
  const work = await bot.begin(newest.author.id);
  const asked = turnOf(messages, newest, work, bot.clock());
  await Promise.all([
    bot.commandOrder.settled(sessionOf(asked)),
    // What was taken back before it is in no memory that it reads.
    bot.changes.settled(asked.place.channelId),
  ]);
  const isOver = (): boolean => control.ending !== undefined && control.ending !== 'stopped';
  if (isOver()) return 'dropped';
  bot.waitingReactions.endForTurn(messages);
  const typing = bot.replies.typing(asked.place.channelId);
  if (messages.some(({ voice }) => voice !== undefined)) typing.show();
  const heard = await bot.hearing.hear(messages, control.signal);
  if (isOver()) {
    typing.end();
    return 'dropped';
  }
  const turn = { ...asked, messages: heard.messages };
  const policy = await decidePolicy(turn, bot);
  const memory = openMemory(turn, policy, bot);
  try {
    const readers = await bot.presentPlace(turn.place);
    const reply = await beginReply(bot, questionOf(turn), readers, control);
    // The words are on their way to the disk, which takes as long as the prompt.
    await setImmediate();
    const answer = await answerTurn(
      answeredFor(turn, readers),
      heard,
      memory,
      policy,
      reply,
      typing,
      control,
      bot,
    );
    if (control.isTakenAway) return await takeAway(turn, reply, answer, control, bot);
    if (answer === 'left') return 'left';
    return await timed('delivery', deliver(turn, memory, reply, answer, control, bot));
  } catch (error) {
    bot.logger.error('a turn could not be finished', { ...sessionOf(turn), error });
    return 'failed';
  } finally {
    typing.end();
    // Whose person was erased leaves nothing to be made of it, and no new trace [K11].
    if (turn.speaker.isBot === undefined && !control.isErased) bot.afterTurn.schedule(sessionOf(turn));
    await memory.close();
  }
}

function turnOf(
  messages: readonly IncomingMessage[],
  { author, isOwner, place }: IncomingMessage,
  { startedAfter }: Work,
  now: Date,
): TurnContext {
  const isBot = author.kind === 'bot' ? { isBot: true as const } : {};
  const speaker = { id: author.id, name: author.name, isOwner, ...isBot };
  return { speaker, place, messages, now, startedAfter, hasThirdPartyText: true };
}

function questionOf(turn: TurnContext): Question {
  const { messages, speaker, place } = turn;
  return {
    ...workOf(turn),
    messageIds: messages.map(({ id }) => id),
    speakerName: speaker.name,
    isBot: speaker.isBot,
    place,
  };
}

/** The turn as it is answered: for more readers than it was said to, where somebody was let in since. */
function answeredFor(turn: TurnContext, readers: Place): TurnContext {
  return hasMoreReaders(turn.place, readers) ? { ...turn, place: readers, saidIn: turn.place } : turn;
}

/** The model's answer, made of memory and with tools, shown as it grows; or a line that says why there is none. Never rejects. */
async function answerTurn(
  turn: TurnContext,
  { lines: heard, problem }: HeardTurn,
  { recorded }: TurnMemory,
  policy: TurnPolicy,
  reply: Reply,
  typing: Typing,
  control: TurnControl,
  bot: TurnPorts,
): Promise<Answer | 'left'> {
  const { signal } = control;
  const used = { prompt: [], tools: [] };
  const known: Known = { heard, notes: [], notices: [], offers: [], used, hasThirdPartyText: true };
  let soFar = '';
  try {
    signal.throwIfAborted();
    if (problem !== undefined) return { text: '', problem, ...known };
    const { prompt, hasThirdPartyText, thirdPartyTextAt, notes } = await timed(
      'prompt',
      bot.prompts.compose(turn, policy, signal),
    );
    known.hasThirdPartyText = hasThirdPartyText;
    known.thirdPartyTextAt = thirdPartyTextAt;
    known.notes.push(...notes);
    known.used.prompt.push(...prompt.sources);
    if (usesNotes(known.used))
      reply.onlyWhile(() => bot.channelNotes.canDisclose(prompt.sources, turn.place, turn.speaker.id));
    const { system, messages } = prompt;
    const model = await bot.mainModel();
    const tools = policy.tools(bot);
    const size = sizeOf(prompt, tools);
    known.size = size;
    const answering = runToolLoop({
      client: bot.model,
      request: {
        purpose: 'chat',
        userId: turn.speaker.id,
        conversation: sessionName(sessionOf(turn)),
        model,
        system,
        messages,
        maxTokens: answerMaxTokens,
      },
      tools,
      context: { ...turn, hasThirdPartyText },
      mediaBudget: bot.mediaBudget,
      deadlineMs: bot.answerTimeoutMs,
      signal,
      after: recorded,
      onText: (piece) => reply.show((soFar += piece)),
      onRestart: () => (soFar = ''),
      onQueue: (isWaiting) => showWaiting(turn, isWaiting, bot),
      onNote: (note) => known.notes.push(note),
      onNotice: (notice) => known.notices.push(notice),
      onOffer: (offer) => turn.speaker.isBot === undefined && addOffer(known.offers, offer),
      onThirdPartyText({ retells, thirdPartyTextAt: at }) {
        const isInView =
          at === undefined || (known.hasThirdPartyText && known.thirdPartyTextAt === undefined);
        known.thirdPartyTextAt = isInView ? undefined : newestTime([known.thirdPartyTextAt, at]);
        known.hasThirdPartyText = true;
        if (retells === true) known.retells = true;
      },
      onRead(read, characters) {
        if (read.sources.length > 0) known.used.tools.push(read);
        size.parts.push({ name: 'tool_results', characters });
      },
      onUsage(usage, by) {
        size.usage = addUsage(size.usage, usage);
        const cost = bot.costOf(by, usage);
        size.cost = size.cost === undefined || cost === undefined ? undefined : size.cost + cost;
      },
      logger: bot.logger,
    });
    // Behind the request, which it would hold up.
    void setImmediate().then(() => typing.show());
    const { text, stop, hadNoTools } = await timed('answer', answering);
    reply.hold();
    // An answer that a time limit or refusal cut short is shown as far as it came, marked and logged [E1].
    if (stop === 'timeout') throw new ModelError('The answer broke off', 'timeout', { partialText: text });
    if (stop === 'refusal') throw new ModelError('The answer broke off', 'invalid', { partialText: text });
    const answer = { text, hadNoTools, ...known };
    return stop === 'cut' ? { ...answer, problem: lengthLimitLine } : answer;
  } catch (error) {
    // Nothing is offered under a partial answer.
    return explain(error, turn, reply, { ...known, offers: [] }, control, bot);
  }
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
  error: unknown,
  { speaker, place }: TurnContext,
  reply: Reply,
  known: Known,
  control: TurnControl,
  { limits, makeReference, logger }: TurnPorts,
): Promise<Answer | 'left'> {
  const text = error instanceof ModelError ? error.partialText.trim() : '';
  switch (control.ending) {
    case 'stopped':
      return { text, problem: stoppedLine, ...known };
    case 'shutdown':
      if (reply.hasBegun() && text !== '') break;
      if (!reply.hasBegun()) await reply.takeAway();
      return 'left';
    case 'deleted':
    case 'channel-deleted':
    case 'reply-deleted':
    case 'more-readers':
    case 'erased':
      return { text, ...known };
    case undefined:
  }
  const { channelId } = place;
  if (error instanceof ModelError && error.failure === 'over-limit') {
    logger.info('a turn has no answer, or a part of it, for the limit on cost', {
      userId: speaker.id,
      channelId,
    });
    const problem = limits.costLine(speaker.id, text !== '');
    return { text, problem, ...known };
  }
  const reference = makeReference();
  logger.error('a turn failed', { reference, userId: speaker.id, channelId, error });
  return { text, problem: text === '' ? failureLine(error, reference) : brokenOffLine(reference), ...known };
}

/** Outbox → Discord → log → handled, in this order; an empty answer is a line in its place. */
async function deliver(
  turn: TurnContext,
  memory: TurnMemory,
  reply: Reply,
  answer: Answer,
  control: TurnControl,
  bot: TurnPorts,
): Promise<TurnOutcome> {
  const { text, offers, hasThirdPartyText, thirdPartyTextAt, retells } = answer;
  const question = questionOf(turn);
  if (text === '') return explainInPlace(turn, memory, reply, answer, control, bot);
  if (!(await reply.mayShow())) return takeAway(turn, reply, answer, control, bot);
  await memory.recordUsed(answer.used, (await isForgotten(turn, bot)) ? undefined : answer.size);
  const late = await bot.lateNotices.waiting(turn);
  const firstWords = await memory.toldOnce();
  const footer = await footerOf(turn, memory, reply, answer, bot, [
    ...((await isForgotten(turn, bot)) ? [] : answer.notices),
    ...late.map(({ notice }) => notice),
  ]);
  footer.lines.push(...withoutSigns(firstWords?.line));
  footer.buttons.push(...(await bot.memoryNotices.why(question, answer.used)));
  // What may repeat others' notes is on no disk [B2].
  if (!usesNotes(answer.used))
    await saveBestEffort(bot.logger, 'the answer', () =>
      bot.outbox.prepare({
        ...question,
        text,
        footer,
        hasThirdPartyText,
        thirdPartyTextAt,
        retells,
      }),
    );
  const finished = await reply.finish(text, footer);
  switch (finished.kind) {
    case 'sent': {
      await memory.recordReply(finished.ids, answer);
      await markHandled(bot, question);
      await firstWords?.sent();
      bot.lateNotices.answered(turn, finished.ids, late);
      if (offers.length > 0) await showOffers(bot, turn, reply, finished.ids, offers);
      return 'answered';
    }
    case 'refused':
      await endRefused(bot, question, finished);
      return 'refused';
    case 'gone':
    case 'withheld':
      return takeAway(turn, reply, answer, control, bot);
  }
}

/** Whether the speaker had a message of the turn forgotten meanwhile, and with it what was stored. Never rejects. */
async function isForgotten({ messages, place }: TurnContext, { outbox }: TurnPorts): Promise<boolean> {
  const hidden = messages.map(({ id }) => outbox.isHidden(place.channelId, id).catch(() => false));
  return (await Promise.all(hidden)).includes(true);
}

/** A footer's lines get their sign when they are sent. */
function withoutSigns(lines = ''): readonly string[] {
  return lines.split('\n').flatMap((line) => (line === '' ? [] : [line.replace(/^-# /u, '')]));
}

/** A line in place of an answer that is empty. */
async function explainInPlace(
  turn: TurnContext,
  memory: TurnMemory,
  reply: Reply,
  answer: Answer,
  control: TurnControl,
  bot: TurnPorts,
): Promise<TurnOutcome> {
  const question = questionOf(turn);
  const wasSeen = reply.hasBegun();
  await reply.takeAway();
  const { problem, notices } = answer;
  const { lines, buttons } = await footerOf(
    turn,
    memory,
    reply,
    { ...answer, problem: undefined },
    bot,
    notices,
  );
  const line = lineInPlace(problem, lines);
  const stillHolds = () => control.ending !== 'deleted' && control.ending !== 'erased';
  if (line !== undefined) await sendLine(bot, question, line, wasSeen, { buttons, stillHolds });
  await markHandled(bot, question);
  return 'explained';
}

/** What the footer tells: what went wrong, what was done, and what became of memory. Never rejects. */
async function footerOf(
  turn: TurnContext,
  memory: TurnMemory,
  reply: Reply,
  answer: Answer,
  bot: TurnPorts,
  notices: readonly MemoryNotice[],
) {
  const { text, problem, heard, notes, hadNoTools = false } = answer;
  const paused = bot.pauseNotes.take(sessionOf(turn), memory.policy.consent);
  const done = [...heard, ...doneLines([...paused, ...notes, ...memory.notes(answer)])];
  const { lines, buttons } = await bot.memoryNotices.under(turn, notices, {
    standing: { lines: problem === undefined ? done : [problem, ...done], buttons: [] },
    hadNoTools: hadNoTools && text !== '' && problem === undefined,
    mayName: reply.mayShow,
  });
  return { lines: [...lines, ...(await memory.channelLines())], buttons: [...buttons] };
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
  const wasSeen = reply.hasBegun();
  await reply.takeAway();
  bot.logger.warn('an answer was taken away', { ...sessionOf(turn), why: ending });
  if (ending === 'more-readers') {
    const { notes, notices } = answer === 'left' ? { notes: [], notices: [] } : answer;
    const told = await bot.memoryNotices.under(turn, notices, { mayName: reply.mayShow });
    const line = lineInPlace(keptBackLine, [...doneLines(notes), ...told.lines]) ?? keptBackLine;
    await sendLine(bot, question, line, wasSeen, { buttons: told.buttons });
  }
  await markHandled(bot, question);
  // There is no place any more that would take it [G3d].
  if (ending === 'channel-deleted') await tellRefused(bot.replies, question, 'place');
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
