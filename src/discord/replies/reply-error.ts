import { DiscordAPIError, RESTJSONErrorCodes } from 'discord.js';

import { NotPermittedError } from '../permitted-api.ts';

/** Discord will not take a message in this channel, however often it is sent: gone, forbidden, or a person who refuses DMs. */
const lasting: ReadonlySet<number | string> = new Set([
  RESTJSONErrorCodes.UnknownChannel,
  RESTJSONErrorCodes.MissingAccess,
  RESTJSONErrorCodes.CannotSendMessagesToThisUser,
  RESTJSONErrorCodes.MissingPermissions,
]);

/** A reply could not be sent, or only in part. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
  readonly channelId: string;
  /** The chunks that did arrive. */
  readonly sentIds: readonly string[];
  /** Trying again is of no use. */
  readonly isLasting: boolean;
  constructor(channelId: string, sentIds: readonly string[], cause: unknown) {
    super(`A reply in channel ${channelId} could not be sent`, { cause });
    this.channelId = channelId;
    this.sentIds = sentIds;
    this.isLasting =
      cause instanceof NotPermittedError || (cause instanceof DiscordAPIError && lasting.has(cause.code));
  }
}

/** Whether Discord has given its verdict, or it is known, as against a connection or a server that failed. */
export function isRefusal(error: unknown): boolean {
  return error instanceof DiscordAPIError || error instanceof NotPermittedError;
}

/** Discord's refusal of a reply, as against a message, where the bot may not read the channel's history. */
export function isReplyForbidden(error: unknown): boolean {
  return (
    error instanceof DiscordAPIError &&
    error.code === RESTJSONErrorCodes.CannotReplyWithoutPermissionToReadMessageHistory
  );
}

/** Whether the message is not there any more. */
export function isGone(error: unknown): boolean {
  return error instanceof DiscordAPIError && error.code === RESTJSONErrorCodes.UnknownMessage;
}
