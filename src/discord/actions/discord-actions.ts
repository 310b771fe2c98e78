import type { Client, Guild, GuildBasedChannel, GuildMember } from 'discord.js';

import { dataLine, fitLines, type Section, type SectionSource } from '../../core/section.ts';
import type { ActionTools } from '../../core/tool.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { worksInChannel } from '../access.ts';
import { botMay, memberMay, type Capability } from '../permissions.ts';
import { isPublic } from '../place.ts';
import type { ActionOptions } from './action.ts';
import { pollTool, sendTool, startThreadTool } from './post.ts';
import { pinTool, reactTool, unpinTool } from './react-pin.ts';

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
