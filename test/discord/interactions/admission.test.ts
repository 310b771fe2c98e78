import { ChannelType, InteractionContextType, type BaseInteraction, type Channel } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { admit } from '../../../src/discord/interactions/interactions.ts';
import { openToAll } from '../support/gateway-harness.ts';

const channel = { id: '120000000000000009', type: ChannelType.DM, isDMBased: () => true };

function asking(context: InteractionContextType): BaseInteraction {
  const interaction = {
    channelId: channel.id,
    context,
    guildId: null,
    member: null,
    user: { id: '140000000000000001', username: 'alice', globalName: null },
    inCachedGuild: () => false,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
  return interaction as unknown as BaseInteraction;
}

describe('who may use interactions, and where', () => {
  const options = {
    policy: { ...openToAll, parseCommand: () => undefined, managerCommands: [], keptCommands: [] },
    wasLetIn: () => Promise.resolve(false),
    people: { of: () => Promise.resolve(true) },
    places: {
      known: () => undefined,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
      find: () => Promise.resolve(channel as unknown as Channel),
      memberRole: () => Promise.resolve(undefined),
    },
  };

  it('lets people in their own conversation with the bot', async () => {
    expect(await admit(asking(InteractionContextType.BotDM), options)).toMatchObject({
      kind: 'admitted',
      asker: { speaker: { name: 'alice' }, place: { audience: 'dm', channelId: channel.id } },
    });
  });

  it('refuses other people’s conversations, which the bot was brought into', async () => {
    const admission = await admit(asking(InteractionContextType.PrivateChannel), options);
    expect(admission).toMatchObject({
      kind: 'refused',
      line: expect.stringContaining('do not work in this channel'),
    });
  });

  it('refuses where the channel cannot be looked at', async () => {
    const blind = {
      ...options,
      places: { ...options.places, find: () => Promise.reject(new Error('the network')) },
    };
    expect(await admit(asking(InteractionContextType.Guild), blind)).toMatchObject({ kind: 'refused' });
  });
});
