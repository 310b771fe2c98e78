import { afterAll, beforeAll, describe, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import type { MessagesBody } from '../support/model-server.ts';
import type { ModelAnswer } from '../support/model-answer.ts';
import { read } from '../discord/support/markdown.ts';
import { eventually } from '../support/eventually.ts';
import { openStage, type Stage } from './stage.ts';
import { withFooter } from './footers.ts';

const prose = (title: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `${title} ${index} is a sentence of the answer.`).join(' ');
const code = (word: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `const ${word}${index} = compute(${index});`).join('\n');

const longAnswer = [
  prose('Beginning', 35),
  `\`\`\`typescript\n${code('first', 30)}\n\`\`\``,
  prose('Middle', 30),
  `~~~python\n${code('second', 40)}\n~~~`,
  prose('Later', 20),
  `\`\`\`\n${code('third', 20)}\n\`\`\`\n${prose('End', 5)}`,
].join('\n\n');
const words = Array.from({ length: 200 }, (_, index) => `word${index} `);

/** In pieces, so that all of it takes so many milliseconds. */
function slowly(pieces: readonly string[], milliseconds: number): ModelAnswer {
  return { text: pieces, pauseMs: Math.floor(milliseconds / pieces.length) };
}

/** Whether the bot was killed and started again. */
let hasRestarted = false;

function answer(body: MessagesBody): ModelAnswer {
  const asked = body.messages?.at(-1)?.content.at(-1)?.text ?? '';
  if (asked.includes('at once')) return { text: longAnswer };
  if (asked.includes('at length')) return slowly(longAnswer.match(/[^]{1,60}/gu) ?? [], 9000);
  // All that is stopped is stopped long before its end, also where the machine is busy.
  if (asked.includes('slowly')) return slowly(words, hasRestarted ? 1500 : 60_000);
  return { text: 'Understood.' };
}

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({
    model: answer,
    environment: { DISCOCLAW_SUMMARY_ENABLED: 'false', DISCOCLAW_MODEL_CONCURRENCY: '20' },
  });
  await stage.sandbox.setRateLimits({ on: true });
});
afterAll(() => stage[Symbol.asyncDispose]());

async function repliesTo({ channelId, id }: MessageView): Promise<readonly MessageView[]> {
  return stage.sandbox.messages({ in: channelId, after: id, from: 'bot' });
}

/** Asks for words, and resolves when the first of them can be read. */
async function askSlowly(as: string, place: string) {
  const said = await stage.sandbox.say({
    as,
    in: place,
    text: `Tell ${as} slowly in ${place.replace('#', '')}`,
  });
  const reply = await stage.sandbox.waitForReply({ in: said.channelId, after: said.id, containing: 'word' });
  return { said, reply };
}

/** The newest call to answer a message with this text. */
function callFor(text: string) {
  return stage.model.requests.findLast(({ body }) =>
    (body.messages?.at(-1)?.content.at(-1)?.text ?? '').includes(text),
  );
}

describe.concurrent('an answer that grows', () => {
  it('of 6,000 characters with three code fences is never too long, unbalanced or too fast, and ends in the exact text [U1]', async ({
    expect,
  }) => {
    expect(longAnswer.length).toBeGreaterThan(6000);
    const said = await stage.sandbox.say({ as: 'carol', in: 'dm', text: 'Tell me at length' });
    await eventually(async () => expect((await stage.logOf(said)).includes('"assistant"')).toBe(true));

    const parts = await repliesTo(said);
    const versions = await Promise.all(
      parts.map(async ({ id }) => ({ id, all: await stage.sandbox.versions({ message: id }) })),
    );
    const first = versions[0]?.all[0];
    // Whatever the machine does meanwhile, long before its end.
    expect(first?.text.length).toBeLessThan(longAnswer.length / 2);
    expect(versions.flatMap(({ all }) => all).length).toBeGreaterThan(parts.length);
    for (const { all } of versions) {
      for (const [index, { at, text }] of all.entries()) {
        expect(text.length).toBeLessThanOrEqual(2000);
        expect(read(text).isBalanced).toBe(true);
        const before = all[index - 1];
        if (before === undefined) continue;
        expect(text).not.toBe(before.text);
        expect(Date.parse(at) - Date.parse(before.at)).toBeGreaterThanOrEqual(1200);
      }
    }
    expect(parts.map(({ replyTo }) => replyTo)).toEqual([said.id, ...parts.slice(1).map(() => undefined)]);
    expect(read(parts.map(({ text }) => text).join('\n')).content).toBe(read(longAnswer).content);
    const asked = await stage.sandbox.requests();
    const own = asked.filter(({ path }) => path.startsWith(`/channels/${said.channelId}/`));
    expect(own.filter(({ status }) => status !== 200 && status !== 204)).toEqual([]);
    expect(await stage.sandbox.invalidRequests()).toMatchObject({ count: 0 });
    const shown = own.filter(({ method }) => method === 'PATCH' || method === 'POST');
    for (const { body, path } of shown) {
      if (!path.endsWith('/typing')) expect(body).toMatchObject({ allowed_mentions: { parse: [] } });
    }
    const typed = await stage.sandbox.typingEvents();
    expect(typed.map(({ channelId }) => channelId)).toContain(said.channelId);
  });

  it('ends when its author puts 🛑 on it, and only then; what came stays [U3]', async ({ expect }) => {
    const { said, reply } = await askSlowly('bob', '#dev');
    await stage.sandbox.react({ as: 'carol', message: reply.id, emoji: '🛑' });
    await stage.sandbox.react({ as: 'bob', message: reply.id, emoji: '👍' });
    await eventually(async () => expect((await repliesTo(said))[0]?.text).toContain('word5'));
    await stage.sandbox.react({ as: 'bob', message: reply.id, emoji: '🛑' });
    await withFooter(stage, reply, 'Stopped');
    await eventually(() => expect(callFor('bob slowly in dev')?.wasGivenUp).toBe(true));
    const [part] = await repliesTo(said);
    expect(part?.text).toContain('word5');
    expect(part?.text).not.toContain('word199');
    const came = part?.text.split('\n-# ')[0];
    await eventually(async () => expect(await stage.logOf(said)).toContain(`"text":"${came}"`));

    await stage.sandbox.react({ as: 'bob', message: said.id, emoji: '🛑' });
    const next = await stage.ask('bob', '#dev', 'Bob is back');
    expect(next.text).toBe('Understood.');
    const prompt = JSON.stringify(callFor('Bob is back')?.body.messages);
    expect(prompt).toContain('word5');
    expect(prompt).not.toContain('Stopped');
  });

  it('vanishes with the message that it answers [U4]', async ({ expect }) => {
    const { said, reply } = await askSlowly('alice', 'dm');
    const other = await stage.sandbox.say({ as: 'alice', in: 'dm', text: '!memory show' });
    await stage.sandbox.bulkDelete({ messages: [said.id, other.id] });
    await eventually(async () => expect((await repliesTo(said)).map(({ id }) => id)).not.toContain(reply.id));
    await eventually(() => expect(callFor('alice slowly in dm')?.wasGivenUp).toBe(true));
    const next = await stage.sandbox.say({ as: 'alice', in: 'dm', text: 'What did I say?' });
    // The command's answer may come after its deletion.
    await stage.sandbox.waitForReply({ in: next.channelId, after: next.id, containing: 'Understood.' });
    expect(await stage.logOf(said)).not.toContain('word');
    expect(JSON.stringify(callFor('What did I say?')?.body.messages)).not.toContain('word0');
  });

  it('is taken away when a role is let in while it grows [V2a]', async ({ expect }) => {
    const { sandbox } = stage;
    const { id: den } = await sandbox.addChannel({ name: 'den', private: true, members: ['bob'] });
    await sandbox.setRole({ name: 'guests', permissions: [] });
    await sandbox.delivered();
    const said = await sandbox.say({ as: 'bob', in: den, text: 'Tell bob slowly in den', mentionBot: true });
    const reply = await sandbox.waitForReply({ in: den, after: said.id, containing: 'word' });
    await sandbox.setOverwrite({ channel: den, for: 'guests', allow: ['ViewChannel'] });
    await eventually(async () =>
      expect((await repliesTo(said)).at(-1)?.text).toContain('visible to more people'),
    );
    expect((await repliesTo(said)).map(({ id }) => id)).not.toContain(reply.id);
    expect(await stage.logOf(said)).not.toContain('word0');
  });
});

describe('an answer that grew when the bot was killed', () => {
  it('is made again and put into the message that stands there, and vanishes with a message that was deleted', async ({
    expect,
  }) => {
    await stage.startBuilt();
    const [{ said, reply }, deleted] = await Promise.all([askSlowly('bob', 'dm'), askSlowly('carol', 'dm')]);
    await eventually(async () => expect((await repliesTo(said))[0]?.text).toContain('word5'));
    await stage.killBot();
    hasRestarted = true;
    await stage.sandbox.delete({ message: deleted.said.id });
    await stage.startBot();
    await eventually(async () => expect((await repliesTo(said))[0]?.text).toBe(words.join('').trim()));
    expect((await repliesTo(said)).map(({ id }) => id)).toEqual([reply.id]);
    expect(JSON.stringify(callFor('bob slowly in dm')?.body.messages)).not.toContain('word0');
    await eventually(async () => expect(await stage.logOf(said)).toContain('word199'));
    expect((await stage.logOf(said)).match(/word0/gu)).toHaveLength(1);
    expect(await repliesTo(deleted.said)).toEqual([]);
    expect(await stage.sandbox.invalidRequests()).toMatchObject({ count: 0 });
  });

  it('comes whole and once where the connection broke between its parts, too', async ({ expect }) => {
    await stage.startBuilt();
    const route = 'POST /channels/*/messages';
    await stage.sandbox.setFault({ kind: 'lost', route, after: 1 });
    await stage.sandbox.setFault({ kind: 'latency', milliseconds: 2000, route, after: 2 });
    const said = await stage.sandbox.say({ as: 'bob', in: '#dev', text: 'All of it at once' });
    await eventually(async () => expect(await repliesTo(said)).toHaveLength(2));
    await stage.killBot();
    await stage.sandbox.clearFaults();
    await stage.startBot();
    const asked = stage.model.requests.length;
    const whole = read(longAnswer).content;
    await eventually(async () =>
      expect(read((await repliesTo(said)).map(({ text }) => text).join('\n')).content).toBe(whole),
    );
    const parts = await repliesTo(said);
    expect(parts.map(({ replyTo }) => replyTo)).toEqual([said.id, ...parts.slice(1).map(() => undefined)]);
    for (const { text } of parts) expect(read(text).isBalanced).toBe(true);
    expect(stage.model.requests).toHaveLength(asked);
  });
});
