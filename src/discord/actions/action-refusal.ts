import { DiscordAPIError, RESTJSONErrorCodes } from 'discord.js';

/** An action that is not carried out; the message is what the model is told, and names nobody's words. */
export class ActionRefusal extends Error {
  override readonly name = 'ActionRefusal';
}

const explanations: ReadonlyMap<number | string, string> = new Map<number | string, string>([
  [RESTJSONErrorCodes.UnknownMessage, 'there is no such message in this channel.'],
  [RESTJSONErrorCodes.UnknownChannel, 'the channel is gone.'],
  [RESTJSONErrorCodes.UnknownEmoji, 'Discord does not know this emoji.'],
  [RESTJSONErrorCodes.MaximumNumberOfReactionsReached, 'the message has as many reactions as it can take.'],
  [RESTJSONErrorCodes.ReactionWasBlocked, 'the author of that message does not want it.'],
  [
    RESTJSONErrorCodes.MaximumNumberOfPinsReachedForTheChannel,
    'the channel has as many pins as it can take.',
  ],
  [RESTJSONErrorCodes.CannotExecuteActionOnSystemMessage, 'that message was written by nobody.'],
  [RESTJSONErrorCodes.CannotExecuteActionOnThisChannelType, 'this kind of channel does not take it.'],
  [RESTJSONErrorCodes.ThreadAlreadyCreatedForMessage, 'that message has a thread already.'],
  [RESTJSONErrorCodes.MaximumActiveThreads, 'the server has as many open threads as it can take.'],
  [RESTJSONErrorCodes.ThreadLocked, 'the thread is locked.'],
  [RESTJSONErrorCodes.MissingPermissions, 'I lack the permission.'],
  [RESTJSONErrorCodes.MissingAccess, 'I cannot see it.'],
]);

/** What the model is told of an action that did not work out. */
export function failureText(error: unknown): string {
  if (error instanceof ActionRefusal) return `Not done: ${error.message}`;
  if (error instanceof DiscordAPIError)
    return `Not done: ${explanations.get(error.code) ?? 'Discord refused it.'}`;
  return 'Discord could not be reached, so nobody knows whether it was done. Do not claim that it was.';
}
