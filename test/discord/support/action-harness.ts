import type { Place } from '../../../src/core/place.ts';
import type { ToolOutcome } from '../../../src/core/tool.ts';
import type { TurnContext } from '../../../src/core/turn-context.ts';
import type { RecordedRequest } from '../../support/sandbox/request-log.ts';
import { runGateway, type RunningGateway, type RunOptions } from './gateway-harness.ts';

/** A turn that the bot is in the middle of: what was said, and what the model may do about it. */
export interface ActionStage extends RunningGateway {
  /** Says something to the bot, and makes it the message of the turn. */
  readonly ask: (as: string, where: string, text: string, replyTo?: string) => Promise<TurnContext>;
  readonly act: (
    context: TurnContext,
    tool: string,
    input: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ) => Promise<ToolOutcome>;
  /** What would change something on Discord, since the stage was opened. */
  readonly changingRequests: () => Promise<readonly RecordedRequest[]>;
  /** The section's lines for a turn. */
  readonly lines: (context: TurnContext) => Promise<readonly string[]>;
}

export async function openActionStage(options: RunOptions = {}): Promise<ActionStage> {
  const running = await runGateway(options);
  const { server, handlers, actions, settled } = running;

  return {
    ...running,
    async ask(as, where, text, replyTo) {
      await server.say({
        as,
        in: where,
        text: `@Discoclaw ${text}`,
        ...(replyTo !== undefined && { replyTo }),
      });
      await settled();
      const message = handlers.messages.at(-1);
      if (message === undefined) throw new Error('Nothing reached the bot');
      return {
        speaker: { id: message.author.id, name: message.author.name, isOwner: message.isOwner },
        place: message.place,
        messages: [message],
        now: new Date(),
        work: { userId: message.author.id },
        hasThirdPartyText: false,
      };
    },
    act(context, name, input, signal = new AbortController().signal) {
      const tool = actions.tools.find(({ definition }) => definition.name === name);
      if (tool === undefined) throw new Error(`No such tool: ${name}`);
      return tool.run(input, context, signal);
    },
    async changingRequests() {
      const requests = await server.requests();
      return requests.filter(({ method, path }) => method !== 'GET' && path.startsWith('/channels/'));
    },
    async lines(context) {
      const sections = await actions.sections(context);
      return sections.flatMap((section) => section.lines);
    },
  };
}

/** As it was before the channel became public. */
export function inPrivate(place: Place): Place {
  return { ...place, audience: 'private', readers: [] };
}
