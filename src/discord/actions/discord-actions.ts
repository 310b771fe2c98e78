import type { Client, Guild, GuildBasedChannel, GuildMember } from 'discord.js';
import { z } from 'zod';

import { dataLine, fitLines, type Section, type SectionSource } from '../../core/section.ts';
import type { ActionTools, Tool } from '../../core/tool.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { worksInChannel } from '../access.ts';
import { botMay, memberMay, type Capability } from '../permissions.ts';
import { isPublic } from '../place.ts';
import {
  ActionRefusal,
  actionTool,
  messageAsThere,
  messageIn,
  messageInput,
  permit,
  showMessage,
  type ActionOptions,
} from './action.ts';
import { pollTool, sendTool, startThreadTool } from './post.ts';

type Options = ActionOptions & { readonly client: Client };

export function createDiscordActions(options: Options): ActionTools {
  const tools = [reactTool, startThreadTool, pinTool, unpinTool, pollTool, sendTool];
  return {
    tools: tools.map((create) => create(options)),
    name: 'discord actions',
    sections: createActionsSection(options),
  };
}

const budget = 1200;
const namedChannels = 20;
const searchedGuilds = 5;

const title = 'What you may do on Discord for this person now, when they ask for it:';

/** From the caches alone; each tool checks again. */
function createActionsSection(options: Options): SectionSource<TurnContext>['sections'] {
  const { client, settings, places } = options;
  return async ({ speaker, place }) => {
    const here = client.channels.cache.get(place.channelId);
    if (here === undefined || speaker.isBot !== undefined) return [];
    const may = (capability: Capability) =>
      botMay(capability, here) &&
      (here.isDMBased() || mayDo(capability, here, here.guild.members.cache.get(speaker.id)));
    const memberRole = here.isDMBased() ? undefined : await places.memberRole(here.guildId);
    const targets = here.isDMBased()
      ? [...client.guilds.cache.values()]
          .filter(({ members }) => members.cache.has(speaker.id))
          .slice(0, searchedGuilds)
          .flatMap((guild) => targetsIn(guild, speaker.id, () => true))
      : targetsIn(here.guild, speaker.id, (channel) => isPublic(channel, memberRole)).filter(
          ({ id }) => id !== here.id,
        );
    const lines = [...placeLines(may), ...sendLines(targets, place.audience === 'public')];
    const section = { name: 'discord_actions', slot: 'slow', title, budget } as const;
    return [{ ...section, lines: fitLines(section, lines) } satisfies Section];
  };

  /** Only public ones in a server, since others may read the answer. */
  function targetsIn(
    guild: Guild,
    userId: string,
    mayBeNamed: (channel: GuildBasedChannel) => boolean,
  ): readonly GuildBasedChannel[] {
    const { me, cache } = guild.members;
    return [...guild.channels.cache.values()].filter(
      (channel) =>
        !channel.isThread() &&
        worksInChannel(settings, channel) &&
        mayBeNamed(channel) &&
        mayDo('send', channel, me) &&
        mayDo('send', channel, cache.get(userId)),
    );
  }
}

function mayDo(
  capability: Capability,
  channel: GuildBasedChannel,
  member: GuildMember | null | undefined,
): boolean {
  return member != null && memberMay(capability, channel, member) === true;
}

function placeLines(may: (capability: Capability) => boolean): readonly string[] {
  const threads = [may('start-thread') && 'public', may('start-private-thread') && 'private'].filter(Boolean);
  return [
    may('react') && '- discord_react: react to a message here',
    may('pin') && '- discord_pin, discord_unpin: pin or unpin a message here',
    may('poll') && '- discord_poll: make a poll here',
    threads.length > 0 && `- discord_start_thread: start a thread here (${threads.join(' or ')})`,
  ].filter((line) => line !== false);
}

function sendLines(targets: readonly GuildBasedChannel[], isFromPublic: boolean): readonly string[] {
  if (targets.length === 0) return [];
  const names = targets.map(({ name }) => `#${dataLine(name)}`);
  const shown = names.slice(0, namedChannels).join(', ');
  const others = names.length > namedChannels ? ' and others' : '';
  const limit = isFromPublic ? '' : '; the person is asked by a button first';
  return [`- discord_send: send a message to ${shown}${others}${limit}`];
}

const reactTool = actionTool({
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

const pinTool = pinningTool('pin', 'Pin');
const unpinTool = pinningTool('unpin', 'Unpin');

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
