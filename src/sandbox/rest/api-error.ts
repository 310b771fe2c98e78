import { RESTJSONErrorCodes as Codes } from 'discord-api-types/v10';
import type { z } from 'zod';

/** A refusal as Discord words it: an HTTP status, a code of its own, and for invalid forms an `errors` tree. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: number;
  readonly errors: object | undefined;
  constructor(status: number, code: number, message: string, errors?: object) {
    super(message);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }

  get body(): object {
    return {
      message: this.message,
      code: this.code,
      ...(this.errors === undefined ? {} : { errors: this.errors }),
    };
  }
}

export const apiErrors = {
  unauthorized: () => new ApiError(401, 0, '401: Unauthorized'),
  notFound: () => new ApiError(404, 0, '404: Not Found'),
  unknownChannel: () => new ApiError(404, Codes.UnknownChannel, 'Unknown Channel'),
  unknownGuild: () => new ApiError(404, Codes.UnknownGuild, 'Unknown Guild'),
  unknownMember: () => new ApiError(404, Codes.UnknownMember, 'Unknown Member'),
  unknownMessage: () => new ApiError(404, Codes.UnknownMessage, 'Unknown Message'),
  unknownEmoji: () => new ApiError(400, Codes.UnknownEmoji, 'Unknown Emoji'),
  unknownUser: () => new ApiError(404, Codes.UnknownUser, 'Unknown User'),
  unknownCommand: () => new ApiError(404, Codes.UnknownApplicationCommand, 'Unknown application command'),
  unknownApplication: () => new ApiError(404, Codes.UnknownApplication, 'Unknown Application'),
  tooManyCommands: (most: number) =>
    new ApiError(
      400,
      Codes.MaximumNumberOfApplicationCommandsReached,
      `Maximum number of application commands reached (${most}).`,
    ),
  unknownWebhook: () => new ApiError(404, Codes.UnknownWebhook, 'Unknown Webhook'),
  unknownInteraction: () => new ApiError(404, Codes.UnknownInteraction, 'Unknown interaction'),
  alreadyAcknowledged: () =>
    new ApiError(
      400,
      Codes.InteractionHasAlreadyBeenAcknowledged,
      'Interaction has already been acknowledged.',
    ),
  invalidWebhookToken: () => new ApiError(401, Codes.InvalidWebhookToken, 'Invalid Webhook Token'),
  missingAccess: () => new ApiError(403, Codes.MissingAccess, 'Missing Access'),
  missingPermissions: () => new ApiError(403, Codes.MissingPermissions, 'Missing Permissions'),
  cannotDm: () => new ApiError(403, Codes.CannotSendMessagesToThisUser, 'Cannot send messages to this user'),
  noMutualGuild: () =>
    new ApiError(
      403,
      Codes.CannotSendMessagesToThisUserDueToHavingNoMutualGuilds,
      'Cannot send messages to this user due to having no mutual guilds',
    ),
  notInDm: () =>
    new ApiError(403, Codes.CannotExecuteActionOnDMChannel, 'Cannot execute action on a DM channel'),
  foreignMessage: () =>
    new ApiError(
      403,
      Codes.CannotEditMessageAuthoredByAnotherUser,
      'Cannot edit a message authored by another user',
    ),
  emptyMessage: () => new ApiError(400, Codes.CannotSendAnEmptyMessage, 'Cannot send an empty message'),
  wrongChannelType: () =>
    new ApiError(
      400,
      Codes.CannotExecuteActionOnThisChannelType,
      'Cannot execute action on this channel type',
    ),
  replyForbidden: () =>
    new ApiError(
      400,
      Codes.CannotReplyWithoutPermissionToReadMessageHistory,
      'Cannot reply without permission to read message history',
    ),
  threadExists: () =>
    new ApiError(
      400,
      Codes.ThreadAlreadyCreatedForMessage,
      'A thread has already been created for this message',
    ),
  tooManyReactions: () =>
    new ApiError(400, Codes.MaximumNumberOfReactionsReached, 'Maximum number of reactions reached (20)'),
  tooManyPins: () =>
    new ApiError(
      400,
      Codes.MaximumNumberOfPinsReachedForTheChannel,
      'Maximum number of pins reached for the channel (250)',
    ),
  notATextChannel: () =>
    new ApiError(400, Codes.CannotSendMessagesInNonTextChannel, 'Cannot send messages in a non-text channel'),
  /** Discord says the same of a locked thread that is open, then with status 403. */
  threadArchived: (status: 400 | 403 = 400) =>
    new ApiError(status, Codes.InvalidActionOnArchivedThread, 'Thread is archived'),
  bulkDeleteCount: () =>
    new ApiError(
      400,
      Codes.ProvidedTooFewOrTooManyMessagesToDelete,
      'You can only bulk delete between 2 and 100 messages.',
    ),
  bulkDeleteAge: () =>
    new ApiError(
      400,
      Codes.OneOfTheMessagesProvidedWasTooOldForBulkDelete,
      'You can only bulk delete messages that are under 14 days old.',
    ),
  tooLarge: () => new ApiError(413, Codes.RequestEntityTooLarge, 'Request entity too large'),
  pollIsFixed: () => new ApiError(400, Codes.CannotEditAPollMessage, 'Cannot edit a poll message'),
  notAPoll: () => new ApiError(400, Codes.CannotExpireANonPollMessage, 'Cannot expire a non-poll message'),
  pollOver: () => new ApiError(400, Codes.PollExpired, 'Poll expired'),
  invalidJson: () =>
    new ApiError(400, Codes.RequestBodyContainsInvalidJSON, 'The request body contains invalid JSON.'),
  /** One field of a form is wrong: `path` as in `['content']`. */
  invalidField: (path: readonly PropertyKey[], code: string, message: string) =>
    invalidForm([{ path, code, message }]),
} as const;

/** The parsed value, or an error 50035 that names each wrong field. @throws {ApiError} */
export function parseForm<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) return parsed.data;
  throw invalidForm(
    parsed.error.issues.map(({ path, code, message }) => ({ path, code: code.toUpperCase(), message })),
  );
}

interface FieldError {
  readonly path: readonly PropertyKey[];
  readonly code: string;
  readonly message: string;
}

function invalidForm(fields: readonly FieldError[]): ApiError {
  return new ApiError(400, Codes.InvalidFormBodyOrContentType, 'Invalid Form Body', errorTree(fields));
}

/** As deep as the form: each wrong field has its `_errors` where the field stands. */
function errorTree(fields: readonly FieldError[]): object {
  const here = fields.filter(({ path }) => path.length === 0);
  const below = fields.filter(({ path }) => path.length > 0);
  const names = new Set(below.map(({ path }) => String(path[0])));
  return {
    ...(here.length === 0 ? {} : { _errors: here.map(({ code, message }) => ({ code, message })) }),
    ...Object.fromEntries(
      Array.from(names, (name) => {
        const inside = below.filter(({ path }) => String(path[0]) === name);
        return [name, errorTree(inside.map((field) => ({ ...field, path: field.path.slice(1) })))];
      }),
    ),
  };
}
