import type { GuildTextBasedChannel, SendableChannels } from 'discord.js';
import { z } from 'zod';

import { sentMaxChars } from '../../core/chat.ts';
import { withoutInvisible } from '../../core/text.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import type { AccessSettings } from '../access.ts';
import { sentFor } from '../normalise.ts';
import { ActionRefusal, actionTool, postOnce } from './action.ts';
import { channelsCalled, currentPlaceOf, noSuchChannel, permit, succeeds } from './permit.ts';

export const sendTool = actionTool({
  name: 'discord_send',
  description:
    'Send a message to another channel, when the person asks for it; the answer to them is not sent with this. ' +
    'From a private place the person is shown the text and the channel first, and agrees by a button.',
  input: z.object({
    channel: z.string().min(1).describe('#name or id.'),
    text: z
      .string()
      .transform((said) => withoutInvisible(said).trim())
      .pipe(z.string().min(1))
      .describe(`At most ${sentMaxChars} characters.`),
  }),
  async plan({ channel, text }, { context, here, nextNonce, signal }, options) {
    const { settings, clock } = options;
    const target = await sendTarget(channel, here, context, settings);
    if (target.id === here.id) throw new ActionRefusal('you are in that channel: say it in your answer.');
    const content = sentFor(text, context.speaker.id);
    const excess = content.length - sentMaxChars;
    if (excess > 0)
      throw new ActionRefusal(`the text is too long by ${excess} characters. Nothing was sent.`);
    const nonce = nextNonce();
    const places = [context.saidIn ?? context.place, await currentPlaceOf(here, options.places)];
    return {
      offered: places.some(({ audience }) => audience !== 'public') ? 'always' : undefined,
      permit: () => permit('send', target, context, settings),
      show: () => Promise.resolve({ what: `Send to <#${target.id}>:`, words: text }),
      async act() {
        const asked = { context, clock, check: async () => signal.throwIfAborted() };
        const { messageId, isRepeated } = await postOnce(target, { content }, nonce, asked);
        return {
          text: isRepeated ? 'That was sent before; nothing was sent again.' : 'The message is there.',
          note: `➡️ sent to <#${target.id}>`,
          ids: { targetId: target.id, messageId },
        };
      },
    };
  },
});

const maxCandidates = 5;

/** From a DM, of any server that both are in. @throws {ActionRefusal} for none or several. */
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
