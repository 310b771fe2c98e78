import type { Guild } from 'discord.js';
import { z } from 'zod';

import type { Tool } from '../../core/tool.ts';
import { ActionRefusal } from './action-refusal.ts';
import { actionTool, type ActionOptions } from './action-tool.ts';
import { chooseEmoji, readEmoji, type GuildEmojiFacts } from './emoji.ts';
import { messageIn } from './message-in.ts';
import { messageProperty } from './message-reference.ts';
import { permit } from './permit.ts';

const definition = {
  name: 'discord_react',
  description: 'Add a reaction to a message of this channel, when the person asks for it.',
  inputSchema: {
    type: 'object',
    properties: {
      message: messageProperty,
      emoji: {
        type: 'string',
        description: 'One emoji such as 👍, or one of the server’s own as :name:.',
      },
    },
    required: ['message', 'emoji'],
    additionalProperties: false,
  },
} as const;

/** Lets the model react to a message. The same reaction again changes nothing. */
export function createReactTool(options: ActionOptions): Tool {
  return actionTool(
    {
      definition,
      inputSchema: z.object({ message: z.string(), emoji: z.string() }),
      async act({ message, emoji }, { context, here, throwIfOver }) {
        const messageId = await messageIn(message, context, options.history);
        const guild = here.isDMBased() ? undefined : here.guild;
        const chosen = await emojiOf(emoji, guild, context.speaker.id);
        await permit('react', here, context, options.settings);
        throwIfOver();
        await here.messages.react(messageId, chosen);
        return { text: 'The reaction is there.', note: `${chosen} reacted`, ids: { messageId } };
      },
    },
    options,
  );
}

/** An emoji as Discord takes it: one that everybody has, or one of this server's that speaker and bot may both use. */
async function emojiOf(text: string, guild: Guild | undefined, speakerId: string): Promise<string> {
  const wish = readEmoji(text);
  if (wish === undefined) throw new ActionRefusal('that is not one emoji.');
  if (wish.kind === 'unicode') return wish.emoji;
  if (guild === undefined) throw new ActionRefusal('a direct message has no emoji of its own.');
  const { me } = guild.members;
  const people = [me, guild.members.cache.get(speakerId)].map(
    (member) => new Set(member?.roles.cache.keys() ?? []),
  );
  const found = chooseEmoji(wish, await emojisOf(guild), people);
  if (found === undefined) throw new ActionRefusal('this server has no such emoji for the two of us.');
  return `<${found.isAnimated ? 'a' : ''}:${found.name}:${found.id}>`;
}

/** Asked of Discord, since the client keeps no emoji. */
async function emojisOf(guild: Guild): Promise<readonly GuildEmojiFacts[]> {
  const found = await guild.emojis.fetch(undefined, { cache: false });
  return found.map(({ id, name, animated, available, roles }) => ({
    id,
    name,
    isAnimated: animated,
    isAvailable: available !== false,
    roleIds: [...roles.cache.keys()],
  }));
}
