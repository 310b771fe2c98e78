import { DiscordAPIError, type SendableChannels } from 'discord.js';
import { z } from 'zod';

import type { HistoryPort } from '../../core/channels.ts';
import type { Clock } from '../../core/time.ts';
import type { Logger } from '../../core/logger.ts';
import { toSingleLine } from '../../core/text.ts';
import { checkedTool, refusal, type Offer, type Tool, type ToolOutcome } from '../../core/tool.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import type { AccessSettings } from '../access.ts';
import { explanationOf } from '../refusals.ts';
import type { Places } from '../place.ts';
import { compareSnowflakes, messageReferenceIn } from '../../core/snowflake.ts';

export interface ActionOptions {
  readonly places: Places;
  readonly history: Pick<HistoryPort, 'recent'>;
  readonly settings: Pick<AccessSettings, 'channelIds'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface ActionTurn {
  readonly context: TurnContext;
  readonly here: SendableChannels;
  /** The same in the same order when the turn is run again, so that nothing is posted twice [G3]. */
  readonly nextNonce: () => string;
  readonly signal: AbortSignal;
}

/** `text` is for the model, `note` for people, `ids` for the log. */
interface ActionResult {
  readonly text: string;
  readonly note: string;
  readonly ids: Readonly<Record<string, string>>;
}

/** Each function throws {@link ActionRefusal} where it may not be done, or Discord's own errors. */
interface Plan {
  /** Default: offered by a button where others' words or a file are in the context [M8]. */
  readonly offered?: 'always' | 'never' | undefined;
  readonly permit: () => Promise<void>;
  readonly show: () => Promise<Pick<Offer, 'what' | 'words'>>;
  readonly act: () => Promise<ActionResult>;
}

interface Action<Input> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly plan: (input: Input, turn: ActionTurn, options: ActionOptions) => Promise<Plan>;
}

const needsButton = "Not done: this takes the person's own click.";
const notAsShown = 'it is not any more as it was shown. Please ask again.';

/** A tool that does something on Discord for the speaker, or offers it by a button [M8]. */
export function actionTool<Input>(action: Action<Input>): (options: ActionOptions) => Tool {
  const { name, description, input: schema } = action;
  return (options) => {
    const { places, logger } = options;
    const posted = new WeakMap<TurnContext, number>();

    function nextNonce(context: TurnContext): string {
      const count = (posted.get(context) ?? 0) + 1;
      posted.set(context, count);
      const lastId = context.messages.at(-1)?.id ?? '';
      return `${lastId}${name.at('discord_'.length) ?? ''}${count}`;
    }

    async function planFor(input: Input, context: TurnContext, signal: AbortSignal): Promise<Plan> {
      if (context.speaker.isBot !== undefined) throw new ActionRefusal('another bot may not ask for it.');
      const here = await places.find(context.place.channelId);
      if (here?.isSendable() !== true) throw new ActionRefusal('I cannot see this channel any more.');
      return action.plan(input, { context, here, nextNonce: () => nextNonce(context), signal }, options);
    }

    async function carryOut({ permit, act }: Plan, ids: object): Promise<ActionResult> {
      await permit();
      const done = await act();
      logger.info('an action was carried out', { ...ids, ...done.ids });
      return done;
    }

    async function run(input: Input, context: TurnContext, signal: AbortSignal): Promise<ToolOutcome> {
      const { speaker, place, hasThirdPartyText } = context;
      const ids = { action: name, userId: speaker.id, channelId: place.channelId };
      const refused = (error: unknown): string => {
        const reason = error instanceof ActionRefusal ? { reason: error.message } : { error };
        logger.info('an action was not carried out', { ...ids, ...reason });
        return failureText(error);
      };
      try {
        const plan = await planFor(input, context, signal);
        if (plan.offered === 'always' || (hasThirdPartyText && plan.offered !== 'never')) {
          await plan.permit();
          const offer = await plan.show();
          return {
            ...refusal(needsButton),
            offer: { ...offer, carryOut: (pressed) => press(offer, pressed) },
          };
        }
        const { text, note } = await carryOut(plan, ids);
        return { ok: true, text, note };
      } catch (error) {
        signal.throwIfAborted();
        return refusal(refused(error));
      }

      /** Does what was offered, if it is still the same. */
      async function press(offer: Pick<Offer, 'what' | 'words'>, pressed: AbortSignal): Promise<string> {
        try {
          const plan = await planFor(input, context, pressed);
          const { what, words } = await plan.show();
          if (what !== offer.what || words !== offer.words) throw new ActionRefusal(notAsShown);
          const { note } = await carryOut(plan, { ...ids, isOffered: true });
          return note;
        } catch (error) {
          return addressed(refused(error));
        }
      }
    }

    return checkedTool({ name, description, input: schema, notDone: 'Not done', run });
  };
}

function addressed(text: string): string {
  return text
    .replaceAll('the person lacks', 'you lack')
    .replaceAll('the person', 'you')
    .replace(claimNothing, '');
}

export async function showMessage(verb: string, channel: SendableChannels, messageId: string) {
  const { url, content } = await channel.messages.fetch({ message: messageId, cache: false, force: true });
  return { what: `${verb}: ${url}`, words: content === '' ? undefined : content };
}

export function line(maxChars: number) {
  return z.string().transform(toSingleLine).pipe(z.string().min(1).max(maxChars));
}

/** The message is what the model is told, and contains nobody's words. */
export class ActionRefusal extends Error {
  override readonly name = 'ActionRefusal';
}

const claimNothing = ' Do not claim that it was.';

function failureText(error: unknown): string {
  if (error instanceof ActionRefusal) return `Not done: ${error.message}`;
  if (error instanceof DiscordAPIError) return `Not done: ${explanationOf(error)}`;
  return `Discord could not be reached, so it is not known whether it was done.${claimNothing}`;
}

export const messageInput = z
  .string()
  .describe(
    '`current`: the message you are answering; `replied_to`: the one that it replies to; `my_last`: your own last before it; or the id or link of one in this channel.',
  );

/** In other tools, which are offered only together with the first. */
export const messageAsThere = 'As for discord_react.';

const lookedThrough = 50;

const inOther = 'That message is in another channel.';

/** @throws {ActionRefusal} where it means none. */
export async function messageIn(
  reference: string,
  { messages, place }: Pick<TurnContext, 'messages' | 'place'>,
  history: Pick<HistoryPort, 'recent'>,
): Promise<string> {
  const trimmed = reference.trim();
  switch (trimmed) {
    case 'current':
      return known(messages.at(-1)?.id, 'There is no message.');
    case 'replied_to': {
      const target = messages.findLast(({ repliesTo }) => repliesTo !== undefined)?.repliesTo;
      if (target !== undefined && target.channelId !== place.channelId) throw new ActionRefusal(inOther);
      return known(target?.id, 'The message you are answering replies to none.');
    }
    case 'my_last': {
      const first = messages[0]?.id ?? '0';
      const recent = await history.recent(place.channelId, lookedThrough);
      const own = recent.findLast(
        ({ id, author }) => author.kind === 'self' && compareSnowflakes(id, first) < 0,
      );
      return known(own?.id, 'You have said nothing here lately.');
    }
    default: {
      const linked = messageReferenceIn(trimmed);
      if ((linked?.channelId ?? place.channelId) !== place.channelId) throw new ActionRefusal(inOther);
      return known(linked?.id, 'Name a message by `current`, `replied_to`, `my_last`, its id or its link.');
    }
  }
}

function known(id: string | undefined, otherwise: string): string {
  if (id === undefined) throw new ActionRefusal(otherwise);
  return id;
}
