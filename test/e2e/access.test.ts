import { afterAll, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { answersTo } from './answers-to.ts';
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

/** What the owner was asked about people. */
const asked = async () =>
  (await sandbox.messages({ in: '@alice', from: 'bot' })).filter(({ text }) =>
    text.includes('has no access'),
  );

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
  await stage.bot().waitFor(`"letIn":["<@${bob}>","@helpers in Sandbox"]`);
  await isAnswered('bob', 'dm');
  expect((await stage.ask('alice', 'dm', `!settings access remove ${bob}`)).text).toContain('no longer');
  await stage.ask('alice', '#general', `!settings access remove <@&${helpers}>`);
  await isLockedOut('bob', '#general');
  await isLockedOut('carol', 'dm');
  await nobodyWasAnswered();
});

it('an owner is asked about who has no access, once a person, and lets them in by a button, also after a restart [G1]', async () => {
  const asking = { DISCOCLAW_ACCESS_REQUESTS: 'true' };
  await stage.startBot(asking);
  for (const name of ['dora', 'erin', 'fred', 'gina', 'hugo']) await sandbox.addPerson({ name });
  const about = async (name: string) => {
    await expect
      .poll(async () => (await asked()).map(({ text }) => text))
      .toContainEqual(expect.stringContaining(name));
    return (await asked()).find(({ text }) => text.includes(name))?.id ?? '';
  };
  for (const name of ['dora', 'erin']) await isLockedOut(name, '#general');
  const [aboutDora, aboutErin] = [await about('dora'), await about('erin')];
  // Of the first two it may have read words again at the start, and asked about them: five a day.
  for (const name of ['fred', 'gina', 'hugo']) await isLockedOut(name, 'dm');
  await expect
    .poll(async () => (await stage.ask('alice', 'dm', '!status')).text)
    .toMatch(/waiting to be let in: .*<@\d+>/u);
  await expect.poll(async () => (await asked()).length).toBe(5);
  await nobodyWasAnswered();

  await stage.startBot(asking);
  for (const [message, label] of [
    [aboutDora, 'Let in'],
    [aboutErin, 'Not now'],
  ] as const) {
    const { id } = await sandbox.click({ as: 'alice', message, label });
    await expect
      .poll(async () => (await sandbox.interaction({ id })).followUps.at(-1)?.text)
      .toMatch(/^Done/u);
  }
  await isAnswered('dora', '#general');
  await isLockedOut('erin', '#general');
  await isLockedOut('fred', 'dm');
  await stage.ask('alice', 'dm', 'What is new?');
  expect(stage.model.requests.at(-1)?.raw).not.toContain('no access');
  await nobodyWasAnswered();
  expect(await asked()).toHaveLength(5);
});
