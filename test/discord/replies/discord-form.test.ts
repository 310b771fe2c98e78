import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { splitReply, visiblePart } from '../../../src/discord/replies/split-reply.ts';

const rows = [
  '| Name | Age |',
  '|:---|---:|',
  '| Ada | 36 |',
  '| 李小龍 | 7 |',
  String.raw`| a\|b | **8** |`,
];

describe('what Discord cannot show [G9]', () => {
  it('is a table, which becomes an aligned code block, wide characters counted twice', () => {
    expect(splitReply(['Look:', ...rows, 'Done.'].join('\n'))).toEqual([
      [
        'Look:',
        '```',
        'Name    Age',
        '──────  ───',
        'Ada     36',
        '李小龍  7',
        'a|b     8',
        '```',
        'Done.',
      ].join('\n'),
    ]);
  });

  it('is a table without pipes around it, too, but nothing in code or without a line of dashes', () => {
    expect(splitReply('a | b\n--- | ---\n1 | 2')).toEqual(['```\na  b\n─  ─\n1  2\n```']);
    for (const text of [
      '```\n| a | b |\n|---|---|\n```',
      'ls | wc\ncat a | sort',
      '> | a | b |\n> |---|---|',
    ])
      expect(splitReply(text)).toEqual([text]);
  });

  it('is a table that is too wide for a code block, which becomes a list', () => {
    const long = 'word '.repeat(30).trim();
    expect(splitReply(`| Who | What |\n|---|---|\n| Ada | ${long} |\n| Bob | |`)).toEqual([
      `- **Who:** Ada · **What:** ${long}\n- **Who:** Bob`,
    ]);
  });

  it('has its head in each message that it is split into', () => {
    const long = Array.from({ length: 200 }, (_, index) => `| person ${index} | ${index} |`);
    const chunks = splitReply(['| Name | Age |', '|---|---|', ...long].join('\n'));
    expect(chunks.length).toBeGreaterThan(1);
    for (const chunk of chunks) {
      expect(chunk).toMatch(/^```\nName +Age\n─+ {2}─+\nperson /u);
      expect(chunk).toMatch(/\n```$/u);
      expect(chunk.length).toBeLessThanOrEqual(2000);
    }
    for (let index = 0; index < 200; index += 1)
      expect(chunks.join('\n')).toMatch(new RegExp(`person ${index} `, 'u'));
  });

  it('are headings below the third level, and pictures', () => {
    expect(splitReply('#### Small\ntext ![a cat](https://example.com/a.png)\n### Third')).toEqual([
      '**Small**\ntext [a cat](https://example.com/a.png)\n### Third',
    ]);
  });
});

describe('a spoiler that is split [G9]', () => {
  it('is closed, and opened again in the next message', () => {
    const [first = '', second = ''] = splitReply(`The end: ||${'he dies. '.repeat(300)}|| Sorry.`);
    expect(first).toMatch(/^The end: \|\|[\s\S]*\|\|$/u);
    expect(second).toMatch(/^\|\|he dies[\s\S]*\|\| Sorry\.$/u);
  });

  it('never stands open in a message, and none is longer than it may be', () => {
    const part = fc.constantFrom(
      '||',
      'word ',
      'a sentence. ',
      '\n',
      '\n\n',
      '`a || b`',
      '`',
      'x'.repeat(50),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 300 }), (parts) => {
        const chunks = splitReply(
          parts
            .join('')
            .replaceAll(/\|{3,}/gu, '||')
            .replaceAll('`', ''),
          200,
        );
        const counts = chunks.map((chunk) => chunk.match(/\|\|/gu)?.length ?? 0);
        for (const count of counts
          .slice(0, -1)
          .filter((_, at) => counts.slice(at + 1).some((each) => each > 0)))
          expect(count % 2).toBe(0);
        for (const chunk of chunks) expect(chunk.length).toBeLessThanOrEqual(200);
      }),
    );
  });

  it('is none without its end, and none in code', () => {
    const text = `a || b ${'word '.repeat(500)}`;
    expect(splitReply(text).join(' ').match(/\|\|/gu)).toHaveLength(1);
    const code = `\`\`\`sh\n${'a || b\n'.repeat(400)}\`\`\``;
    expect(splitReply(code).join('\n').match(/\|\|/gu)).toHaveLength(400);
  });
});

describe('a table that still grows [G9]', () => {
  it('is shown once it is over, and what stands in code at once', () => {
    expect(visiblePart(`Look:\n${rows.join('\n')}`)).toBe('Look:');
    expect(visiblePart(`Look:\n${rows.join('\n')}\n\nSo`)).toContain('Ada');
    expect(visiblePart('```sh\nls | wc')).toContain('ls | wc');
  });
});
