import { afterAll, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { answersTo } from './answers-to.ts';
import { command } from './memory-talk.ts';
import { openStage } from './stage.ts';

const stage = await openStage({
  environment: { DISCOCLAW_ACCESS: 'allowlist', DISCOCLAW_SUMMARY_ENABLED: 'false' },
  model: () => ({ text: 'Understood.' }),
});
afterAll(() => stage[Symbol.asyncDispose]());
const { sandbox } = stage;
const bob = stage.info.people['bob'] ?? '';

/** Said by people without access: when the bot has stopped, none of it is answered. */
const unheard: MessageView[] = [];

async function isLockedOut(as: string, place: string, text = 'Hello'): Promise<void> {
  unheard.push(await sandbox.say({ as, in: place, text, mentionBot: !text.startsWith('!') }));
  await sandbox.delivered();
}

async function isAnswered(as: string, place: string): Promise<void> {
  const said = await sandbox.say({ as, in: place, text: 'Hello', mentionBot: true });
  expect((await stage.answerTo(said)).text).toContain('Understood.');
}

async function nobodyWasAnswered(): Promise<void> {
  await stage.stopBot();
  for (const message of unheard.splice(0)) expect(await answersTo(sandbox, message)).toEqual([]);
}

const settings = async (options: Readonly<Record<string, string>>) => {
  const given = { as: 'alice', in: '#general', name: 'settings', subcommand: 'access', options };
  return (await sandbox.slash(given)).answer?.text ?? '';
};

it('an owner lets people and roles in by a command, at once and also in the DM, and takes that back [G1]', async () => {
  const { id: helpers } = await sandbox.setRole({ name: 'helpers', permissions: [], people: ['carol'] });
  await sandbox.delivered();
  await isLockedOut('bob', '#general');
  const written = await stage.ask('alice', '#general', `!settings access add <@${bob}>`);
  expect(written.text).toBe(`Done: <@${bob}> may talk with me everywhere.`);
  await isAnswered('bob', '#general');
  await isLockedOut('carol', '#general');
  expect(await settings({ change: 'add', who: '@helpers' })).toContain('@helpers in Sandbox');
  for (const place of ['#general', 'dm']) await isAnswered('carol', place);
  const both = `<@${bob}>, @helpers in Sandbox`;
  expect(await settings({})).toContain(`- let in by a command: ${both}`);
  expect((await stage.ask('alice', 'dm', '!status')).text).toContain(`lets in ${both}`);
  await nobodyWasAnswered();
  await stage.startBot();
  await stage.bot().waitFor(`"letIn":["<@${bob}>","@helpers in Sandbox"]`);
  await isAnswered('bob', 'dm');
  expect((await stage.ask('alice', 'dm', `!settings access remove ${bob}`)).text).toContain('no longer');
  await stage.ask('alice', '#general', `!settings access remove <@&${helpers}>`);
  await isLockedOut('bob', '#general');
  await isLockedOut('carol', 'dm');
  await nobodyWasAnswered();
});

it('a role lets people in on its server and in DMs, as long as they have it, over a start too [G1]', async () => {
  await sandbox.addPerson({ name: 'erin' });
  const people = ['bob', 'erin'];
  const { id: role } = await sandbox.setRole({ name: 'members', permissions: [], people });
  const other = await sandbox.addGuild({ name: 'elsewhere', owner: 'carol', members: ['bob'] });
  // A role of the same name.
  await sandbox.setRole({ guild: other.id, name: 'members', permissions: [], people: ['bob', 'carol'] });
  const lobby = (await sandbox.addChannel({ guild: other.id, name: 'lobby' })).id;
  await stage.startBot({ DISCORD_ALLOW_ROLE_IDS: role });
  await stage.bot().waitFor('"letIn":["@members in Sandbox"]');
  for (const place of ['#general', 'dm']) {
    await isAnswered('bob', place);
    expect(await command(stage, '/memory', 'bob', place, 'proposals')).not.toContain('given access');
    await isLockedOut('carol', place);
    expect(await command(stage, '/memory', 'carol', place, 'proposals')).toContain('given access');
  }
  for (const name of ['bob', 'carol']) await isLockedOut(name, lobby);
  await sandbox.takeRole({ role, people: ['bob'] });
  await isLockedOut('bob', '#general', '!memory proposals');
  await nobodyWasAnswered();

  // What was said meanwhile tells no roles: Discord is asked.
  const missed = await sandbox.say({ as: 'erin', in: '#dev', text: 'Anybody home?', mentionBot: true });
  unheard.push(await sandbox.say({ as: 'bob', in: '#dev', text: 'Anybody home?', mentionBot: true }));
  await stage.startBot({ DISCORD_ALLOW_ROLE_IDS: role });
  await stage.answerTo(missed);
  await isLockedOut('bob', 'dm');
  await nobodyWasAnswered();
});

it('who lost access keeps show, export, pause and erase, until they have used the last [G1]', async () => {
  const stranger = await sandbox.addPerson({ name: 'stranger' });
  await stage.startBot({ DISCORD_ALLOW_USER_IDS: bob });
  await stage.ask('bob', 'dm', '!memory remember I grow pears');
  await stage.stopBot();
  // Nobody told the bot anything yet: a greeting of the stage's own would say otherwise.
  await stage.writeFile(`data/users/${stranger.id}/settings.json`, '{"version":1}');
  await stage.startBot();
  for (const way of ['!memory', '/memory'] as const)
    expect(await command(stage, way, 'bob', 'dm', 'show')).toContain('I grow pears');
  expect(await command(stage, '/memory', 'bob', 'dm', 'pause')).toContain('aused');
  expect(await command(stage, '/memory', 'bob', 'dm', 'proposals')).toContain('given access');
  expect(await command(stage, '/memory', 'stranger', 'dm', 'show')).toContain('given access');
  await isLockedOut('bob', 'dm', '!memory remember I grow plums');
  await isLockedOut('bob', 'dm');
  await isLockedOut('stranger', 'dm', '!memory show');
  const { id: message } = await stage.ask('bob', 'dm', '!memory erase');
  expect((await stage.press('bob', message, 'Erase everything')).text).toMatch(/^Erased: everything/u);
  await isLockedOut('bob', 'dm', '!memory show');
  await nobodyWasAnswered();
});

/** What the owner was asked about people. */
const asked = async () =>
  (await sandbox.messages({ in: '@alice', from: 'bot' })).filter(({ text }) =>
    text.includes('has no access'),
  );

const about = async (name: string) => {
  const find = async () => (await asked()).find(({ text }) => text.includes(name));
  await expect.poll(find).toBeDefined();
  return (await find())?.id ?? '';
};

it('an owner is asked about who has no access, once a person, and lets them in by a button, also after a restart [G1]', async () => {
  const asking = { DISCOCLAW_ACCESS_REQUESTS: 'true' };
  await stage.startBot(asking);
  for (const name of ['dora', 'fred']) await sandbox.addPerson({ name });
  await isLockedOut('dora', '#general');
  await isLockedOut('fred', 'dm');
  const offers = [
    [await about('dora'), 'Let in'],
    [await about('fred'), 'Not now'],
  ] as const;
  await nobodyWasAnswered();

  await stage.startBot(asking);
  for (const [message, label] of offers)
    expect((await stage.press('alice', message, label)).text).toMatch(/^Done/u);
  await isAnswered('dora', '#general');
  await isLockedOut('fred', 'dm');
  await stage.ask('alice', 'dm', 'What is new?');
  expect(stage.model.requests.at(-1)?.raw).not.toContain('no access');
  await nobodyWasAnswered();
  for (const name of ['dora', 'fred'])
    expect((await asked()).filter(({ text }) => text.includes(name))).toHaveLength(1);
});
