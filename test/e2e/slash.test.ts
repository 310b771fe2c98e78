import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;

const allCommands = ['memory', 'Remember this', 'What do you know about this?'];

beforeAll(async () => {
  stage = await openStage({
    model: () => ({ text: 'Bees dance to tell where flowers are.' }),
  });
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

async function menu(as: string, message: string): Promise<string> {
  const { answer, isEphemeral } = await stage.sandbox.menu({ as, message, name: 'Remember this' });
  expect(isEphemeral).toBe(true);
  return answer?.text ?? '';
}

describe('the menu of a message', () => {
  it('remembers what one said, and what one was answered', async () => {
    const said = await stage.sandbox.say({ as: 'bob', in: '#general', text: 'I keep bees' });
    const reply = await stage.answerTo(said);
    expect(await menu('bob', said.id)).toContain('Remembered: "I keep bees"');
    // The reply is seen a moment before it is logged.
    await eventually(async () => expect(await menu('bob', reply.id)).toContain('Remembered: "Bees dance'));
    const durable = await stage.readFile(`data/users/${stage.info.people['bob']}/durable.json`);
    for (const { id } of [said, reply]) expect(durable).toContain(id);
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
  it('as unknown is not done, nor asked for again', async () => {
    const [status, code] = [404, 10_062];
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

  it('as over when its answer is ready is done, and the answer sent once', async () => {
    const [status, code] = [401, 50_027];
    const route = 'PATCH /webhooks/*/*/messages/*';
    await stage.sandbox.setFault({ kind: 'status', status, code, route, times: 1000 });
    const before = await toInteractions();
    await stage.sandbox.slash({ ...rememberThat(`I keep ${code} hives`), until: 'acknowledged' });
    await eventually(async () => expect((await toInteractions()) - before).toBe(2));
    await stage.sandbox.clearFaults();
    expect(await shown()).toContain(`${code} hives`);
    expect((await toInteractions()) - before).toBe(4);
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
});
