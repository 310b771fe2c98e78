import { afterAll, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import type { MessagesBody } from '../support/model-server.ts';
import { answeringBy, callsOf } from './model-calls.ts';
import { openStage } from './stage.ts';

/** What mattered of three hundred messages. */
const telling = [
  'We decided to take the red logo canary901x',
  'The launch is on 2027-02-03 canary902x',
  'I will bring the printer tomorrow canary903x',
  'alice, can you book the room? canary904x',
];
const chatter = /canary[0-8]\d*x/u;
const link = /https:\/\/discord\.com\/channels\/(?<guild>\d+)\/(?<channel>\d+)\/(?<id>\d+)/gu;

/** What the channel's reading gave the model last. */
let shown = '';

function toolResultIn({ messages = [] }: MessagesBody): string | undefined {
  const content = messages.at(-1)?.content ?? [];
  const result = typeof content === 'string' ? undefined : content.find(({ type }) => type === 'tool_result');
  return result === undefined
    ? undefined
    : JSON.stringify(result['content']).replaceAll(String.raw`\n`, '\n');
}

function textIn({ messages = [] }: MessagesBody): string {
  return messages
    .flatMap(({ content }) =>
      typeof content === 'string' ? [content] : content.map(({ text = '' }) => text),
    )
    .join('\n');
}

const stage = await openStage({
  environment: {
    DISCORD_AUTO_REPLY_CHANNEL_IDS: '',
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
    DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
    DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
  },
  model: answeringBy({
    // Reads the channel where it is told to, tries to keep what it read, and then tells what mattered, each with the link.
    chat(body) {
      const result = toolResultIn(body);
      const [, input] = /MISSED (\{.*?\})/u.exec(textIn(body).split('<message').at(-1) ?? '') ?? [];
      if (result === undefined)
        return input !== undefined
          ? { toolUse: [{ name: 'read_channel', input: JSON.parse(input) }] }
          : { text: 'Understood.' };
      if (result.includes('<channel_messages>')) {
        shown = result;
        const entry = `- ${telling[0] ?? ''}`;
        return {
          toolUse: [
            { name: 'memory_append', input: { path: 'overview.md', entry } },
            { name: 'remember_item', input: { kind: 'fact', quote: telling[2] } },
          ],
        };
      }
      const lines = (result.includes('Nothing was read') ? '' : shown).split('\n');
      const told = lines.filter((line) => telling.some((each) => line.includes(each)));
      return { text: told.length > 0 ? told.join('\n') : `I read: ${result}` };
    },
    stretch: (body) => ({
      json: {
        points: [...textIn(body).matchAll(/\[(\d+)\] \w+: (.*canary90\dx)/gu)].map(([, id, text]) => ({
          text,
          messageIds: [id],
        })),
      },
    }),
    missed: (body) => ({ text: `You missed:\n${textIn(body)}`.slice(0, 1500) }),
    summary: (body) => ({ text: `They said: ${textIn(body).slice(-500)}` }),
  }),
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Says something that is for the bot. */
async function ask(as: string, place: string, text: string): Promise<MessageView> {
  const said = await stage.sandbox.say({
    as,
    in: place,
    text,
    ...(place === 'dm' ? {} : { mentionBot: true }),
  });
  return stage.answerTo(said);
}

describe('what did I miss? [B4]', () => {
  it('finds the four of three hundred messages that mattered, with links that work, and stores nothing but the marked answer', async () => {
    await ask('alice', '#dev', 'see you tomorrow');
    const posted: MessageView[] = [];
    for (let index = 0; index < 300; index += 1) {
      const told = index % 70 === 35 ? telling[Math.floor(index / 70)] : undefined;
      const text = told ?? `chatter about nothing at all, number ${index} canary${index}x`;
      posted.push(await stage.sandbox.say({ as: index % 2 === 0 ? 'bob' : 'carol', in: '#dev', text }));
    }
    await stage.sandbox.delivered();
    const answer = await ask('alice', '#dev', 'what did I miss? MISSED {}');
    expect(callsOf(stage, 'stretch').length).toBeGreaterThan(0);
    for (const text of [shown, answer.text]) {
      for (const each of telling) expect(text).toContain(each);
      const linked = [...text.matchAll(link)].map(({ groups }) => groups);
      expect(linked).toHaveLength(4);
      expect(linked.map((each) => posted.find(({ id }) => id === each?.['id'])?.text)).toEqual(telling);
      for (const each of linked) expect(each?.['channel']).toBe(stage.info.channels['dev']);
    }
    expect(shown).toMatch(/since \d{4}-\d\d-\d\d \d\d:\d\d, the last message of alice there: 300 messages/u);

    // What it tried to keep of it was refused, and the work after the turn made nothing of it.
    await expect.poll(() => callsOf(stage, 'summary').at(-1)?.raw).toContain('MISSED');
    await ask('alice', '#dev', 'thank you, I like tea');
    await expect.poll(() => callsOf(stage, 'summary').at(-1)?.raw).toContain('I like tea');
    for (const kind of ['summary', 'extraction'] as const)
      for (const call of callsOf(stage, kind)) expect(call.raw).not.toMatch(/canary\d+x/u);
    await stage.stopBot();
    expect(JSON.stringify(await stage.kept())).not.toMatch(chatter);
    const session = `${stage.info.channels['dev'] ?? ''}/${stage.info.people['alice'] ?? ''}`;
    const saying = await stage.pathsWith('canary90');
    const log = `sessions/${session}/messages.jsonl`;
    expect(saying.filter((path) => !/\/(?:messages|outbox)\.jsonl$/u.test(path))).toEqual([]);
    const lines = (await stage.readFile(`data/${log}`))
      .split('\n')
      .filter((line) => line.includes('canary90'));
    expect(lines).toEqual([expect.stringMatching(/"role":"assistant".*"thirdPartyMark":"/u)]);
    await stage.startBot();
  });

  it('tells in a DM of a channel that the asker can read, and the same of others as of none', async () => {
    await stage.sandbox.say({ as: 'bob', in: '#secret', text: telling[1] ?? '' });
    const inDm = (as: string, channel: string) =>
      ask(as, 'dm', `MISSED {"channel":"${channel}","since":"1h"}`);
    expect((await inDm('alice', '#secret')).text).toContain(telling[1]);
    const refused = (await inDm('carol', '#secret')).text;
    expect(refused).toContain('there is no such channel');
    expect((await inDm('carol', '#nowhere')).text).toBe(refused);
    const inPublic = await ask('alice', '#general', 'MISSED {"channel":"#secret","since":"1h"}');
    expect(inPublic.text).toBe(refused);
    await stage.sandbox.setOverwrite({ channel: '#secret', for: 'alice', deny: ['ViewChannel'] });
    await stage.sandbox.setOverwrite({ channel: '#secret', for: 'bob', deny: ['ViewChannel'] });
    await stage.sandbox.delivered();
    expect((await inDm('bob', '#secret')).text).toBe(refused);
    await stage.sandbox.setOverwrite({ channel: '#secret', for: 'bob', allow: ['ViewChannel'] });
    await stage.sandbox.delivered();
    expect((await inDm('bob', '#secret')).text).not.toBe(refused);
  });
});

describe('/catchup [B4]', () => {
  it('tells its asker alone, also of a channel that others in the place cannot read, and stores nothing', async () => {
    await stage.sandbox.setOverwrite({ channel: '#secret', for: 'alice', allow: ['ViewChannel'] });
    await stage.sandbox.delivered();
    const word = 'canary555555x';
    const said = await stage.sandbox.say({ as: 'alice', in: '#secret', text: `We decided on blue ${word}` });
    await stage.sandbox.delivered();
    const given = { in: '#general', name: 'catchup', options: { channel: '#secret', since: '1h' } };
    const { answer } = await stage.sandbox.slash({ as: 'bob', ...given });
    expect(answer).toMatchObject({ text: expect.stringMatching(/^You missed:/u) });
    expect(answer?.text).toContain(`/${said.id}] alice: We decided on blue ${word}`);
    const refused = await stage.sandbox.slash({ as: 'carol', ...given });
    expect(refused.answer?.text).toContain('there is no such channel');
    const written = await stage.ask('bob', '#general', '!catchup #secret 1h');
    expect(written.text).toContain('there is no such channel');
    await stage.stopBot();
    expect(await stage.pathsWith(word)).toEqual([]);
    await stage.startBot();
  });
});
