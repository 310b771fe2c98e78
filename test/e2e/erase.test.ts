import { readFile, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { runPerson } from '../../src/bot/memory-alone.ts';
import { answeringBy, chatCall, toldIn, type Answers } from './model-calls.ts';
import { command } from './memory-talk.ts';
import { captured } from '../support/captured.ts';
import { runProcess } from '../support/processes.ts';
import { openStage, type Stage } from './stage.ts';

const answers: Answers = {};
const everyLayer = {
  DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
  DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
  DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
};

let stage: Stage;
let bobId: string;

beforeEach(async () => {
  stage = await openStage({ model: answeringBy(answers), environment: everyLayer });
  bobId = stage.info.people['bob'] ?? '';
});

afterEach(async () => {
  delete answers.chat;
  await stage[Symbol.asyncDispose]();
});

/** After an erasing no file, folder or content names Bob; what stays is its moment, under a hash. */
async function expectOnlyTheMoment(): Promise<void> {
  expect(await stage.pathsWith(bobId)).toEqual([]);
  const below = await readdir(join(stage.folder, 'data'), { recursive: true }).catch(() => []);
  expect(below.filter((path) => path.includes(bobId))).toEqual([]);
  const erasures = (await stage.kept()).find(({ path }) => path.startsWith('erasures.json'));
  expect(erasures?.text).toMatch(/"[0-9a-f]{64}": ?"\d{4}-/u);
}

describe('erasing everything [K11]', () => {
  it.each(['@bob', '#general'])(
    'in %s names what will go, takes it from every file, and uses nothing of before again',
    async (place) => {
      await stage.ask('bob', place, '!memory remember I keep an axolotl');
      await stage.ask('bob', place, 'My axolotl is called Pip.');
      await stage.ask('bob', '@bob', 'Axolotls are fun.');
      await stage.ask('bob', place, '!remind in three weeks: feed the axolotl');
      await stage.ask('carol', '#dev', 'I keep a cockatoo.');
      await stage.ask('carol', '#dev', `<@${bobId}> has pets too.`);
      await stage.writeFile(`data/quarantine/users/${bobId}/durable.json.20260115T120000000Z`, 'axolotl');
      await stage.writeFile(`data/users/${bobId}/notebook/USER.md`, '# Bob\nKeeps an axolotl\n');

      const asked = await stage.ask('bob', place, '!memory erase');
      expect(asked.text).toMatch(/erases everything[^\n]* 1 item, \d+ messages/u);
      expect(asked.text).not.toContain('axolotl');
      const token = /confirm (\w+)/u.exec(asked.text)?.[1] ?? '';
      expect((await stage.ask('carol', '#dev', `!memory confirm ${token}`)).text).toContain("isn't yours");
      expect((await stage.press('bob', asked.id, 'Erase everything')).text).toMatch(/^Erased: everything/u);

      await stage.stopBot();
      expect(await stage.pathsWith('axolotl', 'Axolotl')).toEqual([]);
      await expectOnlyTheMoment();
      expect(await stage.pathsWith('cockatoo')).not.toEqual([]);

      await stage.startBot();
      const later = await chatCall(stage, 'bob', place, 'What do you know of me?');
      expect(toldIn(later)).not.toMatch(/axolotl|Pip/iu);
      expect(await command(stage, '/memory', 'bob', place, 'show')).toContain('(0 items)');
      await stage.sandbox.waitForReply({ in: place, after: asked.id, containing: 'I am an AI' });
      expect((await stage.ask('bob', place, `!memory confirm ${token}`)).text).toContain('has expired');
    },
  );

  it('is finished by the next start where a kill came right after it was noted, before anything is answered', async () => {
    await stage.startBuilt();
    await stage.ask('bob', '@bob', '!memory remember I keep an axolotl');
    await stage.ask('bob', '#general', 'My axolotl is called Pip.');
    const { id } = await stage.ask('bob', '@bob', '!memory erase');
    const { id: clicked } = await stage.sandbox.click({
      as: 'bob',
      message: id,
      label: 'Erase everything',
    });
    // In the ledger's own file, or in the outbox before it; on a busy machine it may be done before anybody looks.
    const isNoted = async () =>
      (await stage.pathsWith('"kind":"erased"', String.raw`\"kind\":\"erased\"`)).length > 0 ||
      (await stage.sandbox.interaction({ id: clicked })).followUps.length > 0;
    await expect.poll(isNoted, { interval: 1 }).toBe(true);
    await stage.killBot();
    await stage.startBot();
    const later = await chatCall(stage, 'bob', '#general', 'What do you know of me?');
    expect(toldIn(later)).not.toMatch(/axolotl|Pip/iu);
    await stage.stopBot();
    expect(await stage.pathsWith('axolotl', 'Axolotl')).toEqual([]);
  });

  it("offers in a DM to delete the bot's own messages there, and names nobody after that", async () => {
    await stage.ask('bob', '@bob', 'My axolotl is called Pip.');
    const { id: message } = await stage.ask('bob', '@bob', '!memory erase');
    const told = await stage.press('bob', message, 'Erase everything');
    expect((await stage.ask('carol', '#general', '!memory erase-dm')).text).toContain('in our DM only');
    expect((await stage.press('bob', told.id, 'Delete my messages here')).text).toMatch(
      /^Deleted \d+ messages/u,
    );
    expect(await stage.sandbox.messages({ in: '@bob', from: 'bot' })).toEqual([]);
    await stage.stopBot();
    await expectOnlyTheMoment();
  });
});

describe('purging a matter [K11]', () => {
  it('takes whatever says the words from every conversation, for good, and leaves the rest', async () => {
    answers.summary = (body) => ({
      text: JSON.stringify(body.messages).includes('axolotl')
        ? 'Bob has an axolotl.'
        : 'They talked of bees.',
    });
    try {
      await stage.ask('bob', '@bob', '!memory remember I keep an axolotl');
      await stage.ask('bob', '@bob', '!memory remember I keep bees');
      await stage.ask('bob', '@bob', 'My axolotl is called Pip.');
      await stage.ask('bob', '@bob', 'My bees are busy.');
      await stage.ask('bob', '#general', 'An axolotl swims.');
      await stage.ask('bob', '#general', 'Axolotlish things are fine.');
      await stage.writeFile(
        `data/users/${bobId}/notebook/USER.md`,
        '# Bob\n- Keeps an axolotl\n- Keeps bees\n',
      );
      await stage.ask('bob', '#general', '!memory remember the axolotl eats');
      await stage.ask('bob', '#general', '!memory forget all eats');

      await stage.ask('bob', '@bob', '!memory remember 我喜欢猫');
      const { id } = await stage.ask('bob', '@bob', '!memory purge 猫');
      expect((await stage.press('bob', id, 'Erase it')).text).toContain('Erased: everything that says "猫"');
      expect((await stage.ask('bob', '@bob', '!memory purge x')).text).toContain('Nothing that I hold');
      expect((await stage.ask('bob', '@bob', '!memory purge weasel')).text).toMatch(/^Nothing/u);
      const asked = await stage.ask('bob', '#general', '!memory purge axolotl');
      expect(asked.text).toMatch(/: 1 item, 2 messages, \d+ notes?/u);
      expect((await stage.press('bob', asked.id, 'Erase it')).text).toMatch(
        /^Erased: everything that says "axolotl", with 4 messages/u,
      );
      expect((await stage.ask('bob', '@bob', '!memory undo')).text).toContain('nothing to undo');
      const later = await chatCall(stage, 'bob', '@bob', 'What do I keep?');
      expect(toldIn(later)).not.toMatch(/axolotl\b|Pip/u);
      expect(toldIn(later)).toContain('bees');
      await stage.stopBot();
      const left = await stage.pathsWith('axolotl', 'Pip');
      expect(left).toEqual([]);
      expect(await stage.pathsWith('Axolotlish')).not.toEqual([]);
      expect(await stage.readFile(`data/users/${bobId}/notebook/USER.md`)).toBe('# Bob\n- Keeps bees\n');
    } finally {
      delete answers.summary;
    }
  });
});

/** Of what the operator runs over the bot's folders. */
const environment = () => ({
  DISCOCLAW_DATA_DIR: join(stage.folder, 'data'),
  DISCOCLAW_WORKSPACE_DIR: join(stage.folder, 'workspace'),
  ...stage.storeEnvironment,
});

describe('requests by letter [K11]', () => {
  it('are served while the bot does not run, and refused in clear words otherwise', async () => {
    await stage.ask('bob', '@bob', 'My axolotl is called Pip.');
    const serve = (wish: string, id = bobId) => captured(() => runPerson(wish, id, environment()));
    for (const [outcome, line] of [
      [await serve('erase', 'bob'), 'is not a Discord user id'],
      [await serve('burn'), 'Say export or erase, not "burn".'],
    ] as const)
      expect(outcome).toEqual({ code: 2, output: '', errors: expect.stringContaining(line) });
    const refused = await serve('erase');
    expect(refused.errors).toMatch(/in use by process|A bot runs on this database/u);
    expect(refused.code).toBe(1);
    await stage.stopBot();
    const main = new URL('../../dist/main.js', import.meta.url).pathname;
    const exported = await runProcess(process.execPath, [main, 'person', 'export', bobId], {
      cwd: stage.folder,
      env: { PATH: process.env['PATH'], HOME: stage.folder, ...environment() },
    });
    expect(exported.code).toBe(0);
    const [archive = ''] = exported.output.split('\n');
    expect(archive).toContain(join(await realpath(stage.folder), `${bobId}-discoclaw-memory-`));
    expect(await readFile(archive, 'latin1')).toMatch(/^PK.*conversations\/\d+\/messages\.json/su);
    await rm(archive);
    expect((await serve('erase')).output).toMatch(/^Erased: 0 items, 2 messages/u);
    expect(await stage.pathsWith('axolotl', 'Pip')).toEqual([]);
    await expectOnlyTheMoment();
    await stage.startBot();
    expect(toldIn(await chatCall(stage, 'bob', '@bob', 'Hello.'))).not.toContain('axolotl');
  });
});
