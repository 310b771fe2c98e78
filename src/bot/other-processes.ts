import type { ChannelTalk, ReadChannel } from '../core/channel-talk.ts';
import type { ChannelPort } from '../core/chat.ts';
import type { ProcessCalls, OtherProcesses } from './processes.ts';

interface ChannelPorts {
  readonly channels: ChannelPort;
  readonly readChannel: ReadChannel;
}

/** Each process answers for channels that it holds [X3]. Where none does, this one's own ports decide [V0]. */
export function acrossProcesses(
  { channels, readChannel }: ChannelPorts,
  { ask }: Pick<OtherProcesses, 'ask'>,
  isHeld: (channelId: string) => boolean,
): ChannelPorts {
  return {
    channels: {
      async placeOf(channelId) {
        if (isHeld(channelId)) return channels.placeOf(channelId);
        const places = await ask('placeOf', [channelId]);
        return places.find((place) => place !== undefined) ?? channels.placeOf(channelId);
      },
      async personMay(capability, channelId, userId) {
        if (isHeld(channelId)) return channels.personMay(capability, channelId, userId);
        const answers = await ask('personMay', [capability, channelId, userId]);
        return answers.includes(true) || channels.personMay(capability, channelId, userId);
      },
    },
    async readChannel(wish) {
      const own = await readChannel(wish);
      // In a server, only its own channels can be meant.
      if (wish.place.audience !== 'dm' || wish.channel === undefined) return own;
      const found = [own, ...(await ask('readChannel', [wish]))].filter(({ kind }) => kind !== 'none');
      const [one] = found;
      return one !== undefined && found.length > 1 ? several : (one ?? own);
    },
  };
}

const several: ChannelTalk = { kind: 'several' };

/** A process's answers to others, for channels that its client holds. */
export function answersOfChannels(
  { channels, readChannel }: ChannelPorts,
  isHeld: (channelId: string) => boolean,
): Pick<ProcessCalls, 'placeOf' | 'personMay' | 'readChannel'> {
  return {
    placeOf: async (channelId) => (isHeld(channelId) ? channels.placeOf(channelId) : undefined),
    personMay: async (capability, channelId, userId) =>
      isHeld(channelId) && channels.personMay(capability, channelId, userId),
    readChannel,
  };
}
