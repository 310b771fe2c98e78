import { describe, expect, it } from 'vitest';

import { answerAccess, type AccessPorts } from '../../src/commands/settings-owner.ts';
import { createBotSettings } from '../../src/memory/settings/bot-settings.ts';
import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { dmPlace } from './harness.ts';

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
