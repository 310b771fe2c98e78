import { afterAll, expect, it } from 'vitest';

import { secretMark } from '../../src/core/secrets.ts';
import { answeringBy, chatCall, toldIn } from './model-calls.ts';
import { obedientModel } from './obedient-model.ts';
import { openStage } from './stage.ts';

const stage = await openStage({
  environment: {
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
    DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
    DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
  },
  model: answeringBy({
    // Repeats what was said, or calls a tool as it is told to.
    chat(body, index) {
      const text = (body.messages?.at(-1)?.content ?? []).map((block) => block.text ?? '').join('');
      const said = />\n(?<words>[\s\S]*?)\n?<\/message>/u.exec(text.slice(text.lastIndexOf('<message ')));
      if (text === '' || text.includes('CALL ')) return obedientModel(body, index);
      return { text: `You said: ${said?.groups?.['words'] ?? ''}` };
    },
    summary: (body) => ({ text: `They said: ${textsOf(body.messages).slice(-600)}. Their PIN is 7319.` }),
    extraction: (body) => {
      const line = textsOf(body.messages)
        .split('\n')
        .find((each) => each.startsWith('- '));
      const [, messageId = '', text = ''] = /\[(\d+)\] [^:]*: (.*)$/u.exec(line ?? '') ?? [];
      return { json: { items: [{ kind: 'fact', quote: text, messageId }] } };
    },
  }),
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

function textsOf(
  messages: readonly { readonly content: readonly { readonly text?: string }[] }[] = [],
): string {
  return messages.flatMap(({ content }) => content.map(({ text = '' }) => text)).join('\n');
}

/** Resolves when the person can read it there. */
async function read(name: string, place: string, text: string): Promise<void> {
  const shown = async () => (await stage.sandbox.messages({ in: place, as: name })).map((each) => each.text);
  await expect.poll(async () => (await shown()).join('\n')).toContain(text);
}

/** All that the bot keeps. */
async function onDisk(): Promise<string> {
  return (await stage.kept()).map(({ text }) => text).join('\n');
}

/** Resolves when none of the secrets is on disk, and what stood around them is. */
async function kept(around: string, ...secrets: readonly string[]): Promise<void> {
  await expect.poll(onDisk).toContain(around);
  await expect
    .poll(async () => {
      const text = await onDisk();
      // Digits of a secret may stand in a longer number, such as an id, by chance.
      return secrets.filter((secret) => new RegExp(String.raw`(?<!\d)${secret}(?!\d)`, 'u').test(text));
    })
    .toEqual([]);
}

it('a secret reaches the answer, and neither disk nor later prompts, also where an edit brings it [K14]', async () => {
  const { name } = await stage.newcomer();
  const said = await stage.sandbox.say({
    as: name,
    in: 'dm',
    text: 'My password is Quokka77 and my card is 4111 1111 1111 1111, I live in Porto',
  });
  expect((await stage.answerTo(said)).text).toContain('Quokka77');
  await read(name, 'dm', 'looks like a secret');
  await kept('I live in Porto', 'Quokka77', '4111 1111 1111 1111', '7319');
  const later = await chatCall(stage, name, 'dm', 'What do you know?');
  expect(toldIn(later)).toContain(`My password is ${secretMark}`);
  expect(toldIn(later)).not.toMatch(/Quokka77|4111 1111|7319/u);

  await stage.sandbox.edit({ message: said.id, text: 'I live in Leiria, my PIN is 8264' });
  await expect.poll(onDisk).toContain(`I live in Leiria, my PIN is ${secretMark}`);
  await kept('I live in Leiria', '8264');
  expect(toldIn(await chatCall(stage, name, 'dm', 'and now?'))).not.toContain('8264');
});

it('no secret becomes an item or a note, by whatever way, and people are told [K14]', async () => {
  const { name } = await stage.newcomer();
  const refused = (await stage.ask(name, 'dm', '!memory remember my password is Wombat42')).text;
  expect(refused).toContain('looks like a secret');
  expect(refused).not.toContain('Wombat42');
  const item = { kind: 'fact', quote: 'my password is Wombat42' };
  await stage.ask(name, 'dm', `please CALL remember_item ${JSON.stringify(item)}`);
  await read(name, 'dm', 'Not stored: it looks like');
  const note = { path: 'MEMORY.md', entry: 'Keeps bees. The wifi password is Wombat42' };
  await stage.ask(name, 'dm', `please CALL memory_append ${JSON.stringify(note)}`);
  await read(name, 'dm', 'What looks like a secret was not written');
  await kept('Keeps bees', 'Wombat42');
  expect((await stage.ask(name, 'dm', '!memory show')).text).not.toContain('Wombat42');
});
