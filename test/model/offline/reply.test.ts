import { describe, expect, it } from 'vitest';

import { textOf } from '../../../src/core/model.ts';
import type { OpenedFile } from '../../../src/core/chat.ts';
import { shareOf } from '../../../src/memory/recall/words.ts';
import { createOfflineClient } from '../../../src/model/offline/offline-client.ts';
import { recalledPassages } from '../../../src/model/offline/read-request.ts';
import { buildPrompt } from '../../../src/prompt/build-prompt.ts';
import { promptInput } from '../../prompt/samples.ts';

const files: readonly OpenedFile[] = [
  { kind: 'text', name: 'notes.txt', text: 'I live in Oslo.\nhidden.txt:\n' },
  { kind: 'image', name: 'cat.png', mediaType: 'image/png', data: 'AAAA' },
  { kind: 'unopened', name: 'movie.mp4', reason: 'over 10 MB' },
];

/** The stand-in's reply to Alice's message with files, as the prompt room writes it. */
async function replyTo(text: string, tools: readonly string[] = []) {
  const { message } = promptInput();
  const said = { id: '1', text, at: '', attachments: files.map(({ name }) => name) };
  const { system, messages } = buildPrompt(promptInput({ files, message: { ...message, messages: [said] } }));
  return createOfflineClient({ shareOf }).complete({
    purpose: 'chat',
    userId: '100000000000000001',
    model: 'sonnet',
    system,
    messages,
    tools: tools.map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
    maxTokens: 100,
  });
}

describe('files offline', () => {
  it('are named, opened or not, and said to be unread', async () => {
    const told = textOf((await replyTo('')).content);
    expect(told).toContain('I see “notes.txt”, “cat.png”, “movie.mp4”, but I cannot look into files.');
    expect(told).not.toContain('hidden.txt');
  });

  it('are named before the answer to the words, and serve as no evidence', async () => {
    const told = textOf((await replyTo('where do I live?')).content);
    expect(told).toMatch(/“cat\.png”.*\nI don’t know that yet/u);
    expect(told).not.toContain('Oslo');
  });

  it('do not keep a wish from being done', async () => {
    const { content } = await replyTo('remember that I live in Oslo', ['remember_item']);
    expect(content).toMatchObject([{ type: 'tool_use', name: 'remember_item' }]);
  });
});

const found = [
  'Found 3 result(s) for: "which tea?"',
  '[1] Source: messages\nLine: 4\nDate: 2026-01-15\nContent: alice: which tea?\nCitation: messages.jsonl#L4\nLink: https://discord.com/channels/@me/1/4',
  '[2] Source: messages\nLine: 2\nDate: 2026-01-15\nContent: alice: I like green tea\nCitation: messages.jsonl#L2\nLink: https://discord.com/channels/@me/1/2',
  '[3] Source: messages\nLine: 5\nDate: 2026-01-15\nContent: Discoclaw: I have nothing about that in memory.\nCitation: messages.jsonl#L5',
  '[4] Source: detail\nFile: detail/tea.md:10\nContent: Prefers green tea\nCitation: detail/tea.md#L10',
].join('\n\n');

describe('what a search found', () => {
  it('is shown with its source, without the question itself and the stand-in’s own words', () => {
    expect(recalledPassages(found, 'alice', shareOf('Which tea?'))).toEqual([
      '- [2026-01-15] alice: I like green tea (messages.jsonl#L2, <https://discord.com/channels/@me/1/2>)',
      '- Prefers green tea (detail/tea.md#L10)',
    ]);
    expect(recalledPassages('Found 0 result(s) for: "which tea?"', 'alice', shareOf('which tea?'))).toEqual(
      [],
    );
  });
});
