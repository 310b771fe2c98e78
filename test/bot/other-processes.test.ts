import { expect, it } from 'vitest';

import { acrossProcesses, answersOfChannels, type OtherProcesses } from '../../src/bot/processes.ts';
import type { ChannelTalk, ChannelWish } from '../../src/core/chat.ts';
import type { Place } from '../../src/core/place.ts';

const placeOf = (channelId: string): Place => ({ audience: 'public', channelId, homeId: channelId });
const none: ChannelTalk = { kind: 'none' };
const talkOf = (channelId: string): ChannelTalk => ({
  kind: 'read',
  place: placeOf(channelId),
  messages: [],
  isCut: false,
});

/** What a process that holds these channels has of its own, and how often it was asked. */
function portsOf(held: readonly string[]) {
  const asked: string[] = [];
  const isHeld = (id: string): boolean => held.includes(id);
  const ports = {
    channels: {
      async placeOf(id: string) {
        asked.push(id);
        return isHeld(id) ? placeOf(id) : undefined;
      },
      personMay: async (_capability: string, id: string, userId: string) => isHeld(id) && userId === '7',
    },
    readChannel: async ({ channel = '' }: ChannelWish) => (isHeld(channel) ? talkOf(channel) : none),
  };
  return { ports, isHeld, asked };
}

/** One process with the DM, and others with these channels. */
function processes(...others: readonly (readonly string[])[]) {
  const own = portsOf(['dm', '1']);
  const answers = others.map((held) => {
    const { ports, isHeld } = portsOf(held);
    return answersOfChannels(ports, isHeld);
  });
  const ask: OtherProcesses['ask'] = async (name, given) => {
    const found: unknown = await Promise.all(
      answers.map((answer) => {
        const method: unknown = Reflect.get(answer, name);
        return typeof method === 'function' ? Reflect.apply(method, answer, given) : undefined;
      }),
    );
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    return found as never;
  };
  return { ...acrossProcesses(own.ports, { ask }, own.isHeld), own };
}

const wishFor = (channel: string, place: Partial<Place> = { audience: 'dm' }): ChannelWish => ({
  channel,
  userId: '7',
  place: { ...placeOf('dm'), ...place },
  isForAskerOnly: true,
  limit: 10,
  askedBy: [],
});

it('knows the readers of channels of all processes, and asks nobody for its own [X3]', async () => {
  const { channels, own } = processes(['2'], ['3']);
  for (const id of ['1', '2', '3']) expect(await channels.placeOf(id)).toEqual(placeOf(id));
  expect(own.asked).toEqual(['1']);
  expect(await channels.personMay('read', '3', '7')).toBe(true);
  expect(await channels.personMay('read', '3', '8')).toBe(false);
});

it('counts a channel that no process here holds as unknown [V0]', async () => {
  const { channels, readChannel } = processes(['2']);
  expect(await channels.placeOf('9')).toBeUndefined();
  expect(await channels.personMay('read', '9', '7')).toBe(false);
  expect(await readChannel(wishFor('9'))).toEqual(none);
});

it('reads from a direct message what is said in servers of all processes, and from a server only there [B4]', async () => {
  const { readChannel } = processes(['2'], ['2', '3']);
  expect(await readChannel(wishFor('1'))).toEqual(talkOf('1'));
  expect(await readChannel(wishFor('3'))).toEqual(talkOf('3'));
  expect(await readChannel(wishFor('2'))).toEqual({ kind: 'several' });
  expect(await readChannel(wishFor('3', { audience: 'public' }))).toEqual(none);
});
