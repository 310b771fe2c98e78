import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { RepliedMessage } from '../../src/core/chat.ts';
import { renderSection } from '../../src/core/section.ts';
import { forwardedSection, repliedSection } from '../../src/prompt/quoted-messages.ts';
import { withinBudget } from '../../src/prompt/within-budget.ts';
import { chatMessage, countTags, nastyText, otherBotMessage, ownMessage } from './samples.ts';

function replied(message: Omit<RepliedMessage, 'files'>): string {
  return renderSection(repliedSection({ ...message, files: [] }));
}

describe('the message that is replied to', () => {
  it('keeps its lines and is named after its author', () => {
    expect(replied(chatMessage(1, 'one\n  two\n', { attachments: ['cat.png'] }))).toBe(
      '<replied_to>\nThe message that is replied to, by Alice:\none\n  two\n[attached: cat.png]\n</replied_to>\n',
    );
    expect(replied(otherBotMessage(1, 'beep'))).toContain('by Dyno (bot):\nbeep\n');
    expect(replied(ownMessage(1, 'yes'))).toContain('by you:\nyes\n');
  });

  it('says so where there is nothing to read', () => {
    expect(renderSection(repliedSection('gone'))).toBe(
      '<replied_to>\nThe message that is replied to:\n(it can no longer be read)\n</replied_to>\n',
    );
    expect(replied(chatMessage(1, ' \n'))).toContain(':\n(no text)\n');
    expect(replied(chatMessage(1, '', { attachments: ['cat.png'] }))).toContain(':\n[attached: cat.png]\n');
  });

  it('is cut at a word, within its budget', () => {
    const text = replied(chatMessage(1, 'word '.repeat(1000)));
    expect(text).toMatch(/ word…\n<\/replied_to>\n$/u);
    expect(text.length).toBeGreaterThan(1900);
    expect(text.length).toBeLessThanOrEqual(2000);
  });

  it('is of nobody where it was passed on', () => {
    const files = [{ name: 'a.txt', size: 1, url: 'https://cdn.discordapp.com/a.txt' }];
    expect(renderSection(forwardedSection({ text: 'hello', files }))).toBe(
      '<forwarded>\nA message that was passed on:\nhello\n[attached: a.txt]\n</forwarded>\n',
    );
  });

  it('never forges a tag, and never loses its tail for want of room', () => {
    fc.assert(
      fc.property(
        nastyText,
        nastyText,
        nastyText,
        fc.integer({ min: 1, max: 80 }),
        (text, name, file, times) => {
          const author = { id: '1', name, kind: 'human' as const };
          const message = chatMessage(1, text.repeat(times), { author, attachments: [file] });
          const sections = [
            repliedSection({ ...message, files: [] }),
            forwardedSection({ text: message.text, files: [{ name: file, size: 1, url: '' }] }),
          ];
          for (const section of sections) {
            expect(withinBudget(section)).toBe(section);
            expect(countTags(renderSection(section))).toBe(2);
          }
        },
      ),
    );
  });
});
