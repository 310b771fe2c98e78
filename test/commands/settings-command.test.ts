import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createModelChoice } from '../../src/bot/create-model.ts';
import { createCommandSet } from '../../src/commands/commands.ts';
import { createSettingsCommand } from '../../src/commands/settings-command.ts';
import { answerAccess, type AccessPorts, answerModel } from '../../src/commands/settings-owner.ts';
import { readConfig } from '../../src/config/config.ts';
import type { ServerPort } from '../../src/core/channels.ts';
import type { CommandCall } from '../../src/core/message.ts';
import { noUsage } from '../../src/core/model.ts';
import type { Place } from '../../src/core/place.ts';
import { createBotSettings } from '../../src/memory/settings/bot-settings.ts';
import { createPlaceSettings } from '../../src/memory/settings/place-settings.ts';
import { callCost } from '../../src/model/anthropic/models.ts';
import { oneModel } from '../support/closed-edges.ts';
import { aliceId, publicPlace, bobId } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { runs } from '../support/runs.ts';
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
    expect(await say('memory off', dmPlace)).toMatch(/^Settings belong to servers that I am in\./u);
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

const ownerId = '100000000000000009';
const configuredId = '100000000000000008';
const guildId = publicPlace.guildId ?? '';
const person = `<@${bobId}>`;
const helpers = { id: '310000000000000001', name: 'helpers' };
/** Anybody who manages a server can make such a role. */
const lookalike = { id: '310000000000000002', name: bobId };
const everyone = { id: guildId, name: '@everyone' };

function accessCommand() {
  const botSettings = createBotSettings(new MemoryStore());
  const roles = [helpers, lookalike, everyone];
  const ports: AccessPorts = {
    botSettings,
    server: {
      role: (guild, named) =>
        guild === guildId ? roles.find(({ id, name }) => [id, name, `@${name}`].includes(named)) : undefined,
      titleOf: (mention) =>
        mention === guildId ? 'Sandbox' : mention.replace(`<@&${helpers.id}>`, '@helpers in Sandbox'),
    },
    configured: { access: 'allowlist', owners: [`<@${ownerId}>`], letIn: [`<@${configuredId}>`] },
  };
  async function give(
    change: Parameters<typeof answerAccess>[0]['change'],
    who?: string,
    { isOwner = true, place = publicPlace, mentions = undefined as readonly string[] | undefined } = {},
  ): Promise<string> {
    const speaker = { id: isOwner ? ownerId : aliceId, name: 'Somebody', isOwner };
    const context = {
      id: '4',
      speaker,
      place,
      ephemeral: true,
      at: '',
      work: { userId: speaker.id },
      mentions,
    };
    return (await answerAccess({ change, who }, context, ports)).text;
  }
  return { botSettings, give };
}

describe('letting people in by a command [G1]', () => {
  it.each([
    ['a person by a mention', `<@${bobId}>`, undefined, [person]],
    ['a person by an id, whatever roles are called', bobId, undefined, [person]],
    ['a role by a mention', `<@&${helpers.id}>`, undefined, [`<@&${helpers.id}>`]],
    ['a role by its name', 'helpers', undefined, [`<@&${helpers.id}>`]],
    ['everybody', '@everyone', undefined, [`<@&${guildId}>`]],
    ['a mentioned person who is called like a role', '@helpers', [`<@${bobId}>`], [person]],
    ['nobody where several are mentioned', '@a @b', [person, `<@${aliceId}>`], []],
    ['nobody by a name alone', 'bob', undefined, []],
    ['no role of another server', '<@&310000000000000077>', undefined, []],
  ])('lets in %s', async (_, who, mentions, expected) => {
    const { botSettings, give } = accessCommand();
    await give('add', who, { mentions });
    expect(await botSettings.read()).toMatchObject({ letIn: expected });
  });

  it('works in DMs, and shows who is let in by what', async () => {
    const { give } = accessCommand();
    expect(await give('add', bobId, { place: dmPlace })).toBe(
      `Done: <@${bobId}> may talk with me everywhere.`,
    );
    await give('add', '@helpers');
    const shown = await give(undefined, undefined, { place: dmPlace });
    expect(shown).toContain(`- my owners: <@${ownerId}>`);
    expect(shown).toContain(`- by configuration, which nothing here changes: <@${configuredId}>`);
    expect(shown).toContain(`- let in by a command: <@${bobId}>, @helpers in Sandbox`);
  });

  it('takes back what a command gave, and says so of what the configuration gives', async () => {
    const { botSettings, give } = accessCommand();
    await give('add', bobId);
    expect(await give('remove', bobId)).toBe(`Done: <@${bobId}> is no longer let in by a command.`);
    expect(await give('remove', bobId)).toContain('so nothing was changed');
    expect((await botSettings.read()).letIn).toEqual([]);
    for (const id of [configuredId, ownerId])
      expect(await give('remove', id)).toBe(
        `<@${id}> is let in by my configuration, which nothing here changes.`,
      );
  });

  it('counts a refused person among those asked about that day', async () => {
    const { botSettings, give } = accessCommand();
    const mention = `<@${bobId}>`;
    const asked = { state: 'asked', day: '2026-01-15' } as const;
    await botSettings.change((before) => ({ ...before, requests: { [mention]: asked } }));
    await give('not-now', bobId);
    expect((await botSettings.read()).requests[mention]).toEqual({ ...asked, state: 'refused' });
  });
});

it('is for owners alone, also where somebody else manages the server [G1]', async () => {
  const { botSettings, give } = accessCommand();
  for (const change of ['add', 'remove', 'not-now', undefined] as const)
    expect(await give(change, bobId, { isOwner: false })).toMatch(/^Only my owner/u);
  expect((await botSettings.read()).letIn).toEqual([]);
});

const served = ['claude-opus-5-5', 'claude-sonnet-5-5', 'qwen/qwen3-8b'];

function modelCommand(environment: Readonly<Record<string, string>> = {}, ids: readonly string[] = served) {
  const store = new MemoryStore();
  const { config } = readConfig({ ANTHROPIC_API_KEY: 'sk-1', ...environment });
  const botSettings = createBotSettings(store);
  const modelChoice = createModelChoice(config, botSettings, async () => ids);
  async function give(name?: string, isOwner = true): Promise<string> {
    const speaker = { id: aliceId, name: 'Alice', isOwner };
    const context = {
      id: '4',
      speaker,
      place: publicPlace,
      ephemeral: true,
      at: '',
      work: { userId: speaker.id },
    };
    return (await answerModel(name, context, modelChoice)).text;
  }
  return { store, botSettings, give, current: modelChoice.current };
}

describe('the model that answers is chosen [M10]', () => {
  it.each([
    ['by its id', 'qwen/qwen3-8b', 'qwen/qwen3-8b', 'Done'],
    ['by an alias', 'opus', 'opus', 'Done'],
    ['not where the server lacks it', 'qwen3', 'sonnet', 'Did you mean qwen/qwen3-8b, '],
    ['not an alias for what the server lacks', 'haiku', 'sonnet', 'has no haiku'],
  ])('%s', async (_, name, chosen, told) => {
    const { give, current } = modelCommand();
    expect(await give(name)).toContain(told);
    expect(await current()).toBe(chosen);
    expect(await give('Default')).toContain('I answer with sonnet again');
    expect(await current()).toBe('sonnet');
  });

  it('unchecked where the server has no list, which is said', async () => {
    const { give, current } = modelCommand({}, []);
    expect(await give()).toContain("My model's server gives me no list of its models.");
    expect(await give('qwen3')).toContain('So I could not check the name.');
    expect(await current()).toBe('qwen3');
  });

  it('with a limit on cost only where its price is known, also later [L2]', async () => {
    const limited = modelCommand({ DISCOCLAW_DAILY_COST_USD: '1' });
    expect(await limited.give('qwen/qwen3-8b')).toContain(
      'give it in DISCOCLAW_MODEL_PRICES, as qwen/qwen3-8b=INPUT/OUTPUT',
    );
    await limited.botSettings.change((settings) => ({ ...settings, model: 'qwen/qwen3-8b' }));
    expect(await limited.current()).toBe('sonnet');
    const priced = modelCommand({
      DISCOCLAW_DAILY_COST_PER_PERSON_USD: '1',
      DISCOCLAW_MODEL_PRICES: 'qwen/qwen3-8b=0/0',
    });
    expect(await priced.give('qwen/qwen3-8b')).toContain('Done');
    expect(await priced.current()).toBe('qwen/qwen3-8b');
  });

  it('never so that one without a known price answers under a limit, whatever stands in the settings [L2]', async () => {
    const names = fc.oneof(fc.constantFrom('opus', 'claude-haiku-5-5', 'qwen3', 'sonnet '), fc.string());
    const limited = modelCommand({ DISCOCLAW_DAILY_COST_USD: '1', DISCOCLAW_MODEL_PRICES: 'qwen3=1/1' });
    const check = async (name: string): Promise<void> => {
      await limited.botSettings.change((settings) => ({ ...settings, model: name }));
      expect(callCost(await limited.current(), noUsage, { qwen3: { input: 1, output: 1 } })).toBeDefined();
    };
    await fc.assert(fc.asyncProperty(names, check), { numRuns: runs(100) });
  });

  it('by nobody but an owner, and not where no model is configured', async () => {
    const { give, current } = modelCommand();
    expect(await give('opus', false)).toContain('Only my owner');
    expect(await current()).toBe('sonnet');
    expect(await modelCommand({ ANTHROPIC_API_KEY: '' }).give('opus')).toContain('npm run setup');
  });
});
