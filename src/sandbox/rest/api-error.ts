import { RESTJSONErrorCodes as Codes } from 'discord-api-types/v10';

/** A refusal as Discord words it: an HTTP status, and a code of its own. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: number;
  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  get body(): object {
    return { message: this.message, code: this.code };
  }
}

function refusal(status: number, code: number, message: string) {
  return () => new ApiError(status, code, message);
}

export const apiErrors = {
  unauthorized: refusal(401, 0, '401: Unauthorized'),
  notFound: refusal(404, 0, '404: Not Found'),
  unknownChannel: refusal(404, Codes.UnknownChannel, 'Unknown Channel'),
  unknownGuild: refusal(404, Codes.UnknownGuild, 'Unknown Guild'),
  unknownMember: refusal(404, Codes.UnknownMember, 'Unknown Member'),
  unknownMessage: refusal(404, Codes.UnknownMessage, 'Unknown Message'),
  unknownEmoji: refusal(400, Codes.UnknownEmoji, 'Unknown Emoji'),
  unknownUser: refusal(404, Codes.UnknownUser, 'Unknown User'),
  unknownWebhook: refusal(404, Codes.UnknownWebhook, 'Unknown Webhook'),
  unknownInteraction: refusal(404, Codes.UnknownInteraction, 'Unknown interaction'),
  unknownReference: refusal(400, Codes.InvalidFormBodyOrContentType, 'Invalid Form Body: Unknown message'),
  alreadyAcknowledged: refusal(
    400,
    Codes.InteractionHasAlreadyBeenAcknowledged,
    'Interaction has already been acknowledged.',
  ),
  invalidWebhookToken: refusal(401, Codes.InvalidWebhookToken, 'Invalid Webhook Token'),
  missingAccess: refusal(403, Codes.MissingAccess, 'Missing Access'),
  missingPermissions: refusal(403, Codes.MissingPermissions, 'Missing Permissions'),
  cannotDm: refusal(403, Codes.CannotSendMessagesToThisUser, 'Cannot send messages to this user'),
  noMutualGuild: refusal(
    403,
    Codes.CannotSendMessagesToThisUserDueToHavingNoMutualGuilds,
    'Cannot send messages to this user due to having no mutual guilds',
  ),
  notInDm: refusal(403, Codes.CannotExecuteActionOnDMChannel, 'Cannot execute action on a DM channel'),
  foreignMessage: refusal(
    403,
    Codes.CannotEditMessageAuthoredByAnotherUser,
    'Cannot edit a message authored by another user',
  ),
  emptyMessage: refusal(400, Codes.CannotSendAnEmptyMessage, 'Cannot send an empty message'),
  wrongChannelType: refusal(
    400,
    Codes.CannotExecuteActionOnThisChannelType,
    'Cannot execute action on this channel type',
  ),
  replyForbidden: refusal(
    400,
    Codes.CannotReplyWithoutPermissionToReadMessageHistory,
    'Cannot reply without permission to read message history',
  ),
  threadExists: refusal(
    400,
    Codes.ThreadAlreadyCreatedForMessage,
    'A thread has already been created for this message',
  ),
  /** Discord says the same of a locked thread that is open, then with status 403. */
  threadArchived: (status: 400 | 403 = 400) =>
    new ApiError(status, Codes.InvalidActionOnArchivedThread, 'Thread is archived'),
  tooLarge: refusal(413, Codes.RequestEntityTooLarge, 'Request entity too large'),
  pollIsFixed: refusal(400, Codes.CannotEditAPollMessage, 'Cannot edit a poll message'),
} as const;
