import {
  DiscordAPIError,
  RESTJSONErrorCodes,
  type APIMessage,
  type RawFile,
  type RESTPatchAPIChannelMessageJSONBody,
} from 'discord.js';

import type { ButtonsOfPerson, RefusalReason } from '../../core/chat.ts';
import { isSnowflake, snowflakeTime } from '../../core/snowflake.ts';
import type { Clock } from '../../core/time.ts';
import { buttonRows } from '../command-buttons.ts';
import { hasErrorCode, NotPermittedError, type DiscordApi } from '../discord-api.ts';
import type { Chunk } from './reply-state.ts';

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
  { index, content, files }: Pick<Chunk, 'content' | 'files'> & { readonly index: number },
  buttons?: ButtonsOfPerson,
): Promise<APIMessage> {
  const body = {
    content: content.toWellFormed(),
    allowed_mentions: noPings,
    nonce: `${nonceBase}-${index}`,
    enforce_nonce: true,
    ...(buttons !== undefined && { components: buttonRows(buttons) }),
  };
  if (index > 0 || !isSnowflake(nonceBase)) return api.postMessage(channelId, body, rawFiles(files));
  const reference = { message_id: nonceBase, fail_if_not_exists: false };
  try {
    return await api.postMessage(channelId, { ...body, message_reference: reference }, rawFiles(files));
  } catch (error) {
    if (!hasErrorCode(error, RESTJSONErrorCodes.CannotReplyWithoutPermissionToReadMessageHistory))
      throw error;
    return await api.postMessage(channelId, body, rawFiles(files));
  }
}

/** The files of a message as they are uploaded. */
export function rawFiles(files: Chunk['files']): readonly RawFile[] {
  return files.map(({ name, text }) => ({
    name,
    data: Buffer.from(text),
    contentType: 'text/plain; charset=utf-8',
  }));
}

export function editBody(content: string, buttons?: ButtonsOfPerson): RESTPatchAPIChannelMessageJSONBody {
  return {
    content: content.toWellFormed(),
    allowed_mentions: noPings,
    ...(buttons !== undefined && { components: buttonRows(buttons) }),
  };
}

/** Whether Discord may no longer know the nonces of what answered this message. */
export function mayHaveForgottenNonces(messageId: string, clock: Clock): boolean {
  return clock().getTime() - snowflakeTime(messageId).getTime() > nonceHoldsMs;
}

/** Refusals that a later request may not meet: the token was renewed, or a limit that Discord does not call one. */
const passing = new Set<number | string>([
  RESTJSONErrorCodes.ActionCannotBePerformedDueToSlowmodeRateLimit,
  RESTJSONErrorCodes.ChannelWriteRateLimit,
  RESTJSONErrorCodes.APIResourceOverloaded,
]);
const passingStatuses = new Set([401, 408, 425, 429]);

/** Whether Discord refuses a request for good, and why; `undefined` where it may pass by itself [G3d]. */
export function refusalOf(error: unknown): RefusalReason | undefined {
  if (error instanceof NotPermittedError) return 'place';
  if (!(error instanceof DiscordAPIError) || passing.has(error.code)) return undefined;
  const { status } = error;
  if (status < 400 || status >= 500 || passingStatuses.has(status)) return undefined;
  return status === 400 && !placeCodes.has(error.code) ? 'content' : 'place';
}

/** Refused with status 400, though not because of what a message says. */
const placeCodes = new Set<number | string>([
  RESTJSONErrorCodes.InvalidActionOnArchivedThread,
  RESTJSONErrorCodes.ThreadLocked,
  RESTJSONErrorCodes.MissingPermissions,
  RESTJSONErrorCodes.MissingAccess,
]);

/** A reply could not be sent, or only in part; that may pass by itself. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
  readonly channelId: string;
  /** The chunks that did arrive. */
  readonly sentIds: readonly string[];
  constructor(channelId: string, sentIds: readonly string[], cause: unknown) {
    super(`A reply in channel ${channelId} could not be sent`, { cause });
    this.channelId = channelId;
    this.sentIds = sentIds;
  }
}

/** Whether the message is not there any more. */
export function isGone(error: unknown): boolean {
  return hasErrorCode(error, RESTJSONErrorCodes.UnknownMessage);
}
