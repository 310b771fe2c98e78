import {
  MessageFlags,
  type GuildTextBasedChannel,
  type MessageCreateOptions,
  type SendableChannels,
  ChannelType,
  type AnyThreadChannel,
} from 'discord.js';
import { z } from 'zod';

import { sentMaxChars } from '../../core/reply.ts';
import { withoutInvisible } from '../../core/text.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import type { AccessSettings } from '../access.ts';
import { sentFor } from '../normalise.ts';
import {
  ActionRefusal,
  actionTool,
  channelsCalled,
  currentPlaceOf,
  line,
  messageAsThere,
  messageIn,
  noSuchChannel,
  permit,
  requireSameAudience,
  showMessage,
  succeeds,
  usableOf,
} from './action.ts';

export const sendTool = actionTool({
  name: 'discord_send',
  description: 'Send a message to another channel; your answer is not sent with this.',
  input: z.object({
    channel: z.string().min(1).describe('#name or id.'),
    text: z
      .string()
      .transform((text) => withoutInvisible(text).trim())
      .pipe(z.string().min(1)),
  }),
  async plan({ channel, text }, { context, here, nextNonce, signal }, options) {
    const { settings } = options;
    const target = await sendTarget(channel, here, context, settings);
    if (target.id === here.id) throw new ActionRefusal('you are in that channel: say it in your answer.');
    const content = sentFor(text, context.speaker.id);
    const excess = content.length - sentMaxChars;
    if (excess > 0)
      throw new ActionRefusal(`the text is too long by ${excess} characters. Nothing was sent.`);
    const nonce = nextNonce();
    const places = [context.originalPlace ?? context.place, await currentPlaceOf(here, options.places)];
    return {
      offered: places.some(({ audience }) => audience !== 'public') ? 'always' : undefined,
      permit: () => permit('send', target, context, settings),
      show: () => Promise.resolve({ what: `Send to <#${target.id}>:`, words: text }),
      async act() {
        signal.throwIfAborted();
        const { messageId, isRepeated } = await postOnce(target, { content }, nonce);
        return {
          text: isRepeated ? 'That was sent before; nothing was sent again.' : 'The message is there.',
          note: `➡️ sent to <#${target.id}>`,
          ids: { targetId: target.id, messageId },
        };
      },
    };
  },
});

/** From a DM, of any server that both are in. @throws {ActionRefusal} for none or several. */
async function sendTarget(
  reference: string,
  here: SendableChannels,
  context: TurnContext,
  settings: Pick<AccessSettings, 'channelIds'>,
): Promise<GuildTextBasedChannel> {
  const called = channelsCalled(reference, here);
  const [first, ...others] =
    called.length === 1
      ? called
      : await usableOf(called, (channel) => succeeds(permit('send', channel, context, settings)));
  if (first === undefined) throw new ActionRefusal(noSuchChannel);
  if (others.length > 0) throw new ActionRefusal('several channels are called that: name one by its id.');
  return first;
}

const questionMaxChars = 300;
const answerMaxChars = 55;
const maxHours = 768;

export const pollTool = actionTool({
  name: 'discord_poll',
  description: 'Make a poll in this channel.',
  input: z.object({
    question: line(questionMaxChars),
    answers: z
      .array(line(answerMaxChars))
      .min(2)
      .max(10)
      .describe(`At most ${answerMaxChars} characters each.`),
    hours: z.int().min(1).max(maxHours).default(24).describe('Default: 24.'),
    multiselect: z.boolean().default(false).describe('People may choose several.'),
  }),
  async plan(
    { question, answers, hours, multiselect },
    { context, here, nextNonce, signal },
    { settings, places },
  ) {
    const poll = {
      question: { text: question },
      answers: answers.map((text) => ({ text })),
      duration: hours,
      allowMultiselect: multiselect,
    };
    const nonce = nextNonce();
    return {
      async permit() {
        await permit('poll', here, context, settings);
        await requireSameAudience(here, context, places);
      },
      show: async () => ({
        what: `Make a poll for ${hours} hours, ${multiselect ? 'with several answers each' : 'with one answer each'}:`,
        words: [question, ...answers.map((answer) => `- ${answer}`)].join('\n'),
      }),
      async act() {
        signal.throwIfAborted();
        const { messageId } = await postOnce(here, { poll }, nonce);
        return { text: 'The poll is there.', note: '📊 made a poll', ids: { messageId } };
      },
    };
  },
});

type Post = Required<Pick<MessageCreateOptions, 'content'>> | Required<Pick<MessageCreateOptions, 'poll'>>;

/** Once, though the turn is run again within minutes: under a known nonce Discord returns what was posted first. */
async function postOnce(channel: SendableChannels, post: Post, nonce: string) {
  const flags = 'poll' in post ? MessageFlags.SuppressNotifications : undefined;
  const message = await channel.send({ ...post, nonce, enforceNonce: true, flags });
  const isRepeated =
    'content' in post
      ? message.content !== post.content?.trim()
      : message.poll?.question.text !== post.poll?.question.text;
  return { messageId: message.id, isRepeated };
}

const nameMaxChars = 100;

export const startThreadTool = actionTool({
  name: 'discord_start_thread',
  description:
    'Start a thread in this channel, from a message or free-standing. Everybody who writes there talks with you.',
  input: z.object({
    name: line(nameMaxChars),
    message: z.string().describe(`${messageAsThere} None: free-standing.`).optional(),
    private: z.boolean().default(false).describe('For the person and whom they add; free-standing only.'),
  }),
  async plan({ name, message, private: isPrivate }, { context, here, signal }, options) {
    if (here.isThread()) throw new ActionRefusal('this is a thread already.');
    if (isPrivate && message !== undefined)
      throw new ActionRefusal('a thread from a message cannot be private.');
    const targetId = message === undefined ? undefined : await messageIn(message, context, options.history);
    return {
      async permit() {
        await permit(isPrivate ? 'start-private-thread' : 'start-thread', here, context, options.settings);
        await requireSameAudience(here, context, options.places);
      },
      async show() {
        const from =
          targetId === undefined ? '' : ` ${(await showMessage('from this message', here, targetId)).what}`;
        return { what: `Start a ${isPrivate ? 'private ' : ''}thread${from} with this name:`, words: name };
      },
      async act() {
        signal.throwIfAborted();
        if (here.type !== ChannelType.GuildText && here.type !== ChannelType.GuildAnnouncement)
          throw new ActionRefusal('this kind of channel has no threads.');
        const thread: AnyThreadChannel =
          isPrivate && here.type === ChannelType.GuildText
            ? await here.threads.create({ name, type: ChannelType.PrivateThread })
            : await here.threads.create({ name, startMessage: targetId });
        const isOpen = !isPrivate || (await succeeds(thread.members.add(context.speaker.id)));
        return {
          text: `The thread is there: <#${thread.id}>${isOpen ? '' : ', but the person could not be added to it.'}`,
          note: `🧵 started <#${thread.id}>`,
          ids: { threadId: thread.id },
        };
      },
    };
  },
});
