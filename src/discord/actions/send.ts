import type { GuildTextBasedChannel, SendableChannels } from 'discord.js';
import { z } from 'zod';

import { sentMaxChars } from '../../core/chat.ts';
import { hasMoreReaders, type Place } from '../../core/place.ts';
import { withoutInvisible } from '../../core/text.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import type { AccessSettings } from '../access.ts';
import { ActionRefusal, actionTool, isSame, postedBefore, postQuietly } from './action.ts';
import { channelsCalled, currentPlaceOf, noSuchChannel, permit, succeeds } from './permit.ts';
import { relayedText, sentFor, type Relay } from './relayed-text.ts';

/** Lets the model send a message to another channel. It says for whom, and pings nobody. */
export const sendTool = actionTool({
  name: 'discord_send',
  description:
    'Send a message to another channel, when the person asks for it; the answer to them is not sent with this. From a private place only ' +
    "the person's own words can be sent, copied word for word from the message you are answering, to a channel that this message names as #name.",
  input: z.object({
    channel: z.string().min(1).describe('#name or id.'),
    text: z
      .string()
      .transform((said) => withoutInvisible(said).trim())
      .pipe(z.string().min(1))
      .describe(`At most ${sentMaxChars} characters.`),
  }),
  async plan({ channel, text }, { context, here, nextNonce, signal }, { settings, clock, places }) {
    const target = await sendTarget(channel, here, context, settings);
    if (target.id === here.id) throw new ActionRefusal('you are in that channel: say it in your answer.');
    const nonce = nextNonce();
    const compose = async () => {
      const from = await currentPlaceOf(here, places);
      const to = await currentPlaceOf(target, places);
      return textFor({ text, target, ...wayOf(context, from, to) }, context);
    };
    return {
      wanted: { kind: 'send', channel: target },
      permit: () => permit('send', target, context, settings),
      show: async () => ({ what: `Send to <#${target.id}>:`, words: await compose() }),
      async act() {
        const content = async () => sentFor(await compose(), context.speaker.id);
        const before = await postedBefore(target, { content: await content() }, context, clock);
        // Whoever can read along is looked at last, right before the words leave.
        const post = { content: await content() };
        signal.throwIfAborted();
        const message = before ?? (await postQuietly(target, post, nonce));
        const isRepeated = before !== undefined || !isSame(message, post);
        return {
          text: isRepeated ? 'That was sent before; nothing was sent again.' : 'The message is there.',
          note: `➡️ sent to <#${target.id}>`,
          ids: { targetId: target.id, messageId: message.id },
        };
      },
    };
  },
});

/** How far words go, by who can read along in both places now, and could when they were said. */
function wayOf(context: TurnContext, from: Place, to: Place): Pick<Relay, 'isFromPublic' | 'reach'> {
  const said = context.saidIn ?? context.place;
  const isFromPublic = said.audience === 'public' && from.audience === 'public';
  const hasSameReaders =
    from.homeId === to.homeId && from.audience === to.audience && !hasMoreReaders(said, from);
  if (hasSameReaders) return { isFromPublic, reach: 'same' };
  return { isFromPublic, reach: from.guildId === to.guildId ? 'server' : 'elsewhere' };
}

const refusals = {
  unnamed: 'the message that asks for it does not name that channel as #name.',
  'not-own-words':
    'this is a private place, from which only words of the message that asks for it can be sent, copied as they stand there.',
} as const;

/** What is sent, as far as it may be; it fits with the line under it. */
function textFor(relay: Omit<Relay, 'messages'>, { messages, speaker }: TurnContext): string {
  const relayed = relayedText({ ...relay, messages: messages.map(({ text }) => text) });
  if (relayed.outcome === 'refused') throw new ActionRefusal(refusals[relayed.reason]);
  const excess = sentFor(relayed.text, speaker.id).length - sentMaxChars;
  if (excess > 0) throw new ActionRefusal(`the text is too long by ${excess} characters. Nothing was sent.`);
  return relayed.text;
}

/** Channels of one name that are looked at more closely. */
const maxCandidates = 5;

/**
 * The channel that a message is to be sent to, by id or name: one of the same server, from a direct message one of a server that both are
 * in. Nothing is asked of Discord about an id that the client does not know.
 * @throws {ActionRefusal} where there is none, or where several could be meant.
 */
async function sendTarget(
  reference: string,
  here: SendableChannels,
  context: TurnContext,
  settings: Pick<AccessSettings, 'channelIds'>,
): Promise<GuildTextBasedChannel> {
  const [first, ...others] = channelsCalled(reference, here);
  if (first === undefined) throw new ActionRefusal(noSuchChannel);
  if (others.length === 0) return first;
  if (others.length >= maxCandidates)
    throw new ActionRefusal('many channels are called that: name it by its id.');
  const usable = [];
  for (const channel of [first, ...others])
    if (await succeeds(permit('send', channel, context, settings))) usable.push(channel);
  const [only, ...more] = usable;
  if (only === undefined) throw new ActionRefusal(noSuchChannel);
  if (more.length > 0) throw new ActionRefusal('several channels are called that: name one by its id.');
  return only;
}
