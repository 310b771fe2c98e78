import {
  DiscordAPIError,
  MessageFlags,
  RESTJSONErrorCodes,
  type Message,
  type MessageCreateOptions,
  type SendableChannels,
} from 'discord.js';
import { z } from 'zod';

import type { HistoryPort } from '../../core/chat.ts';
import type { Clock } from '../../core/time.ts';
import type { Logger } from '../../core/logger.ts';
import { flatten } from '../../core/text.ts';
import { checkedTool, refusal, type Tool, type ToolOutcome } from '../../core/tool.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import type { AccessSettings } from '../access.ts';
import { botMay } from '../permissions.ts';
import type { FindChannel } from '../place.ts';
import { mayHaveForgottenNonces } from '../replies/reply-requests.ts';

export interface ActionOptions {
  readonly findChannel: FindChannel;
  readonly history: Pick<HistoryPort, 'recent'>;
  readonly settings: Pick<AccessSettings, 'channelIds'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The turn in which an action is carried out. */
interface ActionTurn {
  readonly context: TurnContext;
  /** The channel that the message stands in. */
  readonly here: SendableChannels;
  /** For the next message that is posted: the same in the same order when the turn is asked again, so that nothing is there twice [G3]. */
  readonly nextNonce: () => string;
  /** Aborted where the turn was stopped, or its message deleted; to be asked right before a request. */
  readonly signal: AbortSignal;
}

/** What was done: for the model, for people to see under the reply, and by ids for the log. */
interface ActionResult {
  readonly text: string;
  readonly note: string;
  readonly ids: Readonly<Record<string, string>>;
}

interface Action<Input> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** @throws {ActionRefusal} where it may not be done, or Discord's own errors. */
  readonly act: (input: Input, turn: ActionTurn, options: ActionOptions) => Promise<ActionResult>;
}

/** A tool that does something on Discord for the speaker: input checked, failures told to the model, every action in the log by ids. */
export function actionTool<Input>(action: Action<Input>): (options: ActionOptions) => Tool {
  const { name, description, input: schema, act } = action;
  return (options) => {
    const posted = new WeakMap<TurnContext, number>();

    function nextNonce(context: TurnContext): string {
      const count = (posted.get(context) ?? 0) + 1;
      posted.set(context, count);
      const lastId = context.messages.at(-1)?.id ?? '';
      return `${lastId}${name.at('discord_'.length) ?? ''}${count}`;
    }

    async function run(input: Input, context: TurnContext, signal: AbortSignal): Promise<ToolOutcome> {
      const { speaker, place } = context;
      const ids = { action: name, userId: speaker.id, channelId: place.channelId };
      try {
        if (speaker.isBot !== undefined) throw new ActionRefusal('another bot may not ask for it.');
        const here = await options.findChannel(place.channelId);
        if (here?.isSendable() !== true) throw new ActionRefusal('I cannot see this channel any more.');
        const turn = { context, here, nextNonce: () => nextNonce(context), signal };
        const done = await act(input, turn, options);
        options.logger.info('an action was carried out', { ...ids, ...done.ids });
        return { ok: true, text: done.text, note: done.note };
      } catch (error) {
        signal.throwIfAborted();
        const reason = error instanceof ActionRefusal ? { reason: error.message } : { error };
        options.logger.info('an action was not carried out', { ...ids, ...reason });
        return refusal(failureText(error));
      }
    }

    return checkedTool({ name, description, input: schema, notDone: 'Not done', run });
  };
}

/** A text of one line, for a tool's input. */
export function line(maxChars: number) {
  return z.string().transform(flatten).pipe(z.string().min(1).max(maxChars));
}

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
  [RESTJSONErrorCodes.CannotExecuteActionOnSystemMessage, 'that is a system message.'],
  [RESTJSONErrorCodes.CannotExecuteActionOnThisChannelType, 'this kind of channel does not take it.'],
  [RESTJSONErrorCodes.ThreadAlreadyCreatedForMessage, 'that message has a thread already.'],
  [RESTJSONErrorCodes.MaximumActiveThreads, 'the server has as many open threads as it can take.'],
  [RESTJSONErrorCodes.ThreadLocked, 'the thread is locked.'],
  [RESTJSONErrorCodes.MissingPermissions, 'I lack the permission.'],
  [RESTJSONErrorCodes.MissingAccess, 'I cannot see it.'],
]);

/** What the model is told of an action that did not work out. */
function failureText(error: unknown): string {
  if (error instanceof ActionRefusal) return `Not done: ${error.message}`;
  if (error instanceof DiscordAPIError)
    return `Not done: ${explanations.get(error.code) ?? 'Discord refused it.'}`;
  return 'Discord could not be reached, so it is not known whether it was done. Do not claim that it was.';
}

/** What is posted: a text, or a poll without one. */
export type Post =
  | Required<Pick<MessageCreateOptions, 'content'>>
  | Required<Pick<MessageCreateOptions, 'poll'>>;

/** The bot's message of this kind that an earlier try at the turn left in the channel, where the nonce no longer tells. */
export async function postedBefore(
  channel: SendableChannels,
  post: Post,
  { messages }: TurnContext,
  clock: Clock,
): Promise<Message | undefined> {
  const asked = messages.at(-1)?.id ?? '0';
  if (!mayHaveForgottenNonces(asked, clock) || !botMay('read', channel)) return undefined;
  const since = await channel.messages.fetch({ after: asked, limit: 100, cache: false });
  return since.find((message) => message.author.id === channel.client.user.id && isSame(message, post));
}

/** Posts pinging nobody, and nothing where the nonce is known: the message that is there is then given. */
export function postQuietly(channel: SendableChannels, post: Post, nonce: string): Promise<Message> {
  return channel.send({
    ...post,
    nonce,
    enforceNonce: true,
    allowedMentions: { parse: [], repliedUser: false },
    ...('poll' in post && { flags: MessageFlags.SuppressNotifications }),
  });
}

/** Whether a message says what was to be posted; under a known nonce Discord gives what was posted first. */
export function isSame(message: Message, post: Post): boolean {
  if ('content' in post) return message.content === post.content?.trim();
  return message.poll !== null && message.poll.question.text === post.poll?.question.text;
}
