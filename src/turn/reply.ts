import type { CommandButton, FinishedReply, FooterParts, RefusalReason, ReplyPort } from '../core/reply.ts';
import type { PresentPlace } from '../core/channels.ts';
import { longestRetryMs, ModelError, withReference } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { hasMoreReaders, type Place } from '../core/place.ts';
import { snowflakeTime } from '../core/snowflake.ts';
import { offerText, type Offer, type OfferPort } from '../core/tool.ts';
import type { TurnContext } from '../core/turn-context.ts';
import type { Work } from '../core/writes.ts';
import type { PersonSettingsStore } from '../memory/settings/person-settings.ts';
import {
  hideFromHistory,
  markHandled,
  newestOf,
  saveBestEffort,
  type PersonalOutbox,
  type UnfinishedReply,
} from './outbox.ts';
import type { TurnControl } from './sessions.ts';
import { timeAndWait } from './turn-limits.ts';

export interface ReplyPorts {
  readonly outbox: PersonalOutbox;
  readonly replies: ReplyPort;
  readonly presentPlace: PresentPlace;
  /** Who had everything erased [K11]; must not reject. */
  readonly people: Pick<PersonSettingsStore, 'erasedBy'>;
  readonly logger: Logger;
}

/** The messages answered, their author, and the place as it was then. */
export type Question = Omit<UnfinishedReply, 'replyIds'> & { readonly work: Work };

export type Reply = Awaited<ReturnType<typeof beginReply>>;

/**
 * Begins the reply to a turn. Its messages are in the outbox before they enter history, so that a restart
 * goes on in them. Nothing is shown to new readers [V2]. Deleting its messages ends the turn. Never rejects.
 */
export async function beginReply(
  { outbox, replies, presentPlace, people, logger }: ReplyPorts,
  question: Question,
  answeredFor: Place,
  control: TurnControl,
) {
  const existingIds = await outbox.unfinished(question.place.channelId).then(
    // What stands from before a restart of a reply to any of its messages.
    (unfinished) =>
      unfinished.flatMap((each) =>
        question.messageIds.includes(newestOf(each)) && each.isAsked === undefined ? each.replyIds : [],
      ),
    (error: unknown): readonly string[] => {
      logger.error('the outbox could not be read', { channelId: question.place.channelId, error });
      return [];
    },
  );
  control.noteReply(existingIds);
  let isNoted = false;
  let isWhole = false;

  /** False, and ends the turn, if the place has new readers or the question was erased. Never rejects. */
  async function mayShow(): Promise<boolean> {
    // Another process may have erased it, and its notice be lost.
    if ((await people.erasedBy(question.userId))(questionTime(question))) control.end('erased');
    else if (hasMoreReaders(answeredFor, await presentPlace(answeredFor))) control.end('more-readers');
    return !control.isTakenAway;
  }

  const reply = replies.begin({
    channelId: question.place.channelId,
    nonceBase: newestOf(question),
    existingIds,
    mayShow,
    async onMessages(ids) {
      control.noteReply(ids);
      // A reply sent whole is protected by the outbox's answer and its nonce.
      if (isWhole && !isNoted) return;
      isNoted = true;
      await saveBestEffort(logger, 'what stands of a reply', () =>
        outbox.begin({ ...question, replyIds: [...ids] }),
      );
    },
    onGone: () => control.end('reply-deleted'),
  });
  control.whenTakenAway(() => void reply.takeAway());

  return {
    hasStarted: (): boolean => reply.hasStarted(),
    /** The text so far. Never throws. */
    show: (text: string): void => reply.show(text),
    mayShow,
    /** The text is whole, but something comes before `finish`. Never throws. */
    hold: (): void => reply.hold(),
    /** The text is on disk already. Rejects as `ReplyPort.send` does. */
    finish(text: string, footer?: FooterParts): Promise<FinishedReply> {
      isWhole = true;
      return reply.finish(text, footer && { ...footer, personId: question.userId });
    },
    /** Never rejects. */
    takeAway: (): Promise<void> => reply.takeAway(),
  };
}

/** ISO 8601. */
export function questionTime(question: Pick<Question, 'messageIds'>): string {
  return snowflakeTime(newestOf(question)).toISOString();
}

/**
 * Sends a line of the bot's own in place of a reply, which enters neither history nor log [F2]. `stillHolds` is
 * asked before each try and again after it, since what ends it may be on its way; then it is removed. Rejects as
 * `ReplyPort.send` does.
 */
export async function sendLine(
  bot: Pick<ReplyPorts, 'outbox' | 'replies' | 'logger'>,
  question: Pick<Question, 'messageIds' | 'place' | 'userId' | 'isBot'>,
  line: string,
  isAfterReply = false,
  buttons: readonly CommandButton[] = [],
  stillHolds = (): Promise<boolean> => Promise.resolve(true),
): Promise<void> {
  const { channelId } = question.place;
  const nonceBase = `${newestOf(question)}${isAfterReply ? 'e' : ''}`;
  const sent = await bot.replies.send(
    channelId,
    line,
    nonceBase,
    (id) => hideFromHistory(bot, channelId, [id]),
    buttons.length === 0 ? undefined : { personId: question.userId, buttons },
    stillHolds,
  );
  if (sent.kind === 'refused') await tellRefused(bot.replies, question, sent.reason);
  if (sent.kind === 'sent' && !(await stillHolds()))
    await takeAwayPosted(bot.replies, channelId, nonceBase, sent.ids);
}

/** Removes messages of the bot. Never rejects. */
export function takeAwayPosted(
  replies: Pick<ReplyPort, 'begin'>,
  channelId: string,
  nonceBase: string,
  existingIds: readonly string[],
): Promise<void> {
  const reply = replies.begin({
    channelId,
    nonceBase,
    existingIds,
    mayShow: () => Promise.resolve(false),
    onMessages: () => Promise.resolve(),
    onGone: () => {},
  });
  return reply.takeAway();
}

/**
 * Discord refuses the answer for good: history leaves out what stands of it, the person gets one sign, under that or
 * at their message, and the messages count as handled [G3d]. Never rejects.
 */
export async function endRefused(
  bot: Pick<ReplyPorts, 'outbox' | 'replies' | 'logger'>,
  question: Question,
  { ids, reason }: Extract<FinishedReply, { readonly kind: 'refused' }>,
): Promise<void> {
  const { channelId } = question.place;
  await hideFromHistory(bot, channelId, ids);
  await markHandled(bot, channelId, question.messageIds);
  const lastId = ids.at(-1);
  const lines = [refusedLine];
  if (lastId === undefined || !(await bot.replies.amend(channelId, lastId, () => Promise.resolve({ lines }))))
    await tellRefused(bot.replies, question, reason);
}

export function tellRefused(
  replies: Pick<ReplyPort, 'tellRefused'>,
  question: Pick<Question, 'messageIds' | 'place' | 'userId' | 'isBot'>,
  reason: RefusalReason,
): Promise<void> {
  const { place, userId, isBot } = question;
  return replies.tellRefused(
    {
      channelId: place.channelId,
      messageId: newestOf(question),
      userId,
      isBot,
      isDm: place.audience === 'dm',
    },
    reason,
  );
}

/** Each has buttons of its own. */
const mostOffers = 3;

/** Adds an offer, each once. Returns whether it will be shown. */
export function addOffer(offers: Offer[], offer: Offer): boolean {
  if (offers.some((each) => offerText(each) === offerText(offer))) return true;
  if (offers.length >= mostOffers) return false;
  offers.push(offer);
  return true;
}

/**
 * Shows the offers under a reply; shown and carried out only while nobody new reads along [V2]. Never
 * rejects.
 */
export async function showOffers(
  bot: Pick<ReplyPorts, 'outbox' | 'logger'> & { readonly offers: OfferPort },
  { speaker, place: { channelId }, messages }: TurnContext,
  { mayShow }: Reply,
  replyIds: readonly string[],
  offers: readonly Offer[],
): Promise<void> {
  const guarded = offers.map((offer) => ({
    ...offer,
    carryOut: async (signal: AbortSignal) => ((await mayShow()) ? offer.carryOut(signal) : moreReadersLine),
  }));
  const beforeSeen = (id: string) => hideFromHistory(bot, channelId, [id]);
  await bot.offers.show(guarded, {
    personId: speaker.id,
    channelId,
    messages,
    replyIds,
    mayShow,
    beforeSeen,
  });
}

/** What was done in a turn, each thing once: one line at most. */
export function doneLines(notes: readonly string[]): readonly string[] {
  return notes.length === 0 ? [] : [[...new Set(notes)].join(' · ')];
}

/** A line in place of an answer, with small ones under it; `undefined` for nothing. */
export function lineInPlace(problem: string | undefined, lines: readonly string[]): string | undefined {
  const all = [...(problem === undefined ? [] : [problem]), ...lines.map((line) => `-# ${line}`)];
  return all.length === 0 ? undefined : all.join('\n');
}

/** The part that came was sent before it. */
export function brokenOffLine(reference: string): string {
  return `⚠️ My answer broke off here. Ask me to go on, or ask again. (reference ${reference})`;
}

/** The line under a reply that reached the output limit. */
export const lengthLimitLine = '⚠️ My answer reached its length limit. Ask me to go on.';

/** Under a reply that its author stopped, or in its place. */
export const stoppedLine = '⏹️ Stopped.';

/** Under what stands of a reply whose rest Discord refuses [G3d]. */
export const refusedLine =
  '⚠️ My answer broke off here: Discord or a filter of this server refused the rest.';

/** Under the beginning of a reply that a restart cut off, too old to be finished. */
export const interruptedLine = '⚠️ I was restarted here. Ask me to go on, or ask again.';

/** By DM, in place of an answer to an `/ask` that a restart cut off and that cannot be asked again [EW2]. */
export const askAgainLine =
  '⚠️ I was restarted before I could answer what you asked with `/ask`. Please ask again.';

/** Under an answer, where a secret stands in what was said or answered [K14]. */
export const secretNote = '🔑 What looks like a secret here is not kept in memory';

/** Instead of an answer that gained readers [V2]. */
export const keptBackLine =
  '⚠️ This channel became visible to more people while I was answering, so I kept the answer back. Please ask again.';

/** Instead of an answer that Discord did not take while it was young [G3e]. */
export const lateLine =
  '⚠️ Discord did not take my answer to this in time. What I did for it stands; please ask again for the rest.';

/** Instead of an offer that gained readers [V2]. */
const moreReadersLine =
  'Not done: this channel became visible to more people in the meantime. Please ask again.';

/**
 * The one line that people get when a turn fails [M7]. `reference` is in the log too; no internals reach the
 * channel.
 */
export function failureLine(error: unknown, reference: string, now: Date): string {
  return withReference(`⚠️ ${whatHappened(error, now)}`, reference);
}

function whatHappened(error: unknown, now: Date): string {
  if (!(error instanceof ModelError))
    return 'Something went wrong on my side. Your message is kept; please ask again.';
  if (error.retryAfterMs > longestRetryMs)
    return `My language model takes no questions until ${timeAndWait(new Date(now.getTime() + error.retryAfterMs))}. Please ask again then; commands still work.`;
  switch (error.failure) {
    case 'rate-limited':
    case 'overloaded':
    case 'busy':
    case 'paused':
      return 'I have too much to do right now. Please ask again in a minute.';
    case 'over-limit':
      return 'My budget for today is used up. Please ask again tomorrow.';
    case 'stalled':
    case 'timeout':
      return 'My language model took too long. Please ask again.';
    case 'unavailable':
    case 'broken':
    case 'aborted':
      return 'I cannot reach my language model right now. Please ask again in a moment.';
    case 'unknown-model':
    case 'no-api':
      return 'The server of my language model does not answer as configured. The person who runs me can correct DISCOCLAW_MODEL or ANTHROPIC_BASE_URL.';
    case 'out-of-credit':
    case 'unauthorized':
      return 'I cannot answer right now: the person who runs me has to look into my account with the provider of my language model. Commands still work.';
    case 'too-large':
      return 'This is more than my language model can read at one time. Please ask again with a shorter message, or with fewer files.';
    case 'rejected':
      return 'My language model refused this. If it happens again, the person who runs me can find the reason in my log.';
    case 'invalid':
    case 'empty':
      return 'My language model gave no usable answer. Please ask again, perhaps in other words.';
  }
}
