import { DiscordAPIError, RESTJSONErrorCodes } from 'discord.js';

import type { RefusalReason } from '../../core/chat.ts';
import { snowflakeTime } from '../../core/snowflake.ts';
import type { Clock } from '../../core/time.ts';
import { hasErrorCode, NotPermittedError } from '../discord-api.ts';

/** Discord compares nonces for "a few minutes"; milliseconds. */
const nonceHoldsMs = 2 * 60_000;

export function mayHaveForgottenNonces(messageId: string, clock: Clock): boolean {
  return clock().getTime() - snowflakeTime(messageId).getTime() > nonceHoldsMs;
}

/** `passes`: tried again, also at the next start; `may-pass`: tried a few times [G3d]. */
const meanings = new Map<number | string, 'passes' | 'may-pass' | RefusalReason>([
  [RESTJSONErrorCodes.ActionCannotBePerformedDueToSlowmodeRateLimit, 'passes'],
  [RESTJSONErrorCodes.AnnouncementEditLimitExceeded, 'passes'],
  [RESTJSONErrorCodes.ChannelSendRateLimit, 'passes'],
  [RESTJSONErrorCodes.ServerSendRateLimit, 'passes'],
  [RESTJSONErrorCodes.MaximumNumberOfEditsToMessagesOlderThanOneHourReached, 'passes'],
  [RESTJSONErrorCodes.OpeningDirectMessagesTooFast, 'passes'],
  [RESTJSONErrorCodes.SendMessagesHasBeenTemporarilyDisabled, 'passes'],
  [RESTJSONErrorCodes.FeatureTemporarilyDisabledServerSide, 'passes'],
  [RESTJSONErrorCodes.ServiceResourceIsBeingRateLimited, 'passes'],
  [RESTJSONErrorCodes.CloudflareIsBlockingYourRequest, 'passes'],
  [RESTJSONErrorCodes.IndexNotYetAvailable, 'passes'],
  [RESTJSONErrorCodes.ApplicationNotYetAvailable, 'passes'],
  [RESTJSONErrorCodes.APIResourceOverloaded, 'passes'],
  // In a new forum post, the bot may be faster than Discord.
  [RESTJSONErrorCodes.CannotSendAMessageInAForumChannel, 'may-pass'],
  [RESTJSONErrorCodes.UnknownChannel, 'place'],
  [RESTJSONErrorCodes.UnknownGuild, 'place'],
  [RESTJSONErrorCodes.UserBannedFromThisGuild, 'place'],
  [RESTJSONErrorCodes.MissingAccess, 'place'],
  [RESTJSONErrorCodes.CannotExecuteActionOnDMChannel, 'place'],
  [RESTJSONErrorCodes.CannotSendMessagesToThisUser, 'place'],
  [RESTJSONErrorCodes.CannotSendMessagesInNonTextChannel, 'place'],
  [RESTJSONErrorCodes.ChannelVerificationLevelTooHighForYouToGainAccess, 'place'],
  [RESTJSONErrorCodes.MissingPermissions, 'place'],
  [RESTJSONErrorCodes.CannotExecuteActionOnThisChannelType, 'place'],
  [RESTJSONErrorCodes.InvalidActionOnArchivedThread, 'place'],
  [RESTJSONErrorCodes.CannotSendMessagesToThisUserDueToHavingNoMutualGuilds, 'place'],
  [RESTJSONErrorCodes.CannotReplyWithoutPermissionToReadMessageHistory, 'place'],
  [RESTJSONErrorCodes.ThreadLocked, 'place'],
  [RESTJSONErrorCodes.ExplicitContentCannotBeSentToTheDesiredRecipient, 'content'],
  [RESTJSONErrorCodes.RequestEntityTooLarge, 'content'],
  [RESTJSONErrorCodes.CannotSendAnEmptyMessage, 'content'],
  [RESTJSONErrorCodes.InvalidFormBodyOrContentType, 'content'],
  [RESTJSONErrorCodes.FileUploadedExceedsMaximumSize, 'content'],
  [RESTJSONErrorCodes.InvalidFileUploaded, 'content'],
  [RESTJSONErrorCodes.RequestBodyContainsInvalidJSON, 'content'],
  [RESTJSONErrorCodes.MessageWasBlockedByAutomaticModeration, 'content'],
  [RESTJSONErrorCodes.TitleWasBlockedByAutomaticModeration, 'content'],
  [RESTJSONErrorCodes.MessageBlockedByHarmfulLinksFilter, 'content'],
]);
const passingStatuses = new Set([401, 408, 425, 429]);

function meaningOf(error: unknown): 'passes' | 'may-pass' | RefusalReason {
  if (error instanceof NotPermittedError) return 'place';
  if (!(error instanceof DiscordAPIError)) return 'passes';
  const { status } = error;
  if (status < 400 || status >= 500 || passingStatuses.has(status)) return 'passes';
  return meanings.get(error.code) ?? 'may-pass';
}

export function mayPass(error: unknown): boolean {
  const meaning = meaningOf(error);
  return meaning === 'passes' || meaning === 'may-pass';
}

/** `undefined` where it passes by itself [G3d]. */
export function refusalOf(error: unknown): RefusalReason | undefined {
  const meaning = meaningOf(error);
  if (meaning === 'passes') return undefined;
  if (meaning !== 'may-pass') return meaning;
  // An invalid form has the status 400.
  const isForm = error instanceof DiscordAPIError && error.status === 400 && !meanings.has(error.code);
  return isForm ? 'content' : 'place';
}

export function isGone(error: unknown): boolean {
  return hasErrorCode(error, RESTJSONErrorCodes.UnknownMessage);
}
