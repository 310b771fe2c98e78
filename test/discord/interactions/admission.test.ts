import { ChannelType, InteractionContextType, type Channel } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { createAdmission } from '../../../src/discord/interactions/admission.ts';
import type { Asking } from '../../../src/discord/interactions/admission.ts';
import { openToAll } from '../support/gateway-harness.ts';

const channel = { id: '120000000000000009', type: ChannelType.DM, isDMBased: () => true };

function asking(context: InteractionContextType): Asking {
  const interaction = {
    channelId: channel.id,
    context,
    user: { id: '140000000000000001', username: 'alice', globalName: null },
    inCachedGuild: () => false,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
  return interaction as unknown as Asking;
}

describe('who may use interactions, and where', () => {
  const admit = createAdmission({
    settings: openToAll,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
    findChannel: () => Promise.resolve(channel as unknown as Channel),
  });

  it('lets people in their own conversation with the bot', async () => {
    expect(await admit(asking(InteractionContextType.BotDM))).toMatchObject({
      kind: 'admitted',
      asker: { speaker: { name: 'alice' }, place: { audience: 'dm', channelId: channel.id } },
    });
  });

  it('refuses other people’s conversations, which the bot was brought into', async () => {
    const admission = await admit(asking(InteractionContextType.PrivateChannel));
    expect(admission).toMatchObject({
      kind: 'refused',
      line: expect.stringContaining('do not work in this channel'),
    });
  });

  it('refuses where the channel cannot be looked at', async () => {
    const blind = createAdmission({
      settings: openToAll,
      findChannel: () => Promise.reject(new Error('the network')),
    });
    expect(await blind(asking(InteractionContextType.Guild))).toMatchObject({ kind: 'refused' });
  });
});
