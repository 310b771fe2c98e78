import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { withLongCodeAsFiles } from '../../../src/discord/replies/split-reply.ts';

function lines(count: number): string {
  return Array.from({ length: count }, (_, index) => `let line${index} = ${index};\n`).join('');
}

describe('code that would fill more than three messages', () => {
  it('is a file with its language’s ending, of which the beginning is shown [G3]', () => {
    const code = lines(400);
    const { text, files } = withLongCodeAsFiles(`Here:\n\`\`\`rust\n${code}\`\`\`\nThat is all.`);
    expect(files).toEqual([{ name: 'code-1.rs', text: code }]);
    expect(text.startsWith('Here:\n```rust\nlet line0 = 0;\n')).toBe(true);
    expect(text.endsWith('\n… 388 more lines in code-1.rs\n```\nThat is all.')).toBe(true);
    expect(text.length).toBeLessThan(1000);
  });

  it('is counted while it still grows, each block separately', () => {
    const { text, files } = withLongCodeAsFiles(`\`\`\`\nshort\n\`\`\`\n~~~Python x\n${lines(500)}let las`);
    expect(files).toEqual([{ name: 'code-1.py', text: `${lines(500)}let las` }]);
    expect(text).toContain('```\nshort\n```\n~~~Python x\nlet line0');
  });

  it('is everything that is taken out: whatever else a text says stays as it is', () => {
    const piece = fc.oneof(
      fc.constantFrom('```', '```ts\n', '\n```\n', '~~~~\n', '\n', '`', ' '),
      fc.string({ maxLength: 40 }),
      fc.integer({ min: 1, max: 600 }).map(lines),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const whole = pieces.join('');
        const { text, files } = withLongCodeAsFiles(whole);
        expect(files.length > 0 || text === whole).toBe(true);
        let left = whole;
        for (const file of files) {
          expect(file.text.length).toBeGreaterThan(6000);
          expect(left).toContain(file.text);
          left = left.replace(file.text, () => '');
        }
        const [head = ''] = left.split('\n');
        expect(text.startsWith(head)).toBe(true);
        expect(text.length).toBeLessThanOrEqual(left.length + 900 * files.length);
      }),
    );
  });
});
