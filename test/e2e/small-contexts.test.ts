import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { llamaCpp, ollama, vllm } from '../model/servers/doubles.ts';
import { serverDouble, type ServerDouble } from '../model/servers/server-double.ts';
import { tokensIn } from '../model/servers/tokens.ts';
import type { MessagesBody } from '../support/model-server.ts';
import { runs } from '../support/runs.ts';
import { withWords } from './footers.ts';
import { callsOf, toldIn } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';
import { createMind, longFile, summary, turns } from './talk.ts';

/** As it is started with so many tokens; it refuses nothing else. */
function withContext(server: ServerDouble, contextTokens: number): ServerDouble {
  return { ...server, contextTokens, refusals: {} };
}

const rows = [
  { tokens: 8_192, lacks: 'actions', server: withContext(llamaCpp, 8_192) },
  { tokens: 4_096, lacks: 'tools', server: withContext(vllm, 4_096) },
  { tokens: 2_048, lacks: 'tools', server: withContext(llamaCpp, 2_048) },
].map((row) => ({ ...row, name: row.server.name }));

async function openSmall(
  { model }: ServerDouble,
  script: ReturnType<typeof serverDouble>,
  environment: Readonly<Record<string, string>> = {},
): Promise<Stage> {
  const names = { DISCOCLAW_MODEL: model, DISCOCLAW_FAST_MODEL: model };
  return openStage({ environment: { ...names, ...environment }, model: script });
}

describe.each(rows)('a context of $tokens tokens at $name [M13]', ({ tokens, lacks, server }) => {
  it('has answers, what is remembered and a summary where they fit, and is named with what it leaves out', async () => {
    await using stage = await openSmall(server, serverDouble(server, createMind()));
    const remembered = 'Alice likes oolong';
    await stage.ask('alice', 'dm', `!memory remember ${remembered}`);
    const talk = turns.filter(({ calls, file = longFile }) => calls === undefined && file === longFile);
    for (const { says: text, file, answer, from } of talk) {
      const attachments = file === undefined ? [] : [file];
      const said = await stage.sandbox.say({ as: 'alice', in: 'dm', text, attachments });
      const needsItem = tokens >= 4_096 && from !== undefined && remembered.includes(from);
      await withWords(stage, await stage.answerTo(said), answer, ...(needsItem ? [] : ['I do not know.']));
      const call = callsOf(stage, 'chat').findLast((each) => toldIn(each).includes('<message from="alice"'));
      expect(call?.raw.includes(remembered) || !needsItem).toBe(true);
    }
    await expect
      .poll(async () => (await stage.ask('alice', 'dm', '!memory show')).text)
      .toContain(`Rolling summary:\n${summary}`);
    const { text: status } = await stage.ask(stage.info.owner.name, 'dm', '!status');
    expect(status).toMatch(new RegExp(`\\bcontext\\b[^\\n]* ${tokens} tokens[^\\n]* ${lacks}\\b`, 'u'));
  });
});

it('a context that is set by hand is kept to, where the server would cut in silence [M13]', async () => {
  const server = withContext(ollama, 4_096);
  await using stage = await openSmall(server, serverDouble(server, createMind()), {
    DISCOCLAW_CONTEXT_TOKENS: String(server.contextTokens),
  });
  await stage.ask('alice', 'dm', '!memory remember Alice likes oolong');
  const file = { as: 'alice', in: 'dm', text: 'Here is a long file.', attachments: [longFile] };
  await stage.answerTo(await stage.sandbox.say(file));
  await stage.ask('alice', 'dm', 'Never mind.');
  expect((await stage.ask('alice', 'dm', 'What do I drink?')).text).toBe('You like oolong.');
  expect(Math.max(...stage.model.requests.map(({ body }) => tokensIn(body)))).toBeLessThanOrEqual(
    server.contextTokens,
  );
});

const words = {
  English: 'the harbour bridge in Porto is open at noon, and nobody knows why the keeper went home early',
  Russian: 'мост через гавань открыт в полдень, и никто не знает, почему сторож рано ушёл домой',
  Japanese: '港の橋は 正午に 開いて、 番人が なぜ 早く 家に 帰ったのか 誰も 知らない',
  code: '{"id": "9f3a-77c1", "at": 1732874400, "ok": true} 0x1F4A9B; for (i=0;i<n;++i) x[i]+=y[i]*z[j]; /usr/lib/x86_64/libm.so.6:',
} as const;

/** At most so many bytes in one of the languages. */
function talkOf(mostBytes: number): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...Object.values(words)), fc.integer({ min: 1, max: mostBytes }), fc.nat(100))
    .map(([language, bytes, start]) => {
      const all = language.split(' ');
      let text = '';
      for (let at = start; Buffer.byteLength(text) < bytes - 20; at += 1)
        text += `${all[at % all.length] ?? ''} `;
      return `${text}.`;
    });
}

/** The number with which a message begins. */
function numberIn({ messages = [] }: MessagesBody): string {
  const all = messages.flatMap(({ content }) => content.map(({ text = '' }) => text)).join('');
  return /\n#(?<number>[\d.]+) /u.exec(all.slice(all.lastIndexOf('<message ')))?.groups?.['number'] ?? '';
}

it.each(rows)(
  'after the first refusal for $tokens tokens at $name, a turn is refused at most once more, in any language [M13]',
  async ({ tokens, server }) => {
    const refused: string[] = [];
    const script = serverDouble(server, () => ({ text: 'I see.' }));
    await using stage = await openSmall(server, (body, index) => {
      const answer = script(body, index);
      if (typeof answer === 'object' && 'status' in answer) refused.push(numberIn(body));
      return answer;
    });
    const first = { as: 'alice', in: 'dm', text: '#0 Hello', attachments: [longFile] };
    await stage.answerTo(await stage.sandbox.say(first));
    expect(refused).toContain('0');

    const talk = talkOf(Math.min(tokens / 2, 3_800));
    const conversation = fc.record({
      items: fc.array(talkOf(400), { maxLength: 5 }),
      messages: fc.array(talk, { minLength: 1, maxLength: 4 }),
    });
    const talks = fc.sample(conversation, Math.ceil(runs(500, 12) / rows.length));
    await Promise.all(
      [0, 1, 2, 3].map(async (lane) => {
        for (const [index, { items, messages }] of talks.entries()) {
          if (index % 4 !== lane) continue;
          const { name } = await stage.sandbox.addPerson({ name: `person${index}` });
          for (const item of items) await stage.ask(name, 'dm', `!memory remember ${item}`);
          for (const [at, text] of messages.entries()) {
            const number = `${index + 1}.${at}`;
            await withWords(stage, await stage.ask(name, 'dm', `#${number} ${text}`), 'I see.');
          }
        }
      }),
    );
    const [, ...later] = refused;
    expect(later.toSorted()).toEqual([...new Set(later)].toSorted());
  },
);
