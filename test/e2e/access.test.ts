import { afterAll, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/control/message-view.ts';
import { answersTo } from './answers-to.ts';
import { openStage } from './stage.ts';

const stage = await openStage({
  environment: { DISCOCLAW_ACCESS: 'servers', DISCOCLAW_SUMMARY_ENABLED: 'false' },
  model: () => ({ text: 'Understood.' }),
});
afterAll(() => stage[Symbol.asyncDispose]());
const { sandbox } = stage;
const bob = stage.info.people['bob'] ?? '';

/** Said by people without access: when the bot has stopped, none of it is answered. */
const unheard: MessageView[] = [];

async function isLockedOut(as: string, place: string): Promise<void> {
  unheard.push(await sandbox.say({ as, in: place, text: 'Hello', mentionBot: true }));
  await sandbox.delivered();
}

async function isAnswered(as: string, place: string): Promise<void> {
  const said = await sandbox.say({ as, in: place, text: 'Hello', mentionBot: true });
  expect((await stage.answerTo(said)).text).toContain('Understood.');
}

async function access(
  as: string,
  place: string,
  options: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { answer } = await sandbox.slash({ as, in: place, name: 'settings', subcommand: 'access', options });
  return answer?.text ?? '';
}

async function nobodyWasAnswered(): Promise<void> {
  await stage.stopBot();
  for (const message of unheard.splice(0)) expect(await answersTo(sandbox, message)).toEqual([]);
}

it('an owner lets people and roles in by a command, at once and also in the DM, and takes that back [G1]', async () => {
  const { id: helpers } = await sandbox.setRole({ name: 'helpers', permissions: [], people: ['carol'] });
  await sandbox.delivered();
  await isLockedOut('bob', '#general');
  const written = await stage.ask('alice', '#general', `!settings access add <@${bob}>`);
  expect(written.text).toBe(`Done: <@${bob}> may talk with me everywhere.`);
  await isAnswered('bob', '#general');
  await isLockedOut('carol', '#general');
  const add = { change: 'add', who: '@helpers' };
  expect(await access('alice', '#general', add)).toContain('@helpers in Sandbox');
  await isAnswered('carol', '#general');
  await isAnswered('carol', 'dm');
  const both = `<@${bob}>, @helpers in Sandbox`;
  expect(await access('alice', 'dm')).toContain(`- let in by a command: ${both}`);
  expect((await stage.ask('alice', 'dm', '!status')).text).toContain(`lets in ${both}`);
  await nobodyWasAnswered();
  await stage.startBot();
  await stage.bot().waitFor(`"allowedUserIds":["${bob}"],"allowedRoles":["@helpers in Sandbox"]`);
  await isAnswered('bob', 'dm');
  expect((await stage.ask('alice', 'dm', `!settings access remove ${bob}`)).text).toContain('no longer');
  await stage.ask('alice', '#general', `!settings access remove <@&${helpers}>`);
  await isLockedOut('bob', '#general');
  await isLockedOut('carol', 'dm');
  await nobodyWasAnswered();
});

it('who manages a server lets people in there, once an owner has said yes to it [G1]', async () => {
  await stage.startBot();
  await sandbox.setRole({ name: 'moderators', permissions: ['ManageGuild'], people: ['carol'] });
  const other = await sandbox.addGuild({ name: 'elsewhere', owner: 'alice', members: ['bob'] });
  const lobby = (await sandbox.addChannel({ guild: other.id, name: 'lobby' })).id;
  await sandbox.delivered();
  const add = { change: 'add', who: '@bob' };
  expect(await access('carol', '#dev', add)).toMatch(/^My owner has not said yet/u);
  await isLockedOut('bob', '#dev');
  expect((await stage.ask('alice', '#dev', '!settings access allow-managers')).text).toMatch(/^Done/u);
  expect(await access('carol', '#dev', add)).toMatch(/^Done/u);
  await isAnswered('bob', '#dev');
  await isAnswered('bob', 'dm');
  await isLockedOut('bob', lobby);
  await access('carol', '#dev', { ...add, change: 'remove' });
  await isLockedOut('bob', '#dev');
  expect(await access('carol', '#dev', { change: 'add', who: stage.info.guilds['Sandbox'] ?? '' })).toMatch(
    /^Done/u,
  );
  await isAnswered('bob', '#dev');
  expect(await access('alice', '#dev', { change: 'stop-managers' })).toMatch(/^Done/u);
  await isLockedOut('bob', '#dev');
  await nobodyWasAnswered();
});
