import type { Guild } from 'discord.js';
import { z } from 'zod';

import type { Tool } from '../../core/tool.ts';
import {
  ActionRefusal,
  actionTool,
  showMessage,
  type ActionOptions,
  messageIn,
  messageAsThere,
  messageInput,
} from './action.ts';
import { permit } from './permit.ts';

export const reactTool = actionTool({
  name: 'discord_react',
  description: 'Add a reaction to a message of this channel.',
  input: z.object({
    message: messageInput,
    emoji: z.string().describe('Such as 👍, or one of the server’s own as :name:.'),
  }),
  async plan({ message, emoji }, { context, here, signal }, { history, settings }) {
    const messageId = await messageIn(message, context, history);
    const guild = here.isDMBased() ? undefined : here.guild;
    const chosen = await emojiOf(emoji, guild);
    return {
      // A reaction to the speaker's own message reveals nothing.
      offered: context.messages.some(({ id }) => id === messageId) ? 'never' : undefined,
      permit: () => permit('react', here, context, settings),
      show: () => showMessage(`React with ${chosen} to this message`, here, messageId),
      async act() {
        signal.throwIfAborted();
        await here.messages.react(messageId, chosen);
        return { text: 'The reaction is there.', note: `${chosen} reacted`, ids: { messageId } };
      },
    };
  },
});

export const pinTool = pinningTool('pin', 'Pin');
export const unpinTool = pinningTool('unpin', 'Unpin');

function pinningTool(kind: 'pin' | 'unpin', verb: string): (options: ActionOptions) => Tool {
  return actionTool({
    name: `discord_${kind}`,
    description: `${verb} a message of this channel.`,
    input: z.object({ message: z.string().describe(messageAsThere) }),
    async plan({ message }, { context, here, signal }, { history, settings }) {
      const messageId = await messageIn(message, context, history);
      return {
        permit: () => permit('pin', here, context, settings),
        show: () => showMessage(`${verb} this message`, here, messageId),
        async act() {
          signal.throwIfAborted();
          await here.messages[kind](messageId);
          return { text: `The message is ${kind}ned.`, note: `📌 ${kind}ned`, ids: { messageId } };
        },
      };
    },
  });
}

/** One of this server's must be for everybody, and so for speaker and bot [J1]. */
async function emojiOf(text: string, guild: Guild | undefined): Promise<string> {
  const emoji = readEmoji(text);
  if (emoji === undefined) throw new ActionRefusal('that is not one emoji.');
  if (emoji.kind === 'unicode') return emoji.emoji;
  if (guild === undefined) throw new ActionRefusal('a direct message has no emoji of its own.');
  const emojis = await guild.emojis.fetch(undefined, { cache: false });
  const found = emojis.find(
    ({ id, name, available, roles }) =>
      available !== false &&
      roles.cache.size === 0 &&
      (id === emoji.id || name.toLowerCase() === emoji.name?.toLowerCase()),
  );
  if (found === undefined) throw new ActionRefusal('this server has no such emoji that everybody can use.');
  return String(found);
}

const custom = /^(?:<a?:(?<name>\w{2,32}):(?<id>[0-9]{15,21})>|:(?<bare>\w{2,32}):)$/u;
const coloured = '\u{FE0F}';
// The compiler's target does not know the flag yet.
const unicode = new RegExp(String.raw`^\p{RGI_Emoji}$`, 'v');

/** The sign for its coloured form may be missing. */
export function readEmoji(text: string) {
  const trimmed = text.trim();
  const emoji = [trimmed, `${trimmed}${coloured}`].find((candidate) => unicode.test(candidate));
  if (emoji !== undefined) return { kind: 'unicode', emoji } as const;
  const { name, id, bare } = custom.exec(trimmed)?.groups ?? {};
  if (id !== undefined) return { kind: 'custom', id } as const;
  const called = name ?? bare;
  return called === undefined ? undefined : ({ kind: 'custom', name: called } as const);
}
