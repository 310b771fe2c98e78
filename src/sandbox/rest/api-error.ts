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
    return { message: this.message, code: this.code, errors: this.errors };
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
  unknownApplication: refusal(404, Codes.UnknownApplication, 'Unknown Application'),
  tooManyCommands: (most: number) =>
    new ApiError(
      400,
      Codes.MaximumNumberOfApplicationCommandsReached,
      `Maximum number of application commands reached (${most}).`,
    ),
  unknownWebhook: refusal(404, Codes.UnknownWebhook, 'Unknown Webhook'),
  unknownInteraction: refusal(404, Codes.UnknownInteraction, 'Unknown interaction'),
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
  tooManyReactions: refusal(
    400,
    Codes.MaximumNumberOfReactionsReached,
    'Maximum number of reactions reached (20)',
  ),
  tooManyPins: refusal(
    400,
    Codes.MaximumNumberOfPinsReachedForTheChannel,
    'Maximum number of pins reached for the channel (250)',
  ),
  notATextChannel: refusal(
    400,
    Codes.CannotSendMessagesInNonTextChannel,
    'Cannot send messages in a non-text channel',
  ),
  /** Discord says the same of a locked thread that is open, then with status 403. */
  threadArchived: (status: 400 | 403 = 400) =>
    new ApiError(status, Codes.InvalidActionOnArchivedThread, 'Thread is archived'),
  tooLarge: refusal(413, Codes.RequestEntityTooLarge, 'Request entity too large'),
  pollIsFixed: refusal(400, Codes.CannotEditAPollMessage, 'Cannot edit a poll message'),
  invalidJson: refusal(400, Codes.RequestBodyContainsInvalidJSON, 'The request body contains invalid JSON.'),
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
    _errors: here.length === 0 ? undefined : here.map(({ code, message }) => ({ code, message })),
    ...Object.fromEntries(
      Array.from(names, (name) => {
        const inside = below.filter(({ path }) => String(path[0]) === name);
        return [name, errorTree(inside.map((field) => ({ ...field, path: field.path.slice(1) })))];
      }),
    ),
  };
}
