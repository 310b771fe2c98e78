import { setTimeout as delay } from 'node:timers/promises';

import { DiscordAPIError, RESTJSONErrorCodes as Code } from 'discord.js';

import type { RefusalReason } from '../core/reply.ts';
import { retry } from '../core/time.ts';

type Meaning = 'passes' | 'may-pass' | RefusalReason;

/**
 * What Discord's error codes mean that answers and actions can meet. `means`, of a message that is sent: `passes` is tried again, also at the next
 * start, `may-pass` a few times [G3d]. `told`: why an action was not done. `ends`: nothing more can be said to that
 * interaction, or in that person's direct messages.
 */
const codes: Readonly<
  Record<
    number | string,
    { readonly means?: Meaning; readonly reason?: string; readonly ends?: 'interaction' | 'dm' }
  >
> = {
  [Code.ActionCannotBePerformedDueToSlowmodeRateLimit]: { means: 'passes' },
  [Code.ChannelSendRateLimit]: { means: 'passes' },
  [Code.ServerSendRateLimit]: { means: 'passes' },
  [Code.MaximumNumberOfEditsToMessagesOlderThanOneHourReached]: { means: 'passes' },
  [Code.OpeningDirectMessagesTooFast]: { means: 'passes' },
  [Code.SendMessagesHasBeenTemporarilyDisabled]: { means: 'passes' },
  [Code.CloudflareIsBlockingYourRequest]: { means: 'passes' },
  [Code.APIResourceOverloaded]: { means: 'passes' },
  [Code.CannotSendAMessageInAForumChannel]: { means: 'may-pass' },
  [Code.UnknownChannel]: { means: 'place', reason: 'the channel is gone.' },
  [Code.MissingAccess]: { means: 'place', reason: 'I cannot see it.' },
  [Code.CannotSendMessagesToThisUser]: { means: 'place', ends: 'dm' },
  [Code.MissingPermissions]: { means: 'place', reason: 'I lack the permission.' },
  [Code.CannotExecuteActionOnThisChannelType]: {
    means: 'place',
    reason: 'this kind of channel does not take it.',
  },
  [Code.InvalidActionOnArchivedThread]: { means: 'place' },
  [Code.CannotSendMessagesToThisUserDueToHavingNoMutualGuilds]: { means: 'place', ends: 'dm' },
  [Code.ThreadLocked]: { means: 'place', reason: 'the thread is locked.' },
  [Code.ExplicitContentCannotBeSentToTheDesiredRecipient]: { means: 'content' },
  [Code.CannotSendAnEmptyMessage]: { means: 'content' },
  [Code.InvalidFormBodyOrContentType]: { means: 'content' },
  [Code.MessageWasBlockedByAutomaticModeration]: { means: 'content' },
  [Code.MessageBlockedByHarmfulLinksFilter]: { means: 'content' },
  [Code.UnknownMessage]: {
    means: 'place',
    reason: 'there is no such message in this channel.',
    ends: 'interaction',
  },
  [Code.UnknownEmoji]: { reason: 'Discord does not know this emoji.' },
  [Code.MaximumNumberOfReactionsReached]: { reason: 'the message has as many reactions as it can take.' },
  [Code.ReactionWasBlocked]: { reason: 'the author of that message does not want it.' },
  [Code.MaximumNumberOfPinsReachedForTheChannel]: { reason: 'the channel has as many pins as it can take.' },
  [Code.CannotExecuteActionOnSystemMessage]: { reason: 'that is a system message.' },
  [Code.ThreadAlreadyCreatedForMessage]: { reason: 'that message has a thread already.' },
  [Code.MaximumActiveThreads]: { reason: 'the server has as many open threads as it can take.' },
  [Code.InteractionHasAlreadyBeenAcknowledged]: { means: 'place' },
  [Code.UnknownInteraction]: { means: 'place', ends: 'interaction' },
  [Code.UnknownWebhook]: { means: 'place', ends: 'interaction' },
  [Code.InvalidWebhookToken]: { means: 'place', ends: 'interaction' },
};

/** A request that was not sent, since Discord is known to refuse it [G3d]. */
export class NotPermittedError extends Error {
  override readonly name = 'NotPermittedError';
  constructor(what: string, channelId: string) {
    super(`The bot lacks the permission to ${what} in channel ${channelId}`);
  }
}

export function hasErrorCode(error: unknown, ...expected: readonly Code[]): boolean {
  return error instanceof DiscordAPIError && expected.some((code) => code === error.code);
}

function entryOf(error: unknown) {
  return error instanceof DiscordAPIError ? codes[error.code] : undefined;
}

const passingStatuses = new Set([401, 408, 425, 429]);

function meaningOf(error: unknown): Meaning {
  if (error instanceof NotPermittedError) return 'place';
  if (!(error instanceof DiscordAPIError)) return 'passes';
  const { status } = error;
  // An interaction's token that is over has the status of a bot's token that is refused.
  if (entryOf(error)?.ends === 'interaction') return 'place';
  if (status < 400 || status >= 500 || passingStatuses.has(status)) return 'passes';
  return entryOf(error)?.means ?? 'may-pass';
}

/** Between tries of what is sent, while it is young: as long as a message is answered after a gap [G3e]; milliseconds. */
const sendingPausesMs = [500, 1000, 2000, 4000, 8000, 15_000, 30_000, 60_000, 60_000, 60_000, 60_000];
const mayPassTries = 3;

/** Milliseconds before what Discord did not take is sent again; `undefined` after the last try, and for what does not pass [G3d]. */
export function pauseBeforeSending(
  error: unknown,
  failures: number,
  pausesMs: readonly number[] = sendingPausesMs,
): number | undefined {
  const meaning = meaningOf(error);
  const tries = meaning === 'passes' ? Infinity : meaning === 'may-pass' ? mayPassTries : 0;
  return failures > tries ? undefined : pausesMs[failures - 1];
}

/** Sends again what Discord does not take, while it is young. What others may read asks in `send` who can now [V2]. */
export function sendUntilTaken<Result>(
  send: () => Promise<Result>,
  pausesMs?: readonly number[],
  wait = (ms: number): Promise<void> => delay(ms, undefined, { ref: false }),
): Promise<Result> {
  function pauseAfter(error: unknown, failures: number): number {
    const pauseMs = pauseBeforeSending(error, failures, pausesMs);
    if (pauseMs === undefined) throw error;
    return pauseMs;
  }
  return retry(send, pauseAfter, { wait });
}

/** `undefined` where it passes by itself [G3d]. */
export function refusalOf(error: unknown): RefusalReason | undefined {
  const meaning = meaningOf(error);
  if (meaning === 'passes') return undefined;
  if (meaning !== 'may-pass') return meaning;
  // An invalid form has the status 400.
  const isForm =
    error instanceof DiscordAPIError && error.status === 400 && entryOf(error)?.means === undefined;
  return isForm ? 'content' : 'place';
}

/** Why Discord did not do what it was asked for, to be told. */
export function explanationOf(error: DiscordAPIError): string {
  return entryOf(error)?.reason ?? 'Discord refused it.';
}

/** Other servers than Discord may not say what there is none of. */
const isUnexplained404 = (error: unknown): boolean =>
  error instanceof DiscordAPIError && error.status === 404 && codes[error.code] === undefined;

export function isGone(error: unknown): boolean {
  return hasErrorCode(error, Code.UnknownMessage) || isUnexplained404(error);
}

/** Whether a person takes no direct messages of the bot. */
export function isDmClosed(error: unknown): boolean {
  return entryOf(error)?.ends === 'dm';
}

export function isInteractionOver(error: unknown): boolean {
  return entryOf(error)?.ends === 'interaction' || isUnexplained404(error);
}
