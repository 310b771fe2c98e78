import { describe, expect, it } from 'vitest';

import type { Place } from '../../src/core/place.ts';
import { createChannelFinder } from '../../src/discord/channel-finder.ts';
import { createPresentPlace } from '../../src/discord/present-place.ts';
import { runGateway } from './support/gateway-harness.ts';

async function open() {
  const { client, server, ids, logger, settled } = await runGateway();
  const at = (name: string, audience: Place['audience']): Place => {
    const channelId = ids[name] ?? '200000000000000099';
    return { audience, channelId, homeId: channelId, guildId: '300000000000000001', channelName: name };
  };
  const set = async (channel: string, isPrivate: boolean): Promise<void> => {
    await server.setChannelPrivacy({ channel, private: isPrivate });
    await settled();
  };
  return { presentPlace: createPresentPlace(createChannelFinder(client, logger)), at, set };
}

describe('the present place', () => {
  it('is public once everybody can view the channel', async () => {
    const { presentPlace, at, set } = await open();
    const place = at('secret', 'private');
    expect(await presentPlace(place)).toBe(place);
    await set('#secret', false);
    expect(await presentPlace(place)).toMatchObject({
      audience: 'public',
      channelId: place.channelId,
      homeId: place.homeId,
    });
  });

  it('stays public where the channel has become private, so that it admits no more than before', async () => {
    const { presentPlace, at, set } = await open();
    const place = at('dev', 'public');
    await set('#dev', true);
    expect(await presentPlace(place)).toBe(place);
  });

  it('stays as it was for a DM, and for a channel that is gone', async () => {
    const { presentPlace, at } = await open();
    for (const place of [at('general', 'dm'), at('gone', 'private')])
      expect(await presentPlace(place)).toBe(place);
  });
});
