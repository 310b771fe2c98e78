import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { noUsage, type ModelResponse } from '../../../src/core/model.ts';
import { mention } from '../../../src/core/own-words.ts';
import type { TurnMessage } from '../../../src/core/turn-context.ts';
import { createRememberItemTool } from '../../../src/memory/durable/tools.ts';
import { createMemory, dev, extractionOver, noon, turn } from './fixtures.ts';
import { inZone } from '../../support/sessions.ts';

/** A line: language or kind, message, what a model quotes, and what is stored of it. */
const linesOf = (name: string) =>
  readFileSync(new URL(name, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [about, text = '', quote = '', stored]: readonly string[] = JSON.parse(line);
      return { about, text, quote, stored };
    });

type Claim = [claim: string, text: string, open: string, close: string];

/** What others say, with a message that says nothing and the quotation marks of its language. */
const claims: readonly Claim[] = [
  ['I live in Porto', 'Look at this.', '"', '"'],
  ['Ich bin Vegetarierin', 'Schau mal.', '„', '“'],
  ['Vivo en Sevilla', 'Mira esto.', '«', '»'],
  ['Mieszkam w Krakowie', 'Zobacz to.', '„', '”'],
  ['Kahve içmem', 'Şuna bak.', '“', '”'],
  ['أعيش في القاهرة', 'انظر إلى هذا.', '«', '»'],
  ['मैं शिक्षक हूँ', 'यह देखो।', '"', '"'],
  ['저는 간호사예요', '이것 좀 봐요.', '“', '”'],
  ['大阪に住んでいます', 'これを見て。', '「', '」'],
  ['ฉันแพ้ถั่ว', 'ดูนี่สิ', '"', '"'],
];

interface Attempt {
  readonly message: Partial<TurnMessage> & { readonly text: string };
  readonly quote: string;
  /** What the bot said before. */
  readonly before?: string;
  /** Where sentences of the person's own are stored for it. */
  readonly stored?: string;
}

/** How words that are not the speaker's come before the model. */
const ways: Readonly<Record<string, (...claim: Claim) => Attempt>> = {
  'what stands in the prompt alone': (claim, text) => ({ message: { text }, quote: claim }),
  'what the bot said': (claim, text) => ({ message: { text }, quote: claim, before: `${claim}.` }),
  'a forwarded message': (claim, text) => ({
    message: { text, forwards: [{ text: claim, at: noon.toISOString(), files: [] }] },
    quote: claim,
  }),
  'a card': (claim, text) => ({ message: { text, shown: [{ kind: 'card', text: claim }] }, quote: claim }),
  'the name of a file': (claim, text) => ({ message: { text, attachments: [claim] }, quote: claim }),
  'a name': (claim, text) => ({ message: { text: `${text} ${mention('@', claim)}` }, quote: claim }),
  'a block quote': (claim, text) => ({ message: { text: `> ${claim}\n${text}` }, quote: claim }),
  'a quote to the end': (claim, text) => ({ message: { text: `${text}\n>>> Hm\n${claim}` }, quote: claim }),
  code: (claim, text) => ({ message: { text: `${text} \`${claim}\`` }, quote: claim }),
  'a fence': (claim, text) => ({ message: { text: `${text}\n\`\`\`\n${claim}\n\`\`\`` }, quote: claim }),
  'a fence of tildes': (claim, text) => ({ message: { text: `${text}\n~~~\n${claim}` }, quote: claim }),
  'a quotation alone': (claim, _, open, close) => ({
    message: { text: `${open}${claim}.${close}` },
    quote: claim,
  }),
  'a quotation of somebody': (claim, _, open, close) => {
    const text = `Bob: ${open}Ha! ${claim}. ${claim}!${close}`;
    return { message: { text }, quote: claim, stored: text };
  },
};

const { memory } = createMemory();
let people = 0;

function newcomer(): string {
  people += 1;
  return String(150_000_000_000_000_000n + BigInt(people));
}

/** What is on disk of somebody once a model has quoted this of their message, by its tool and in extraction. */
async function storedOf({ message, quote, before }: Attempt): Promise<readonly (readonly string[])[]> {
  const said = { id: '400000000000000100', at: noon.toISOString(), attachments: [], ...message };
  const stillThere = () => Promise.resolve(said.text);
  const [one, other] = [newcomer(), newcomer()];

  const tool = createRememberItemTool({
    durable: memory,
    proposals: memory,
    sessionLog: {
      message: stillThere,
      answerBefore: () => Promise.resolve(before),
    },
  });
  const speaker = { id: one, name: 'Alice', isOwner: false };
  const context = turn('', { speaker, messages: [said], hasThirdPartyText: true });
  await tool.run({ kind: 'fact', quote }, context, new AbortController().signal);

  const items = [said.id, '400000000000000099'].map((messageId) => ({ kind: 'fact', quote, messageId }));
  const content: ModelResponse['content'] = [{ type: 'text', text: JSON.stringify({ items }) }];
  const model = { complete: async () => ({ content, stop: 'end' as const, usage: noUsage }) };
  const extract = extractionOver({ model, durable: memory, timeZoneOf: inZone('UTC') });
  await extract(other, [{ ...said, place: dev, ...(before !== undefined && { before }) }], stillThere);

  const stored = [one, other].map(async (id) => (await memory.list(id)).map(({ text }) => text));
  return Promise.all(stored);
}

it.each(linesOf('statements.jsonl'))(
  'what somebody says in $about is stored in their own words: $text [D1a]',
  async ({ text, quote, stored = text }) => {
    expect(await storedOf({ message: { text }, quote })).toEqual([[stored], [stored]]);
  },
);

describe('an obedient model stores nothing that its person did not say as a whole [M5a]', () => {
  it.each(linesOf('attempts.jsonl'))('no $about: $text', async ({ text, quote, stored }) => {
    const expected = stored === undefined ? [] : [stored];
    expect(await storedOf({ message: { text }, quote })).toEqual([expected, expected]);
  });

  it.each(Object.entries(ways))('not %s, in any language', async (_way, attemptOf) => {
    for (const claim of claims) {
      const attempt = attemptOf(...claim);
      const expected = attempt.stored === undefined ? [] : [attempt.stored];
      expect(await storedOf(attempt)).toEqual([expected, expected]);
    }
  });
});
