import {
  DiscordAPIError,
  RESTJSONErrorCodes,
  type APIMessage,
  type RESTPatchAPIChannelMessageJSONBody,
} from 'discord.js';

import { isSnowflake, snowflakeTime } from '../../core/snowflake.ts';
import type { Clock } from '../../core/time.ts';
import { hasErrorCode, NotPermittedError, type DiscordApi } from '../discord-api.ts';

/** Discord compares nonces for "a few minutes"; what answers an older message than this is looked for first. Milliseconds. */
const nonceHoldsMs = 2 * 60_000;

const noPings = { parse: [], replied_user: false };

/**
 * Posts a chunk of a reply, or gives the message that is there under its nonce already. The first one is a reply to the message that `nonceBase`
 * names, where it names one, and where the bot may reply: without the permission to read the channel's history it may only speak.
 */
export async function postChunk(
  api: Pick<DiscordApi, 'postMessage'>,
  channelId: string,
  nonceBase: string,
  index: number,
  content: string,
): Promise<APIMessage> {
  const body = {
    content,
    allowed_mentions: noPings,
    nonce: `${nonceBase}-${index}`,
    enforce_nonce: true,
  };
  if (index > 0 || !isSnowflake(nonceBase)) return api.postMessage(channelId, body);
  const reference = { message_id: nonceBase, fail_if_not_exists: false };
  try {
    return await api.postMessage(channelId, { ...body, message_reference: reference });
  } catch (error) {
    if (!hasErrorCode(error, RESTJSONErrorCodes.CannotReplyWithoutPermissionToReadMessageHistory))
      throw error;
    return await api.postMessage(channelId, body);
  }
}

export function editBody(content: string): RESTPatchAPIChannelMessageJSONBody {
  return { content, allowed_mentions: noPings };
}

/** Whether Discord may no longer know the nonces of what answered this message. */
export function mayHaveForgottenNonces(messageId: string, clock: Clock): boolean {
  return clock().getTime() - snowflakeTime(messageId).getTime() > nonceHoldsMs;
}

/** Discord will not take a message in this channel, however often it is sent: gone, forbidden, or a person who refuses DMs. */
const lasting = [
  RESTJSONErrorCodes.UnknownChannel,
  RESTJSONErrorCodes.MissingAccess,
  RESTJSONErrorCodes.CannotSendMessagesToThisUser,
  RESTJSONErrorCodes.MissingPermissions,
];

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
    this.isLasting = cause instanceof NotPermittedError || hasErrorCode(cause, ...lasting);
  }
}

/** Whether Discord has given its verdict, or it is known, as against a connection or a server that failed. */
export function isRefusal(error: unknown): boolean {
  return error instanceof DiscordAPIError || error instanceof NotPermittedError;
}

/** Whether the message is not there any more. */
export function isGone(error: unknown): boolean {
  return hasErrorCode(error, RESTJSONErrorCodes.UnknownMessage);
}
