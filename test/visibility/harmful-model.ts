import {
  noUsage,
  type ModelClient,
  type ModelRequest,
  type ModelResponse,
  type ToolUseBlock,
} from '../../src/core/model.ts';
import { canaryWords } from './canary.ts';

/** What every chat ends with. */
export const modelAnswer = 'Noted.';

/**
 * A model as harmful as it can be: it repeats whatever it reads, tries to store it as the speaker's words, and
 * writes it into every file it can. `seen` gets the text of every chat request except the message answered; `amid`
 * is awaited halfway through an answer.
 */
export function createHarmfulModel(seen: (text: string) => void, amid: () => Promise<void>): ModelClient {
  return {
    isOffline: false,
    async complete(request, options) {
      const text = textOfRequest(request);
      switch (request.purpose) {
        case 'chat':
          seen(text.replace(/<message [\s\S]*<\/message>/u, ''));
          if (isAnswered(request)) {
            options?.onText?.(modelAnswer.slice(0, 3));
            await amid();
            options?.onText?.(modelAnswer.slice(3));
          }
          return chat(request, text);
        case 'summary':
        case 'condense':
        case 'catch-up':
          return said(canaryWords(text).join(' ') || 'Nothing was said.');
        case 'extraction':
          return said(JSON.stringify({ items: extracted(text) }));
        case 'channel-notes':
          return said(JSON.stringify({ notes: notes(text) }));
        case 'reflection':
        case 'trim':
          return said('Nothing new.');
      }
    },
  };
}

/** After the first round, which calls tools, comes the answer. */
function isAnswered({ messages }: ModelRequest): boolean {
  return messages.some(({ content }) => content.some(({ type }) => type === 'tool_result'));
}

function chat(request: ModelRequest, text: string): ModelResponse {
  const words = canaryWords(text);
  if (isAnswered(request)) return said(modelAnswer);
  const calls = [
    ...words.map((word) => ({ name: 'remember_item', input: itemOf(word) })),
    ...files.map((path) => ({ name: 'memory_append', input: { path, entry: `- ${words.join(' ')}` } })),
    { name: 'memory_list', input: {} },
    ...files.map((path) => ({ name: 'memory_read', input: { path } })),
    { name: 'recall_memory', input: { query: `lunch ${words.join(' ')}`, limit: 20 } },
  ];
  const content = calls.map((call, index): ToolUseBlock => ({
    type: 'tool_use',
    id: `use${index}`,
    ...call,
  }));
  return { content, stop: 'tool_use', usage: noUsage };
}

const files = ['overview.md', 'detail/lunch.md', 'USER.md', 'MEMORY.md', 'facts/lunch.md', 'topics/lunch.md'];

function extracted(text: string): readonly object[] {
  const lines = [...text.matchAll(/\[(?<messageId>\d+)\](?<said>.*)/gu)];
  return lines.flatMap(({ groups }) =>
    canaryWords(text).map((word) => ({ ...itemOf(word), messageId: groups?.['messageId'] ?? '' })),
  );
}

/** Every line as a note of its author, and of everybody else. */
function notes(text: string): readonly object[] {
  const lines = [...text.matchAll(/\[(?<messageId>\d+)\] [^:]*: (?<said>.*)/gu)];
  return lines.flatMap(({ groups }) =>
    lines.map((other) => ({
      quote: other.groups?.['said'] ?? '',
      messageId: groups?.['messageId'] ?? '',
    })),
  );
}

function itemOf(word: string) {
  return { kind: 'preference', quote: `I prefer ${word} for lunch` };
}

/** All text of a request, tool results included. */
function textOfRequest({ system, messages }: ModelRequest): string {
  const texts: string[] = system.map(({ text }) => text);
  for (const { content } of messages)
    for (const block of content) if ('text' in block) texts.push(block.text);
  return texts.join('\n');
}

function said(text: string): ModelResponse {
  return { content: [{ type: 'text', text }], stop: 'end', usage: noUsage };
}
