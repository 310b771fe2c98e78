import { z } from 'zod';

import { becamePublic, type Place } from '../../core/place.ts';
import type { Tool } from '../../core/tool.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { ActionRefusal } from './action-refusal.ts';
import { actionTool, type ActionOptions } from './action-tool.ts';
import { carriedText, type Carriage } from './carried-text.ts';
import { permit } from './permit.ts';
import { isSame, postedBefore, postQuietly } from './post-once.ts';
import { presentPlaceOf } from './present-audience.ts';
import { sentFor } from './sent-for.ts';
import { sendTarget } from './send-target.ts';

/** Discord's limit for a message. */
const messageMaxChars = 2000;

const definition = {
  name: 'discord_send',
  description:
    'Send a message to another channel, when the person asks for it; the answer to them is not sent with this. From a private place only ' +
    "the person's own words can be sent, copied word for word from the message you are answering, to a channel that this message names.",
  inputSchema: {
    type: 'object',
    properties: {
      channel: { type: 'string', description: '#name or id.' },
      text: { type: 'string', description: `At most ${messageMaxChars} characters.` },
    },
    required: ['channel', 'text'],
    additionalProperties: false,
  },
} as const;

const refusals = {
  unnamed: 'the message you are answering does not name that channel. Ask the person to name it as #name.',
  'not-own-words':
    "this is a private place, from which only the person's own words can be sent: copy them word for word from the message you are answering.",
} as const;

/** Lets the model send a message to another channel. It says at whose wish, and pings nobody. */
export function createSendTool(options: ActionOptions): Tool {
  const { findChannel, settings, clock } = options;
  return actionTool(
    {
      definition,
      inputSchema: z.object({ channel: z.string().min(1), text: z.string().trim().min(1) }),
      async act({ channel, text }, { context, here, nextNonce, throwIfOver }) {
        const target = await sendTarget(channel, here, context, settings);
        if (target.id === here.id) throw new ActionRefusal('you are in that channel: say it in your answer.');
        const nonce = nextNonce();
        const carry = async () => {
          const [from, to] = [
            await presentPlaceOf(here, findChannel),
            await presentPlaceOf(target, findChannel),
          ];
          return { content: contentOf({ text, target, ...wayOf(context, from, to) }, context) };
        };
        await permit('send', target, context, settings);
        const before = await postedBefore(target, await carry(), context, clock);
        // Whoever can read along is looked at last, right before the words leave.
        const post = await carry();
        throwIfOver();
        const message = before ?? (await postQuietly(target, post, nonce));
        const isRepeated = before !== undefined || !isSame(message, post);
        return {
          text: isRepeated ? 'That was sent before; nothing was sent again.' : 'The message is there.',
          note: `➡️ sent to <#${target.id}>`,
          ids: { targetId: target.id, messageId: message.id },
        };
      },
    },
    options,
  );
}

/** How far words go, by who can read along in both places now, and could when they were said. */
function wayOf(context: TurnContext, from: Place, to: Place): Pick<Carriage, 'isFromPublic' | 'reach'> {
  const said = context.saidIn ?? context.place;
  const isFromPublic = said.audience === 'public' && from.audience === 'public';
  const hasSameReaders =
    from.homeId === to.homeId && from.audience === to.audience && !becamePublic(said, from);
  if (hasSameReaders) return { isFromPublic, reach: 'same' };
  return { isFromPublic, reach: from.guildId === to.guildId ? 'server' : 'elsewhere' };
}

function contentOf(carriage: Omit<Carriage, 'messages' | 'hasThirdPartyText'>, context: TurnContext): string {
  const { messages, speaker, hasThirdPartyText } = context;
  const carried = carriedText({ ...carriage, messages: messages.map(({ text }) => text), hasThirdPartyText });
  if (carried.outcome === 'refused') throw new ActionRefusal(refusals[carried.reason]);
  const content = sentFor(carried.text, speaker.id);
  if (content.length > messageMaxChars)
    throw new ActionRefusal(
      `the text is too long by ${content.length - messageMaxChars} characters. Nothing was sent.`,
    );
  return content;
}
