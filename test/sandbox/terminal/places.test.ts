import { describe, expect, it } from 'vitest';

import type { ChannelView } from '../../../src/sandbox/control/control-views.ts';
import { findPlace, placeName } from '../../../src/sandbox/terminal/places.ts';

const everybody = ['Discoclaw', 'alice', 'carol'];
const noThread = { parentId: undefined, isArchived: undefined, isLocked: undefined };
const general: ChannelView = {
  ...noThread,
  id: '1',
  kind: 'text',
  name: 'general',
  guildId: '9',
  seenBy: everybody,
};
const secret: ChannelView = { ...general, id: '2', name: 'secret', seenBy: ['Discoclaw', 'alice'] };
const talk: ChannelView = { ...general, id: '3', kind: 'thread', name: 'small talk', parentId: '1' };
const dm: ChannelView = {
  ...general,
  id: '4',
  kind: 'dm',
  name: 'alice',
  guildId: undefined,
  seenBy: ['Discoclaw', 'alice'],
};
const channels = [dm, general, secret, talk];

describe('a place', () => {
  it('is found by its name, with or without #, whatever the case, a thread by its own name', () => {
    for (const name of ['#general', 'general', 'GENERAL', '1']) {
      expect(findPlace(name, channels, 'carol')).toBe(general);
    }
    for (const name of ['small talk', '#Small Talk', '#general › small talk']) {
      expect(findPlace(name, channels, 'carol')).toBe(talk);
    }
    expect(findPlace('@dm', channels, 'alice')).toBe(dm);
  });

  it('is found under the name that it is shown with', () => {
    for (const channel of channels) {
      expect(findPlace(placeName(channel, channels, 'alice'), channels, 'alice')).toBe(channel);
    }
  });

  it('is refused to people who cannot see it', () => {
    expect(() => findPlace('#secret', channels, 'carol')).toThrow('carol cannot see #secret');
    expect(() => findPlace('@alice', channels, 'carol')).toThrow('carol cannot see @alice');
  });

  it('that does not exist is answered by those that the speaker sees', () => {
    expect(() => findPlace('#attic', channels, 'carol')).toThrow(
      'There is no place "#attic"; there are #general, #general › small talk',
    );
    expect(() => findPlace('attic', channels, 'alice')).toThrow('#secret, #general › small talk, @dm');
  });

  it('whose name several have needs an id', () => {
    const twin = { ...general, id: '5' };
    expect(() => findPlace('general', [...channels, twin], 'alice')).toThrow(
      'Several places are called "general"; use an id: 1 (#general), 5 (#general)',
    );
    expect(findPlace('5', [...channels, twin], 'alice')).toBe(twin);
  });
});
