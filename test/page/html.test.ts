import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { CommandData, ShownItem } from '../../src/core/commands.ts';
import { answerPage, answersPage } from '../../src/page/answers.ts';
import {
  dataPage,
  conversationPage,
  conversationsPage,
  notebookPage,
  searchPage,
} from '../../src/page/notes.ts';
import { answerBox, type OwnPage, answerText, html, layout } from '../../src/page/html.ts';
import { itemsPage, itemPage, reviewPage } from '../../src/page/items.ts';
import { statusPage } from '../../src/page/status.ts';
import { ofTurns, usage } from '../support/status-facts.ts';

const signs = ['<', '>', '"', "'", '&', '`', '=', '/', ';', ' ', '\n', '${', '--', 'a', '\u0000', '\u2028'];
const payload = fc.oneof(
  fc.constantFrom(
    '<script>alert(1)</script>',
    '<svg/onload=alert(1)>',
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='",
    '</textarea><script>alert(1)</script>',
  ),
  fc.array(fc.constantFrom(...signs), { maxLength: 12 }).map((parts) => parts.join('')),
);

/** Whatever people may have written, wherever a page shows it. */
async function pagesWith(said: string): Promise<string> {
  const item: ShownItem = {
    id: 'a1',
    kind: said,
    text: said,
    question: said,
    visibility: 'server',
    source: 'discord',
    channelName: said,
    updatedAt: '2026-01-15T10:00:00Z',
    when: said,
    isOver: true,
    isPinned: true,
  };
  const context = { csrf: 'token', back: said };
  const buttons = [{ label: said, line: `memory forget mentions of ${said}x` }];
  const form = { title: said, label: said, value: said, maxChars: 100, line: said };
  const cards: CommandData = { kind: 'review', cards: [{ question: said, items: [item], buttons }] };
  const conversations: CommandData = {
    kind: 'conversations',
    conversations: [
      {
        channelId: '1',
        title: said,
        link: 'https://discord.com/channels/1/2',
        summary: said,
        files: [{ path: said, text: said }],
      },
    ],
  };
  const notebook: CommandData = { kind: 'notebook', files: [{ path: said, bytes: 1, summary: said }] };
  const ofConversations = { give: () => Promise.resolve({ text: said, data: conversations }) };
  const asked: OwnPage = {
    id: 'a1',
    query: new URLSearchParams({ q: 'a1', kind: said }),
    context,
    isAlone: true,
    userId: '1',
    give: () =>
      Promise.resolve({ text: `x${said}`, form, data: { kind: 'memory', items: [item], mode: 'auto' } }),
  };
  const part = { name: 'history', title: said, characters: 10, budget: 20 } as const;
  const answer = { id: said, title: said, took: said, parts: [part], own: [{ title: said, texts: [said] }] };
  const answered: OwnPage = {
    ...asked,
    give: () => Promise.resolve({ text: said, data: { kind: 'answers', answers: [answer] } }),
  };
  const parts = [
    await answersPage(answered),
    await answerPage(answered),
    answerBox({ id: '1', text: `x${said}`, buttons }, context),
    answerBox({ id: '1', text: `x${said}`, form }, context),
    await itemsPage(asked),
    await itemPage(asked),
    await reviewPage({ ...asked, give: () => Promise.resolve({ text: said, data: cards }) }),
    await conversationsPage({ ...asked, ...ofConversations }),
    await conversationPage({ ...asked, ...ofConversations }),
    await notebookPage({
      ...asked,
      query: new URLSearchParams(),
      give: () => Promise.resolve({ text: said, data: notebook }),
    }),
    await notebookPage({
      ...asked,
      query: new URLSearchParams({ file: said }),
      give: () => Promise.resolve({ text: said, form: { ...form, reason: said } }),
    }),
    await searchPage({ ...asked, give: () => Promise.resolve({ text: said, data: foundWith(said) }) }),
    answerBox({ id: '1', text: said, files: [{ name: said, bytes: 1, address: said }] }, context),
    await dataPage(asked),
    await statusPage({ ...asked, give: () => Promise.resolve({ text: said, data: statusWith(said) }) }),
  ];
  return layout(said, html`${parts}`, {
    name: said,
    path: said,
    pages: { [said]: said },
    session: { expiresAt: 0, endsAt: 1 },
  });
}

function foundWith(said: string): CommandData {
  const origins = [{ itemId: said }, { link: 'https://discord.com/channels/1/2/3' }, { file: said }];
  const results = origins.map((origin) => ({ text: said, date: said, visibility: 'dm' as const, origin }));
  return { kind: 'found', results };
}

/** Models have the names that a server gives them. */
function statusWith(said: string): CommandData {
  const sums = { [said]: ofTurns };
  const period = { ...usage.today, period: said, byModel: sums, byPurpose: sums, turns: { [said]: 1 } };
  return {
    kind: 'status',
    facts: [{ title: said, text: said, isBad: true }],
    usage: { ...usage, days: [period] },
  };
}

/** The tags and attributes of a page; words of people are in the values of attributes and between tags. */
function skeleton(page: string): string {
  return page.replaceAll(/"[^"]*"/gu, '""').replaceAll(/>[^<]*/gu, '>');
}

const textOf = (answer: string): string => answerText(answer).join('');

describe('what people wrote [Y5]', () => {
  it('is never taken for HTML: the tags and attributes of a page are the same whatever it says', async () => {
    await fc.assert(
      fc.asyncProperty(payload, async (said) => {
        // Lines of an answer are paragraphs, so the same number of them is compared.
        const lines = `x${said.replaceAll('\n', ' ').replaceAll('`', '')}`;
        expect(skeleton(await pagesWith(lines))).toBe(skeleton(await pagesWith('plain')));
      }),
    );
  });

  it('becomes no link, and only links to messages on Discord do', () => {
    expect(textOf('<https://discord.com/channels/1/2/3>')).toContain(
      '<a href="https://discord.com/channels/1/2/3"',
    );
    for (const line of [
      '<https://evil.example>',
      '<https://discord.com.evil.example/channels/1/2/3>',
      '[a](javascript:alert(1))',
    ])
      expect(textOf(line)).not.toContain('<a');
  });
});

it('answers are shown with their moments, code, bold and small lines', () => {
  expect(textOf('**Now** `!memory`\n\n-# since <t:1768471200:f>')).toBe(
    '<p><strong>Now</strong> <code>!memory</code></p><p><small>since <time datetime="2026-01-15T10:00:00.000Z">2026-01-15 10:00 UTC</time></small></p>',
  );
  expect(textOf('<t:999999999999:f>')).not.toContain('Invalid');
});
