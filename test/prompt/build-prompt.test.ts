import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { dataLine, sectionNames, type Section, type SectionSlot } from '../../src/core/section.ts';
import { buildPrompt, type PromptInput } from '../../src/prompt/build-prompt.ts';
import { forwardedSection } from '../../src/prompt/quoted.ts';
import { promptRules, promptRulesWithoutTools } from '../../src/prompt/rules.ts';
import {
  blocksOf,
  chatMessage,
  chatMessages,
  countTags,
  idOf,
  nastyText,
  ownMessage,
  promptInput,
  section,
  wholeText,
  windowOf,
} from './samples.ts';
import { runs } from '../support/runs.ts';

const talk = windowOf([chatMessage(1, 'hi'), ownMessage(2, 'Hello Alice')]).entries;
const context = section({
  name: 'channel_context',
  slot: 'channel',
  title: 'About #dev:',
  lines: ['Rust only.'],
});

const full: PromptInput = promptInput({
  sections: [
    section({ name: 'turn_facts', slot: 'last', lines: ['Memory is off.'] }),
    section({ name: 'notebook_index', slot: 'fast', lines: ['- facts/user.md'] }),
    section({ name: 'conversation_summary', slot: 'fast', lines: ['A summary.'] }),
    section({ name: 'matching_items', slot: 'last', lines: ['- Has a cat'] }),
    section({ name: 'recent_elsewhere', slot: 'fast', lines: ['- #general 11:02 …'] }),
    section({ slot: 'items' }),
    section({ name: 'overview', slot: 'fast', lines: ['The parser.'] }),
    section({ name: 'notes', lines: ['Tea.'] }),
    section({ name: 'user_profile', lines: ['Alice, 34'] }),
    section({ name: 'discord_actions', lines: ['You may react.'] }),
    context,
  ],
  history: talk,
});

/** How long each marked block is to be kept. */
function lives(cacheLife: PromptInput['cacheLife']) {
  const { system, messages } = buildPrompt({ ...full, cacheLife });
  const blocks = [...system, ...messages.flatMap(({ content }): readonly object[] => content)];
  return blocks.flatMap((block) => ('cache' in block ? [block.cache] : []));
}

describe('the order of a prompt [P2]', () => {
  it('goes from what changes least to the message, whatever order the layers answered in', () => {
    expect(buildPrompt(full).parts.map(({ name, slot }) => `${slot} ${name}`)).toEqual([
      'system soul',
      'system rules',
      'channel channel_context',
      'slow discord_actions',
      'slow user_profile',
      'slow notes',
      'items durable_items',
      'fast overview',
      'fast conversation_summary',
      'fast notebook_index',
      'fast recent_elsewhere',
      'history history',
      'last matching_items',
      'last turn_facts',
      'last message',
    ]);
  });

  it('has cache marks after the rules, after what changes seldom, after the items and after history', () => {
    const marked = blocksOf(buildPrompt(full)).filter((block) => block.cache);
    expect(marked.map(({ role }) => role)).toEqual(['system', 'user', 'user', 'assistant']);
    expect(marked[0]?.text.endsWith('Rules.')).toBe(true);
    expect(marked[1]?.text.endsWith('</notes>\n')).toBe(true);
    expect(marked[2]?.text.endsWith('</durable_items>\n')).toBe(true);
    expect(marked[3]?.text).toBe('Hello Alice\n');
  });

  it('is kept as long as is asked for, and the rules, which others share, in any case', () => {
    expect(lives('1h')).toEqual(['1h', '1h', '1h', '1h']);
    expect(lives(undefined)).toEqual(['5m']);
  });

  it('spends no character on empty parts', () => {
    const bare = promptInput({ soul: '', sections: [section({ lines: [] })] });
    const prompt = buildPrompt(bare);
    expect(prompt.parts.map((part) => part.name)).toEqual(['rules', 'message']);
    expect(blocksOf(prompt).map((block) => block.text)).toEqual([
      'Rules.',
      '<message from="Alice" where="#dev, public" time="2026-01-15 13:00">\nHello\n</message>',
    ]);
  });
});

describe('history without memory before it', () => {
  const history = windowOf([ownMessage(1, 'Good morning'), chatMessage(2, 'hi')]).entries;

  it('begins with its date, not with an assistant turn, which the Messages API refuses [H3]', () => {
    const blocks = blocksOf(buildPrompt(promptInput({ history })));
    expect(blocks.slice(1, 4)).toEqual([
      { role: 'user', text: '[Thu 2026-01-15 12:00]\n', cache: false },
      { role: 'assistant', text: 'Good morning\n', cache: false },
      { role: 'user', text: 'Alice: hi\n', cache: true },
    ]);
  });
});

const slots = {
  channel: ['channel_context'],
  slow: ['user_profile', 'notes', 'discord_actions'],
  items: ['durable_items'],
  fast: ['recent_elsewhere', 'overview', 'conversation_summary', 'notebook_index'],
  last: ['matching_items', 'turn_facts'],
} as const satisfies Record<SectionSlot, readonly (typeof sectionNames)[number][]>;

function sectionsIn(slot: SectionSlot): fc.Arbitrary<readonly Section[]> {
  return fc
    .tuple(
      ...slots[slot].map((name) =>
        fc.tuple(fc.constant(name), fc.array(nastyText, { maxLength: 4 }), fc.nat(400)),
      ),
    )
    .map((drafts) =>
      drafts.map(([name, texts, budget]) =>
        section({ name, slot, title: 'Title:', budget, lines: texts.map((text) => `- ${dataLine(text)}`) }),
      ),
    );
}

const anyInput: fc.Arbitrary<PromptInput> = fc
  .record({
    sections: fc.tuple(...(['channel', 'slow', 'items', 'fast', 'last'] as const).map(sectionsIn)),
    messages: chatMessages,
    text: nastyText,
    speakerName: nastyText,
    soul: fc.lorem({ maxCount: 30 }),
    promptMaxChars: fc.integer({ min: 300, max: 8000 }),
  })
  .map(({ sections, messages, text, speakerName, soul, promptMaxChars }) =>
    promptInput({
      soul,
      sections: sections.flat(),
      history: windowOf(messages, { budget: 1500 }).entries,
      message: {
        ...promptInput().message,
        speakerName,
        messages: [{ id: '1', text, at: '', attachments: [] }],
      },
      promptMaxChars,
    }),
  );

/** Texts up to a length, of pieces that grow when they are escaped, and of whole scripts. */
const textUpTo = (max: number) =>
  fc
    .tuple(fc.constantFrom('<facts', '</message>', 'x', ' word', '\n', '日本語', '👩‍👩‍👧‍👦'), fc.nat({ max }))
    .map(([piece, length]) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length));
const fileName = textUpTo(300);
/** The largest that intake lets through, and above: 20 messages of 400 characters, each with ten files and a forwarded message. */
const anyTurn = fc.record({
  said: fc.array(fc.record({ text: textUpTo(400), names: fc.array(fileName, { maxLength: 10 }) }), {
    minLength: 1,
    maxLength: 20,
    size: 'max',
  }),
  passedOn: fc.array(textUpTo(4_000), { maxLength: 20, size: 'max' }),
  files: fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('text' as const), name: fileName, text: textUpTo(20_000) }),
      fc.record({ kind: fc.constant('unopened' as const), name: fileName, reason: fc.constant('over 5 MB') }),
    ),
    { maxLength: 200, size: 'max' },
  ),
});

describe('whatever is remembered, said and configured', () => {
  it('a request is 40,000 characters at most, messages, quotes and attached texts included, and has every word of the message [P4][L1]', () => {
    fc.assert(
      fc.property(anyInput, anyTurn, (input, { said, passedOn, files }) => {
        const messages = said.map(({ text, names }, index) => {
          const words = `${text}|end${index}|`;
          return { id: `${index}`, text: words, at: '', attachments: names };
        });
        const quotes = passedOn.map((text) =>
          forwardedSection({ text, at: '2026-01-15T12:00:00.000Z', files: [] }, 'UTC'),
        );
        const prompt = buildPrompt({
          ...input,
          rules: promptRules,
          sections: [...input.sections, ...quotes],
          files,
          message: { ...input.message, messages },
          promptMaxChars: 40_000,
        });
        expect(wholeText(prompt).length).toBeLessThanOrEqual(40_000);
        for (const index of said.keys()) expect(wholeText(prompt)).toContain(`|end${index}|`);
      }),
      { numRuns: runs(60) },
    );
  });

  it('parts add up, budgets hold, tags are its own, and blocks are as the vendor takes them', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const prompt = buildPrompt(input);
        const { parts, messages } = prompt;
        const text = wholeText(prompt);
        const lengthOf = (counted: typeof parts) =>
          counted.reduce((total, { characters }) => total + characters, 0);
        expect(lengthOf(parts)).toBe(text.length);

        // Rules and message stay whole where they alone are longer.
        const needed = lengthOf(parts.filter(({ name }) => name === 'rules' || name === 'message'));
        expect(text.length).toBeLessThanOrEqual(Math.max(input.promptMaxChars, needed));
        const budgets = new Map<string, number>(input.sections.map(({ name, budget }) => [name, budget]));
        for (const { name, characters, budget } of parts) {
          expect(characters).toBeLessThanOrEqual(budget ?? Number.POSITIVE_INFINITY);
          expect(budgets.get(name) ?? budget).toBe(budget);
        }

        const own = parts.filter(({ name }) => sectionNames.some((known) => known === name));
        expect(countTags(text)).toBe(2 * own.length);

        const blocks = blocksOf(prompt);
        expect(blocks.every((block) => block.text.trim() !== '')).toBe(true);
        expect(blocks.filter((block) => block.cache).length).toBeLessThanOrEqual(4);
        expect(messages.map(({ role }) => role)).toEqual(
          messages.map((_, index) => (index % 2 === 0 ? 'user' : 'assistant')),
        );
        expect(messages.at(-1)?.role).toBe('user');
      }),
    );
  });
});

/** What the vendor has cached after a request: everything up to the mark at the end of history. */
function cachedPart(blocks: ReturnType<typeof blocksOf>): readonly string[] {
  const mark = blocks.findLastIndex((block) => block.cache);
  return blocks.slice(0, mark + 1).map(({ role, text }) => `${role}: ${text}`);
}

describe('a conversation', () => {
  it('repeats the cached part of the request before it, block by block, while memory stays and the window does not move', () => {
    const turn = fc.record({
      says: fc.array(fc.lorem({ maxCount: 15 }), { minLength: 1, maxLength: 3 }),
      answer: fc.lorem({ maxCount: 60 }),
    });
    let repeated = 0;
    fc.assert(
      fc.property(fc.array(turn, { minLength: 2, maxLength: 14 }), (turns) => {
        const messages = [];
        let begin: string | undefined;
        let cached: readonly string[] = [];
        for (const { says, answer } of turns) {
          const window = windowOf(messages, { begin, budget: 1000, messageId: idOf(messages.length) });
          const sections = [section(), section({ name: 'overview', slot: 'fast' })];
          const blocks = blocksOf(buildPrompt(promptInput({ sections, history: window.entries })));
          const expected = window.begin === begin ? cached : [];
          expect(cachedPart(blocks).slice(0, expected.length)).toEqual(expected);
          repeated += expected.length > 2 ? 1 : 0;
          begin = window.begin;
          cached = cachedPart(blocks);
          for (const text of says) messages.push(chatMessage(messages.length, text));
          messages.push(ownMessage(messages.length, answer));
        }
      }),
    );
    expect(repeated).toBeGreaterThan(runs(200));
  });
});

describe('a prompt for a model without tools [M9]', () => {
  it('has other rules in place of those, no actions, and names no tool with the files', () => {
    const actions = section({ name: 'discord_actions', title: 'What you may do:', lines: ['- react here'] });
    const index = section({
      name: 'notebook_index',
      slot: 'fast',
      title: 'Files of the notebook; memory_read opens them:',
      lines: ['- topics/tea.md', '… and 2 more: memory_list'],
    });
    const input = promptInput({
      rules: promptRules,
      rulesWithoutTools: promptRulesWithoutTools,
      sections: [actions, section(), index],
    });
    const { system, messages } = buildPrompt(input);
    const texts = [...system, ...messages.flatMap(({ content }): readonly object[] => content)].flatMap(
      (block) =>
        'withoutTools' in block ? String(block.withoutTools) : 'text' in block ? String(block.text) : [],
    );
    const bare = texts.join('');
    expect(bare).toContain('- Likes tea');
    expect(bare).toContain('- topics/tea.md');
    expect(bare).not.toMatch(/recall_memory|_item\b|memory_|react here/u);
  });
});
