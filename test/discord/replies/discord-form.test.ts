import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { spoilerMarks } from '../../../src/discord/replies/discord-form.ts';
import { splitReply, visiblePart, withoutForeignMarks } from '../../../src/discord/replies/split-reply.ts';

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

  it('is a table that is too wide for a code block, which becomes a list', () => {
    const long = 'word '.repeat(30).trim();
    expect(splitReply(`| Who | What |\n|---|---|\n| Ada | ${long} |\n| Bob | |`)).toEqual([
      `- **Who:** Ada · **What:** ${long}\n- **Who:** Bob`,
    ]);
  });

  it('is a table whose cells show no spoiler, link or mention in code, which becomes a list', () => {
    const head = '| Film | End |\n|---|---|\n';
    for (const cell of ['||he dies||', String.raw`\|\|he dies\|\|`, '|| he dies ||'])
      expect(splitReply(`${head}| Up | ${cell} |\n| Heat | they ||die|| too |`)[0]).toMatch(
        /^- \*\*Film:\*\* Up · \*\*End:\*\* \|\| ?he dies ?\|\|\n- \*\*Film:\*\* Heat · \*\*End:\*\* they \|\|die\|\| too$/u,
      );
    expect(splitReply('Film | End\n--- | ---\nUp | ||he dies||')).toEqual([
      '- **Film:** Up · **End:** ||he dies||',
    ]);
    expect(splitReply(`${head}| [Up](https://example.com) | <@123456789012345678> |`)).toEqual([
      '- **Film:** [Up](https://example.com) · **End:** <@123456789012345678>',
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
    const inCode = 'Write `![alt](https://example.com/a.png)`.';
    expect(splitReply(inCode)).toEqual([inCode]);
  });
});

describe('a spoiler that is split [G9]', () => {
  it('is closed, and opened again in the next message', () => {
    const [first = '', second = ''] = splitReply(`The end: ||${'he dies. '.repeat(300)}|| Sorry.`);
    expect(first).toMatch(/^The end: \|\|[\s\S]*\|\|$/u);
    expect(second).toMatch(/^\|\|he dies[\s\S]*\|\| Sorry\.$/u);
  });

  it('is never left open in a message, and no message is too long', () => {
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
        const chunks = splitReply(parts.join('').replaceAll(/\|{3,}/gu, '||'), 200);
        const counts = chunks.map((chunk) => spoilerMarks(chunk).length);
        for (const count of counts
          .slice(0, -1)
          .filter((_, at) => counts.slice(at + 1).some((each) => each > 0)))
          expect(count % 2).toBe(0);
        for (const chunk of chunks) expect(chunk.length).toBeLessThanOrEqual(200);
      }),
    );
  });
});

describe('a table that still grows [G9]', () => {
  it('is shown once it is complete; in code, at once', () => {
    expect(visiblePart(`Look:\n${rows.join('\n')}`)).toBe('Look:');
    expect(visiblePart(`Look:\n${rows.join('\n')}\n\nSo`)).toContain('Ada');
    expect(visiblePart('```sh\nls | wc')).toContain('ls | wc');
  });
});

describe('a spoiler that still grows [G9]', () => {
  it('is shown once it is closed', () => {
    expect(visiblePart('The end: ||he dies\nand she')).toBe('The end: ');
    expect(visiblePart('The end: ||he dies\nand she||\nSo')).toContain('||he dies\nand she||');
    expect(visiblePart('```sh\ntrue || false\n')).toContain('true || false');
  });
});

const emojiNamed = (name: string) => (name === 'claw' ? '<:claw:100000000000000001>' : undefined);

describe('what a model writes that Discord lacks [G9]', () => {
  it.each([
    ['One\n\n---\n\nTwo\n* * *\nThree', 'One\n\nTwo\n\nThree'],
    ['Plan\n====\nFirst\n\nThen\n----\nNext', '# Plan\nFirst\n\n## Then\nNext'],
    ['- [ ] buy tea\n- [x] water bees\n1. [X] sleep', '- ☐ buy tea\n- ☑ water bees\n1. ☑ sleep'],
    ['Bees dance.[^1]\n\n[^1]: Frisch, 1927', 'Bees dance.[1]\n\n[1] Frisch, 1927'],
    [
      'See [the guide][g] and [g].\n\n[g]: https://bees.example/guide "Guide"',
      'See [the guide](https://bees.example/guide) and [g](https://bees.example/guide).',
    ],
    ['one<br>two<br/>three', 'one\ntwo\nthree'],
    [
      '<b>Bold</b>, <em>soft</em>, <u>under</u>, <del>gone</del>, <kbd>Ctrl</kbd>',
      '**Bold**, *soft*, __under__, ~~gone~~, `Ctrl`',
    ],
    ['<details><summary>More</summary>Here</details> H<sub>2</sub>O <!-- not for you -->', 'MoreHere H2O'],
    ['It is $$x^2$$ and ==this== matters.', 'It is `x^2` and **this** matters.'],
    ['At 10:30:15 :claw: came, :paw: not', 'At 10:30:15 <:claw:100000000000000001> came, :paw: not'],
  ])('reads well: %s', (text, expected) => {
    expect(splitReply(withoutForeignMarks(text, emojiNamed))).toEqual([expected]);
  });

  it.each([
    'if a == b and c == d, stop',
    '<@100000000000000001> at <t:1772494805:d> in <#200000000000000001>: <https://example.com/?a==b&c==d>',
    'Use `<br>`, `==`, `:claw:`, `- [ ]` and `$$`.',
    '```html\n<b>x</b>\n---\n- [ ] y\n```',
    'It costs $$ and [this] stays, 1 < 2 > 0.',
    '| a | b |\n| --- | --- |\n| x<br>y | z |',
  ])('leaves alone: %s', (text) => {
    expect(withoutForeignMarks(text, emojiNamed)).toBe(text);
  });
});
