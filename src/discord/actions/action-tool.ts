import type { SendableChannels } from 'discord.js';
import { z } from 'zod';

import type { HistoryPort } from '../../core/chat.ts';
import type { Clock } from '../../core/time.ts';
import type { Logger } from '../../core/logger.ts';
import type { ToolDefinition } from '../../core/model.ts';
import type { Tool, ToolOutcome } from '../../core/tool.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import type { AccessSettings } from '../access.ts';
import type { FindChannel } from '../place-of.ts';
import { ActionRefusal, failureText } from './action-refusal.ts';

export interface ActionOptions {
  readonly findChannel: FindChannel;
  readonly history: Pick<HistoryPort, 'recent'>;
  readonly settings: Pick<AccessSettings, 'channelIds'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One wish of the model's, while it is carried out. */
export interface ActionTurn {
  readonly context: TurnContext;
  /** The channel that the message stands in. */
  readonly here: SendableChannels;
  /** For the next message that is posted: the same in the same order when the turn is asked again, so that nothing is there twice [G3]. */
  readonly nextNonce: () => string;
  /** To be called right before a request. @throws where the turn was stopped, or its message deleted meanwhile. */
  readonly throwIfOver: () => void;
}

/** What was done: for the model, for people to see under the reply, and by ids for the log. */
export interface ActionResult {
  readonly text: string;
  readonly note: string;
  readonly ids: Readonly<Record<string, string>>;
}

export interface Action<Input> {
  readonly definition: ToolDefinition;
  readonly inputSchema: z.ZodType<Input>;
  /** @throws {ActionRefusal} where it may not be done, or Discord's own errors. */
  readonly act: (input: Input, turn: ActionTurn) => Promise<ActionResult>;
}

/** A tool that does something on Discord for the speaker: input checked, failures told to the model, every action in the log by ids. */
export function actionTool<Input>(action: Action<Input>, { findChannel, logger }: ActionOptions): Tool {
  const { definition, inputSchema, act } = action;
  const posted = new WeakMap<TurnContext, number>();

  function nextNonce(context: TurnContext): string {
    const count = (posted.get(context) ?? 0) + 1;
    posted.set(context, count);
    return `${lastId(context)}${definition.name.at('discord_'.length) ?? ''}${count}`;
  }

  return {
    definition,
    async run(input, context, signal): Promise<ToolOutcome> {
      const { speaker, place } = context;
      const parsed = inputSchema.safeParse(input);
      if (!parsed.success) return { ok: false, text: `Not done: ${z.prettifyError(parsed.error)}` };
      const ids = { action: definition.name, userId: speaker.id, channelId: place.channelId };
      try {
        if (speaker.isBot !== undefined) throw new ActionRefusal('another bot may not ask for it.');
        const here = await findChannel(place.channelId);
        if (here?.isSendable() !== true) throw new ActionRefusal('I cannot see this channel any more.');
        const done = await act(parsed.data, {
          context,
          here,
          nextNonce: () => nextNonce(context),
          throwIfOver: () => signal.throwIfAborted(),
        });
        logger.info('an action was carried out', { ...ids, ...done.ids });
        return { ok: true, text: done.text, note: done.note };
      } catch (error) {
        signal.throwIfAborted();
        const isRefusal = error instanceof ActionRefusal;
        logger.info('an action was not carried out', {
          ...ids,
          ...(isRefusal ? { reason: error.message } : { error }),
        });
        return { ok: false, text: failureText(error) };
      }
    },
  };
}

function lastId({ messages }: TurnContext): string {
  return messages.at(-1)?.id ?? '';
}
