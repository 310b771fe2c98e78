import { expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { answersTo } from './answers-to.ts';
import { openStage } from './stage.ts';

const everything = ['mention', 'command', 'slash'];

it('a role lets people in on its server and in DMs, as long as they have it [G1]', async () => {
  await using stage = await openStage({
    environment: { DISCOCLAW_ACCESS: 'allowlist', DISCOCLAW_SUMMARY_ENABLED: 'false' },
    model: () => ({ text: 'Understood.' }),
  });
  const { sandbox } = stage;
  await sandbox.addPerson({ name: 'erin' });
  const { id: helpers } = await sandbox.setRole({
    name: 'helpers',
    permissions: [],
    people: ['bob', 'erin'],
  });
  const other = await sandbox.addGuild({ name: 'elsewhere', owner: 'carol', members: ['bob'] });
  // A role of the same name.
  await sandbox.setRole({ guild: other.id, name: 'helpers', permissions: [], people: ['bob', 'carol'] });
  const lobby = (await sandbox.addChannel({ guild: other.id, name: 'lobby' })).id;
  await stage.stopBot();
  await stage.startBot({ DISCORD_ALLOW_ROLE_IDS: `${helpers},310000000000000009` });
  await stage.bot().waitFor(`"letIn":["@helpers in Sandbox","<@&310000000000000009>"]`);

  const cells: { cell: string; slash: boolean; mention: MessageView; command: MessageView }[] = [];
  async function talk(cell: string, as: string, place: string): Promise<void> {
    const mention = await sandbox.say({ as, in: place, text: 'Hello', mentionBot: true });
    const command = await sandbox.say({ as, in: place, text: '!memory proposals' });
    const slash = await sandbox.slash({ as, in: place, name: 'memory', subcommand: 'proposals' });
    await sandbox.delivered();
    cells.push({ cell, mention, command, slash: slash.answer?.text.includes('given access') === false });
  }

  const status = await stage.ask('alice', 'dm', '!status');
  expect(status.text).toContain('lets in @helpers in Sandbox, <@&310000000000000009>');
  await talk('has the role, its server', 'bob', '#general');
  await talk('has the role, DM', 'bob', 'dm');
  await talk('has the role, another server', 'bob', lobby);
  await talk('has it not, its server', 'carol', '#general');
  await talk('has it not, DM', 'carol', 'dm');
  await talk('another role of that name', 'carol', lobby);
  await stage.ask('alice', '#general', '!memory help');
  await sandbox.takeRole({ role: helpers, people: ['bob'] });
  await talk('had it until now, its server', 'bob', '#general');
  await stage.ask('alice', '#general', '!memory help');
  await stage.stopBot();

  // What was said meanwhile tells no roles: Discord is asked.
  const missed = await sandbox.say({ as: 'erin', in: '#dev', text: 'Anybody home?', mentionBot: true });
  const late = await sandbox.say({ as: 'bob', in: '#dev', text: 'Anybody home?', mentionBot: true });
  await stage.startBot({ DISCORD_ALLOW_ROLE_IDS: helpers });
  await stage.answerTo(missed);
  await talk('had it before the start, DM', 'bob', 'dm');
  await stage.stopBot();

  expect(await answersTo(sandbox, late)).toEqual([]);
  const answered: (readonly [string, readonly string[]])[] = [];
  for (const { cell, mention, command, slash } of cells) {
    const toMention = (await answersTo(sandbox, mention)).length > 0 ? ['mention'] : [];
    const toCommand = (await answersTo(sandbox, command)).length > 0 ? ['command'] : [];
    answered.push([cell, [...toMention, ...toCommand, ...(slash ? ['slash'] : [])]]);
  }
  expect(answered).toEqual([
    ['has the role, its server', everything],
    ['has the role, DM', everything],
    ['has the role, another server', []],
    ['has it not, its server', []],
    ['has it not, DM', []],
    ['another role of that name', []],
    ['had it until now, its server', []],
    ['had it before the start, DM', []],
  ]);
});

it('who lost access keeps show, export, pause and erase, until they have used the last [G1]', async () => {
  await using stage = await openStage({
    environment: { DISCOCLAW_ACCESS: 'allowlist', DISCOCLAW_SUMMARY_ENABLED: 'false' },
    model: () => ({ text: 'Understood.' }),
  });
  const { sandbox } = stage;
  const bob = stage.info.people['bob'] ?? '';
  const stranger = await sandbox.addPerson({ name: 'stranger' });
  await stage.stopBot();
  await stage.startBot({ DISCORD_ALLOW_USER_IDS: bob });
  await stage.ask('bob', 'dm', '!memory remember I grow pears');
  await stage.stopBot();
  // Nobody told the bot anything yet: a greeting of the stage's own would say otherwise.
  await stage.writeFile(`data/users/${stranger.id}/settings.json`, '{"version":1}');
  await stage.startBot();

  const slash = (as: string, subcommand: string) =>
    sandbox.slash({ as, in: 'dm', name: 'memory', subcommand }).then(({ answer }) => answer?.text ?? '');
  expect((await stage.ask('bob', 'dm', '!memory show')).text).toContain('I grow pears');
  expect(await slash('bob', 'show')).toContain('I grow pears');
  expect(await slash('bob', 'pause')).toContain('aused');
  expect(await slash('bob', 'proposals')).toContain('given access');
  expect(await slash('stranger', 'show')).toContain('given access');
  const refused = [
    await sandbox.say({ as: 'bob', in: 'dm', text: '!memory remember I grow plums' }),
    await sandbox.say({ as: 'bob', in: 'dm', text: 'Hello?' }),
    await sandbox.say({ as: 'stranger', in: 'dm', text: '!memory show' }),
  ];
  await sandbox.delivered();
  const question = await stage.ask('bob', 'dm', '!memory erase');
  const { id } = await sandbox.click({ as: 'bob', message: question.id, label: 'Erase everything' });
  const told = async () => (await sandbox.interaction({ id })).followUps.at(-1)?.text ?? '';
  await expect.poll(told).toMatch(/^Erased: everything/u);
  const gone = await sandbox.say({ as: 'bob', in: 'dm', text: '!memory show' });
  await sandbox.delivered();
  await stage.stopBot();
  for (const message of [...refused, gone]) expect(await answersTo(sandbox, message)).toEqual([]);
});
