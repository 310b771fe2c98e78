import { describe, expect, it } from 'vitest';

import { createCommandSet } from '../../src/commands/commands.ts';
import { createSettingsCommand } from '../../src/commands/settings-command.ts';
import type { CommandCall } from '../../src/core/message.ts';
import type { ServerPort } from '../../src/core/channels.ts';
import type { Place } from '../../src/core/place.ts';
import { createBotSettings } from '../../src/memory/settings/bot-settings.ts';
import { createPlaceSettings } from '../../src/memory/settings/place-settings.ts';
import { oneModel } from '../support/closed-edges.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { oneServer } from '../support/servers.ts';
import { dmPlace } from './harness.ts';

const thread: Place = {
  ...publicPlace,
  channelId: '200000000000000077',
  channelName: 'parser',
  parentId: publicPlace.channelId,
};

type Standing = Awaited<ReturnType<ServerPort['permissionLevel']>>;

const verified = { id: '310000000000000001', name: 'Verified' };

function ownersCommand({
  isOwner = true,
  actionsEnabled = true,
  standing = () => 'none',
}: { isOwner?: boolean; actionsEnabled?: boolean; standing?: (guildId: string) => Standing } = {}) {
  const store = new MemoryStore();
  const logger = recordingLogger();
  const placeSettings = createPlaceSettings({ store, logger });
  const command = createSettingsCommand({
    placeSettings,
    modelChoice: oneModel,
    botSettings: createBotSettings(store),
    configured: { access: 'allowlist', owners: [], letIn: [] },
    server: {
      ...oneServer,
      permissionLevel: (guildId) => Promise.resolve(standing(guildId)),
      role: (_, named) => ([verified.id, '@Verified'].includes(named) ? verified : undefined),
    },
    defaults: { answer: () => ({ value: 'mentions', from: 'nothing is set' }), actionsEnabled },
  });
  const commands = createCommandSet([command], {}, logger);
  const give = async (given: CommandCall | undefined, place: Place = publicPlace): Promise<string> => {
    if (given === undefined) throw new Error('No command');
    const { text } = await commands.command({
      id: '400000000000000001',
      command: given,
      speaker: { id: aliceId, name: 'Alice', isOwner },
      place,
      ephemeral: false,
      at: '2026-01-15T10:00:00.000Z',
      work: { userId: aliceId },
    });
    return text;
  };
  const say = (words: string, place?: Place): Promise<string> =>
    give(commands.parse(`!settings ${words}`), place);
  return { store, logger, placeSettings, say };
}

describe('the settings command', () => {
  it('shows what holds and where each value comes from', async () => {
    const { say } = ownersCommand();
    await say('memory off server');
    await say('answer everything');
    expect((await say('show', thread)).split('\n').slice(0, 4)).toEqual([
      'Settings in the thread parser:',
      '- `answer`: everything (set for the channel that this thread belongs to)',
      '- `memory`: off (set for the server)',
      '- `actions`: on (nothing is set)',
    ]);
    await say('answer default');
    expect(await say('show')).toContain('- `answer`: mentions (nothing is set)');
  });

  it('says what it did, and that what was remembered stays', async () => {
    const { say, placeSettings } = ownersCommand();
    const said = await say('memory off');
    expect(said).toMatch(
      /^Done: `memory` is `off` for this place\.\nFrom now on I use nothing that I remember here/u,
    );
    expect(said).toContain('- `memory`: off (set for this channel)');
    expect(await placeSettings.isMemoryOff(publicPlace)).toBe(true);
    expect(await say('memory default')).toMatch(/^Done: `memory` is no longer set for this place\./u);
    expect(await placeSettings.isMemoryOff(publicPlace)).toBe(false);
  });

  it('refuses everybody but the owner and who may manage that server, and changes nothing', async () => {
    const { say, store } = ownersCommand({
      isOwner: false,
      standing: (guildId) => (guildId === publicPlace.guildId ? 'none' : 'administrator'),
    });
    for (const words of ['show', 'memory off', 'member-role @Verified', ''])
      expect(await say(words)).toMatch(/^Only my owner and people who may manage this server/u);
    expect(await store.list('guilds')).toEqual([]);
    for (const standing of ['manager', 'administrator'] as const) {
      const allowed = ownersCommand({ isOwner: false, standing: () => standing });
      expect(await allowed.say('memory off')).toMatch(/^Done: `memory` is `off`/u);
    }
  });

  it('lets the server’s owner and administrators alone name the member role, not even the bot’s owner [V0]', async () => {
    for (const [isOwner, standing] of [
      [true, 'none'],
      [true, 'manager'],
      [false, 'manager'],
    ] as const) {
      const { say, placeSettings } = ownersCommand({ isOwner, standing: () => standing });
      for (const words of ['@Verified', '@everyone', 'default'])
        expect(await say(`member-role ${words}`)).toMatch(
          /^Only the owner and administrators of this server/u,
        );
      expect(await placeSettings.memberRole(publicPlace.guildId ?? '')).toBeUndefined();
    }
    const { say, placeSettings } = ownersCommand({ isOwner: false, standing: () => 'administrator' });
    const named = () => placeSettings.memberRole(publicPlace.guildId ?? '');
    expect(await say('member-role @Verified')).toMatch(
      /^Done: people are let into this server by @Verified\./u,
    );
    expect(await named()).toBe(verified.id);
    expect(await say('show')).toContain('- `member-role`: @Verified');
    expect(await say('member-role nobody')).toMatch(/^I know of no role "nobody"/u);
    expect(await named()).toBe(verified.id);
    await say('memory off server');
    expect(await named()).toBe(verified.id);
    expect(await say('member-role @everyone')).toMatch(/^Done: no role is named/u);
    expect(await named()).toBeUndefined();
  });

  it('says in a DM that settings belong to servers', async () => {
    const { say } = ownersCommand();
    expect(await say('memory off', dmPlace)).toMatch(/^Settings belong to servers\./u);
  });

  it('takes a manner of at most 1,000 characters, and changes nothing for a longer one [G8]', async () => {
    const { say, placeSettings } = ownersCommand();
    expect(await say(`persona ${'é'.repeat(1000)}`)).toMatch(/^Done: in this server/u);
    expect(await say(`persona ${'x'.repeat(1001)}`)).toMatch(/^That is 1001 characters\./u);
    expect(await placeSettings.persona(publicPlace.guildId ?? '')).toBe('é'.repeat(1000));
  });

  it.each([
    ['memory maybe', 'Write it as `!settings memory on|off|default [channel|server]`.'],
    ['memory on here server', 'Write it as `!settings memory on|off|default [channel|server]`.'],
    ['volume 11', 'I don\'t know the setting "volume".'],
  ])('explains what it does not understand: %s', async (words, reason) => {
    const { say, store } = ownersCommand();
    expect((await say(words)).split('\n')[0]).toBe(reason);
    expect(await store.list('guilds')).toEqual([]);
  });
});
