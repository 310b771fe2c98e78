import { describe, expect, it } from 'vitest';
import { historyEntry } from '../../src/prompt/history-entry.ts';
import { chatMessage, otherBotMessage, ownMessage } from './samples.ts';

describe('historyEntry', () => {
  it("gives a person's message as one line with the author's name", () => {
    expect(historyEntry(chatMessage(1, 'first\nsecond'))).toMatchObject({
      role: 'user',
      text: 'Alice: first second\n',
    });
  });

  it('tells another bot from this one [H2]', () => {
    expect(historyEntry(otherBotMessage(1, 'Level up!'))).toMatchObject({
      role: 'user',
      text: 'Dyno (bot): Level up!\n',
    });
  });

  it("leaves this bot's own words and lines as they were, in its own role", () => {
    expect(historyEntry(ownMessage(1, 'Two things:\r\n- a\n- b @\u2068Al B\u2069 '))).toMatchObject({
      role: 'assistant',
      text: 'Two things:\n- a\n- b @Al B\n',
    });
  });

  it('names attachments, also where nothing was written', () => {
    expect(historyEntry(chatMessage(1, '', { attachments: ['cat.png'] }))?.text).toBe(
      'Alice: [attached: cat.png]\n',
    );
  });

  it('shows no line for a message that says nothing', () => {
    expect(historyEntry(chatMessage(1, ' \u200b\n'))).toBeUndefined();
  });

  it('counts name and line break when it cuts', () => {
    const entry = historyEntry(chatMessage(1, 'one two three four'), 20);
    expect(entry?.text).toBe('Alice: one two…\n');
    expect(historyEntry(chatMessage(1, 'one'), 5)).toBeUndefined();
  });
});
