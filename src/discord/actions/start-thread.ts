import { ChannelType, type AnyThreadChannel, type NewsChannel, type TextChannel } from 'discord.js';
import { z } from 'zod';

import { compareSnowflakes } from '../../core/snowflake.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { ActionRefusal, actionTool, line, showMessage, messageIn, messageInput } from './action.ts';
import { permit, requireSameAudience, succeeds } from './permit.ts';

const nameMaxChars = 100;

/** A thread that an earlier try at the turn has started is used again. */
export const startThreadTool = actionTool({
  name: 'discord_start_thread',
  description:
    'Start a thread in this channel, when the person asks for it: from a message, or free-standing. Everybody who writes there talks with you.',
  input: z.object({
    name: line(nameMaxChars).describe(`At most ${nameMaxChars} characters.`),
    message: messageInput
      .describe(`${messageInput.description} Leave it out for a free-standing thread.`)
      .optional(),
    private: z
      .boolean()
      .default(false)
      .describe('Only for the person and whom they add; a free-standing thread only. Default: false.'),
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
        const before = startedBefore(here, context, name, targetId);
        const thread = before ?? (await start(here, name, targetId, isPrivate));
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

function startedBefore(
  parent: TextChannel | NewsChannel,
  { messages }: TurnContext,
  name: string,
  messageId: string | undefined,
): AnyThreadChannel | undefined {
  const asked = messages[0]?.id ?? '0';
  return parent.client.channels.cache
    .filter((channel) => channel.isThread())
    .find(
      (thread) =>
        thread.parentId === parent.id &&
        thread.ownerId === parent.client.user.id &&
        (messageId === undefined
          ? thread.name === name && compareSnowflakes(thread.id, asked) > 0
          : thread.id === messageId),
    );
}

function start(
  parent: TextChannel | NewsChannel,
  name: string,
  startMessage: string | undefined,
  isPrivate: boolean,
): Promise<AnyThreadChannel> {
  return isPrivate && parent.type === ChannelType.GuildText
    ? parent.threads.create({ name, type: ChannelType.PrivateThread })
    : parent.threads.create({ name, startMessage });
}
