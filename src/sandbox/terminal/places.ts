import type { ChannelView } from '../control/control-views.ts';
import { SandboxError } from '../control/sandbox-control.ts';

/** As the chat calls a channel: `#general`, `#dev › talk` a thread, `@dm` the speaker's DM, `@bob` Bob's. */
export function placeName(channel: ChannelView, channels: readonly ChannelView[], speaker: string): string {
  switch (channel.kind) {
    case 'text':
    case 'forum':
    case 'voice':
    case 'stage':
      return `#${channel.name}`;
    case 'dm':
      return channel.name === speaker ? '@dm' : `@${channel.name}`;
    case 'thread': {
      const parent = channels.find(({ id }) => id === channel.parentId);
      return `#${parent?.name ?? '?'} › ${channel.name}`;
    }
  }
}

/** Channels of guilds before DMs. */
export function inReadingOrder(channels: readonly ChannelView[]): readonly ChannelView[] {
  return channels.toSorted((a, b) => Number(a.kind === 'dm') - Number(b.kind === 'dm'));
}

/**
 * The channel that somebody means by its name in the chat, with or without `#`, by a thread's own name, or by an id.
 * @throws {SandboxError} when there is none, there are several, or the speaker cannot see it.
 */
export function findPlace(reference: string, channels: readonly ChannelView[], speaker: string): ChannelView {
  const nameOf = (channel: ChannelView): string => placeName(channel, channels, speaker);
  const wanted = reference.toLowerCase();
  const found = channels.filter((channel) => {
    const names = [channel.id, nameOf(channel)];
    if (channel.kind !== 'dm') names.push(channel.name, `#${channel.name}`);
    return names.some((name) => name.toLowerCase() === wanted);
  });
  const [only, second] = found;
  if (only === undefined) {
    const visible = inReadingOrder(channels.filter(({ seenBy }) => seenBy.includes(speaker))).map(nameOf);
    throw new SandboxError(`There is no place ${JSON.stringify(reference)}; there are ${visible.join(', ')}`);
  }
  if (second !== undefined) {
    const choices = found.map((channel) => `${channel.id} (${nameOf(channel)})`).join(', ');
    throw new SandboxError(`Several places are called ${JSON.stringify(reference)}; use an id: ${choices}`);
  }
  if (!only.seenBy.includes(speaker)) throw new SandboxError(`${speaker} cannot see ${nameOf(only)}`);
  return only;
}
