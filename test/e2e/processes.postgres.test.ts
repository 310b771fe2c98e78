import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { freePort } from '../support/free-port.ts';
import { placesOfShards, type ShardPlace } from '../support/two-shards.ts';
import { startChild, type Child } from './child.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;
/** The process with the second shard and without the page. */
let other: Child;
/** Where the other process hears. */
let far: ShardPlace;
let url: string;

/** Two processes with a shard each, as systemd, compose or Kubernetes start them. */
beforeEach(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  stage = await openStage({
    isBuilt: true,
    shards: 2,
    model: () => ({ text: 'Understood.' }),
    environment: {
      DISCOCLAW_SHARDS: '2',
      DISCOCLAW_SHARD_IDS: '0',
      DISCOCLAW_PAGE_PORT: String(port),
      DISCOCLAW_PAGE_URL: url,
    },
  });
  const places = await placesOfShards(stage.sandbox, 2);
  if (places[1] === undefined) throw new Error('There are two shards');
  far = places[1];
  other = await startOther();
});

afterEach(async () => {
  await other.end('SIGKILL');
  await stage[Symbol.asyncDispose]();
});

async function startOther(): Promise<Child> {
  const child = startChild({
    folder: stage.folder,
    environment: { ...stage.environment, DISCOCLAW_SHARD_IDS: '1', DISCOCLAW_PAGE_PORT: '0' },
  });
  await child.waitFor('"the bot is ready"');
  return child;
}

async function linkIn({ channel }: ShardPlace): Promise<string> {
  const { answer } = await stage.sandbox.slash({
    as: 'bob',
    in: channel,
    name: 'memory',
    subcommand: 'page',
  });
  return answer?.components.rows[0]?.buttons[0]?.url ?? '';
}

/** A browser that presses the button of a link, and what it is shown then. */
async function signIn(link: string) {
  const opened = await fetch(link, { method: 'POST', headers: { origin: url }, redirect: 'manual' });
  const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? [];
  return (path: string) => fetch(url + path, { headers: { cookie } });
}

describe('two processes with a shard each over one database [X3]', () => {
  it('give links to the page of one of them, which follows what the other one does, and ends with an erasing there [Y1] [Y3] [K11]', async () => {
    const ask = await signIn(await linkIn(far));
    expect(await (await ask('/')).text()).toContain('Nothing yet.');
    const events = await ask('/events');
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain('open');
    const remembered = await stage.sandbox.say({
      as: 'bob',
      in: far.channel,
      text: '!memory remember I sing',
    });
    expect((await stage.answerTo(remembered)).text).toContain('Remembered');
    expect((await reader?.read())?.value).toContain('changed');
    await reader?.cancel();
    expect(await (await ask('/')).text()).toContain('I sing');

    const again = await linkIn(far);
    const { answer } = await stage.sandbox.slash({
      as: 'bob',
      in: far.channel,
      name: 'memory',
      subcommand: 'erase',
    });
    expect((await ask('/')).status).toBe(200);
    await stage.sandbox.click({
      as: 'bob',
      message: answer?.id ?? '',
      label: 'Erase everything',
      followUps: 1,
    });
    expect((await ask('/')).status).toBe(401);
    expect((await fetch(again)).status).toBe(403);
  });

  it('know each other’s memory of a person, tell what they do not see, and register commands once', async () => {
    await stage.ask('bob', far.channel, '!memory remember I drink oolong tea');
    expect((await stage.ask('bob', '@bob', '!memory show')).text).toContain('oolong tea');
    const caughtUp = await stage.ask('bob', '@bob', `!catchup ${far.channelId}`);
    expect(caughtUp.text).toContain('not visible from here: ask in the server itself');
    const status = await stage.ask('alice', '@alice', '!status');
    expect(status.text).toContain('1 server · 1 of 2 shards');
    const registered = await stage.sandbox.requests({ method: 'PUT', path: '/applications/*/commands' });
    expect(registered).toHaveLength(1);
    expect(await other.end('SIGTERM')).toBe(0);
    expect(await stage.stopBot()).toBe(0);
    expect(await stage.sandbox.sessions()).toEqual([]);
  });
});
