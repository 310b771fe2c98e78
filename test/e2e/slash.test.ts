import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { idIn } from './memory-talk.ts';
import { eventually } from '../support/eventually.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;

const allCommands = ['memory', 'Remember this', 'What do you know about this?'];

beforeAll(async () => {
  stage = await openStage({
    environment: {
      DISCOCLAW_ACCESS: 'allowlist',
      DISCORD_ALLOW_USER_IDS: '140000000000000001,140000000000000002',
    },
    model: () => ({ text: 'Bees dance to tell where flowers are.' }),
  });
  const items = Array.from({ length: 30 }, (_, index) => ({
    id: `0000${String(index).padStart(4, '0')}`,
    text: `Thing ${index} of alice: ${'and so on '.repeat(15)}`,
    visibility: index < 28 ? 'everywhere' : 'dm',
    source: { type: 'manual' },
  }));
  await stage.writeFile(
    `data/users/${stage.info.people['alice']}/durable.json`,
    JSON.stringify({ version: 1, items }),
  );
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

async function registered(): Promise<readonly string[]> {
  return (await stage.sandbox.commands()).map(({ name }) => name);
}

function writes(): Promise<readonly unknown[]> {
  return stage.sandbox.requests({ method: 'PUT', path: '/applications/*/commands' });
}

describe('completing an id', () => {
  const forget = { name: 'memory', subcommand: 'forget', option: 'target' };

  it('offers at most 25 of one’s own items, of those that may be used in the place', async () => {
    const inPublic = await stage.sandbox.complete({ as: 'alice', in: '#general', ...forget });
    expect(inPublic).toHaveLength(25);
    const secret = { as: 'alice', ...forget, value: 'thing 29' };
    expect(await stage.sandbox.complete({ ...secret, in: '#general' })).toEqual([]);
    const [choice] = await stage.sandbox.complete({ ...secret, in: 'dm' });
    expect(choice).toMatchObject({
      value: '00000029',
      name: expect.stringMatching(/^Thing 29 .*… · 00000029$/u),
    });
    const share = { as: 'alice', in: '#general', name: 'memory', subcommand: 'share', option: 'id' };
    const shareable = (await stage.sandbox.complete(share)).map(({ value }) => value);
    expect(new Set(shareable)).toEqual(new Set(['00000028', '00000029']));
  });

  it('offers nothing of other people, and nothing to people without access', async () => {
    expect(await stage.sandbox.complete({ as: 'bob', in: 'dm', ...forget })).toEqual([]);
    expect(await stage.sandbox.complete({ as: 'carol', in: 'dm', ...forget })).toEqual([]);
  });

  it('gives what the command takes', async () => {
    const [choice] = await stage.sandbox.complete({
      as: 'alice',
      in: '#general',
      ...forget,
      value: '00000003',
    });
    const options = { target: String(choice?.value) };
    const given = { as: 'alice', in: '#general', name: 'memory', subcommand: 'forget', options };
    const { answer } = await stage.sandbox.slash(given);
    expect(answer?.text).toContain('Deprecated 1 item matching "00000003"');
  });
});

describe('the menu of a message', () => {
  const remember = 'Remember this';

  async function menu(as: string, message: string, name = remember): Promise<string> {
    const { answer, isEphemeral } = await stage.sandbox.menu({ as, message, name });
    expect(isEphemeral).toBe(true);
    return answer?.text ?? '';
  }

  it('remembers what one said, and what one was answered', async () => {
    const said = await stage.sandbox.say({ as: 'bob', in: '#general', text: 'I keep bees' });
    const reply = await stage.answerTo(said);
    expect(await menu('bob', said.id)).toContain('Remembered: "I keep bees"');
    // The reply is seen a moment before it is logged.
    await eventually(async () => expect(await menu('bob', reply.id)).toContain('Remembered: "Bees dance'));
    const durable = await stage.readFile(`data/users/${stage.info.people['bob']}/durable.json`);
    for (const { id } of [said, reply]) expect(durable).toContain(id);
  });

  it('does not remember other people’s messages, their answers, or answers to commands', async () => {
    const said = await stage.sandbox.say({ as: 'bob', in: '#general', text: 'I keep wasps' });
    const reply = await stage.answerTo(said);
    expect(await menu('alice', said.id)).toContain('not what others wrote');
    await eventually(async () =>
      expect(await menu('alice', reply.id)).toContain('not one of my answers to you'),
    );
    const help = await stage.ask('bob', '#general', '!memory help');
    expect(await menu('bob', help.id)).toContain('do not remember');
    const long = await stage.sandbox.say({ as: 'bob', in: '#general', text: 'w'.repeat(501) });
    expect(await menu('bob', long.id)).toContain('500 at most');
    expect(await menu('carol', said.id)).toContain('access');
  });

  it('tells what one’s own memory has on anybody’s words', async () => {
    const about = 'What do you know about this?';
    const { answer } = await stage.sandbox.slash({
      as: 'bob',
      in: 'dm',
      name: 'memory',
      subcommand: 'remember',
      options: { text: 'My hives stand in Oslo' },
    });
    const asked = await stage.sandbox.say({ as: 'carol', in: '#general', text: 'Has anybody got hives?' });
    const told = await menu('bob', asked.id, about);
    expect(told).toContain(`id ${idIn(answer?.text ?? '')} · dm`);
    expect(await menu('alice', asked.id, about)).not.toContain('Oslo');
    const empty = await stage.sandbox.say({
      as: 'carol',
      in: '#general',
      attachments: [{ name: 'bee.txt', text: 'b' }],
    });
    expect(await menu('bob', empty.id, about)).toContain('no text');
  });
});

const rememberThat = (text: string) => ({
  as: 'bob',
  in: 'dm',
  name: 'memory',
  subcommand: 'remember',
  options: { text },
});
const toInteractions = async () =>
  (await stage.sandbox.requests()).filter(({ path }) => /^\/(?:interactions|webhooks)\//u.test(path)).length;
const shown = async () =>
  (await stage.sandbox.slash({ as: 'bob', in: 'dm', name: 'memory', subcommand: 'show' })).answer?.text;

describe('an interaction that Discord refuses to hear of', () => {
  const callback = 'POST /interactions/*/*/callback';
  afterEach(() => stage.sandbox.clearFaults());
  it.each([
    [404, 10_062],
    [400, 40_060],
  ])('with %i and code %i is not done, nor asked for again', async (status, code) => {
    const { answer } = await stage.sandbox.slash(rememberThat(`I keep ${code} drones`));
    const before = await toInteractions();
    await stage.sandbox.setFault({ kind: 'status', status, code, route: callback, times: 1000 });
    await Promise.all(
      [
        stage.sandbox.slash(rememberThat(`I keep ${code} bees`)),
        stage.sandbox.click({ as: 'bob', message: answer?.id ?? '', label: 'Undo' }),
        stage.sandbox.complete({
          as: 'alice',
          in: 'dm',
          name: 'memory',
          subcommand: 'forget',
          option: 'target',
        }),
      ].map((asked) => expect(asked).rejects.toThrow('did not respond')),
    );
    expect((await toInteractions()) - before).toBe(3);
    await stage.sandbox.clearFaults();
    expect(await shown()).not.toContain(`${code} bees`);
    expect(await shown()).toContain(`${code} drones`);
  });

  it.each([
    [404, 10_062],
    [404, 10_015],
    [401, 50_027],
  ])(
    'with %i and code %i when its answer is ready is done, and the answer sent once',
    async (status, code) => {
      const route = 'PATCH /webhooks/*/*/messages/*';
      await stage.sandbox.setFault({ kind: 'status', status, code, route, times: 1000 });
      const before = await toInteractions();
      await stage.sandbox.slash({ ...rememberThat(`I keep ${code} hives`), until: 'acknowledged' });
      await eventually(async () => expect((await toInteractions()) - before).toBe(2));
      await stage.sandbox.clearFaults();
      expect(await shown()).toContain(`${code} hives`);
      expect((await toInteractions()) - before).toBe(4);
    },
  );

  it('because it heard of it already, though its answer was lost on the way, is gone on with', async () => {
    await stage.sandbox.setFault({ kind: 'lost', route: callback });
    const { answer } = await stage.sandbox.slash({ ...rememberThat('I keep two queens'), timeoutMs: 20_000 });
    expect(answer?.text).toContain('Remembered: "I keep two queens"');
    await stage.sandbox.setFault({ kind: 'lost', route: callback });
    const undo = { as: 'bob', message: answer?.id ?? '', label: 'Undo', timeoutMs: 20_000, followUps: 1 };
    expect((await stage.sandbox.click(undo)).followUps[0]?.text).toContain('Undone');
    expect(await shown()).not.toContain('two queens');
  });
});

describe('over a restart', () => {
  it('one request at each start registers every command once', async () => {
    expect(await registered()).toEqual(expect.arrayContaining(allCommands));
    const before = (await writes()).length;
    const names = (await registered()).toSorted();
    expect(await stage.stopBot()).toBe(0);
    await stage.startBot();
    expect(await writes()).toHaveLength(before + 1);
    expect((await registered()).toSorted()).toEqual(names);
  });

  it('commands can be switched off, and leave nothing behind', async () => {
    await stage.stopBot();
    await stage.startBot({ DISCOCLAW_MEMORY_COMMANDS_ENABLED: 'false' });
    await expect.poll(registered).not.toContain('memory');
  });
});
