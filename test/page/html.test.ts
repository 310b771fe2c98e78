import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { ShownItem } from '../../src/core/commands.ts';
import { saidBox } from '../../src/page/forms.ts';
import { answerText, html, layout } from '../../src/page/html.ts';
import { itemPage } from '../../src/page/item.ts';
import { itemsPage, readFilter } from '../../src/page/items.ts';

const signs = ['<', '>', '"', "'", '&', '`', '=', '/', ';', ' ', '\n', '${', '--', 'a', '\u0000', '\u2028'];
const payload = fc.oneof(
  fc.constantFrom(
    '<script>alert(1)</script>',
    '<svg/onload=alert(1)>',
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='",
    '</textarea><script>alert(1)</script>',
    '</title><style>*{display:none}</style>',
    '&lt;script&gt;',
    'javascript:alert(1)',
    '<!--',
    ']]>',
  ),
  fc.array(fc.constantFrom(...signs), { maxLength: 12 }).map((parts) => parts.join('')),
);

/** Whatever people may have written, wherever a page shows it. */
function pagesWith(said: string): string {
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
  const filter = readFilter(new URLSearchParams({ q: 'a1', kind: said }));
  const buttons = [
    { label: said, line: `memory forget mentions of ${said}x` },
    { label: said, line: `memory edit a1` },
  ];
  return [
    layout(said, html`${saidBox({ id: '1', text: `x${said}`, buttons }, context)}`, said),
    itemsPage({ items: [item], mode: 'auto' }, filter, context).toString(),
    itemPage(item, { text: `x${said}` }, context).toString(),
  ].join('\n');
}

/** The tags and attributes of a page; words of people are in the values of attributes and between tags. */
function skeleton(page: string): string {
  return page.replaceAll(/"[^"]*"/gu, '""').replaceAll(/>[^<]*/gu, '>');
}

const textOf = (answer: string): string => answerText(answer).join('');

describe('what people wrote [Y5]', () => {
  it('is never taken for HTML: the tags and attributes of a page are the same whatever it says', () => {
    fc.assert(
      fc.property(payload, (said) => {
        // Lines of an answer are paragraphs, so the same number of them is compared.
        const lines = `x${said.replaceAll('\n', ' ').replaceAll('`', '')}`;
        expect(skeleton(pagesWith(lines))).toBe(skeleton(pagesWith('plain')));
      }),
    );
  });

  it('becomes no link, and only links to messages on Discord do', () => {
    expect(textOf('<https://discord.com/channels/1/2/3>')).toContain(
      '<a href="https://discord.com/channels/1/2/3"',
    );
    for (const line of [
      '<https://evil.example>',
      '<javascript:alert(1)>',
      '<https://discord.com/channels/../../x>',
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
