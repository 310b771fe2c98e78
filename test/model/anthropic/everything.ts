import type { ModelRequest } from '../../../src/core/model.ts';

/** A request that has each feature that a server may refuse. */
export const everything: ModelRequest = {
  purpose: 'chat',
  userId: '100000000000000001',
  model: 'sonnet',
  system: [{ type: 'text', text: 'Use your tools.', withoutTools: 'You have no tools.', cache: '1h' }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look:', cache: '1h' },
        { type: 'image', title: 'cat.png', mediaType: 'image/png', data: 'AAAA' },
        { type: 'document', title: 'a.pdf', data: 'BBBB' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', vendor: { type: 'thinking', thinking: 'Hm', signature: 'signed' } },
        { type: 'text', text: 'One moment.' },
        { type: 'tool_use', id: 'a', name: 'look_up', input: {} },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', toolUseId: 'a', text: 'found', isError: false }] },
  ],
  tools: [{ name: 'look_up', description: 'Looks up', inputSchema: { type: 'object', minProperties: 0 } }],
  outputSchema: { type: 'object', title: 'answer' },
  maxTokens: 100,
};
