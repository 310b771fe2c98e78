import { estimateTokenCount } from 'tokenx';

import { ModelError } from '../../core/errors.ts';
import {
  noUsage,
  type ModelCallOptions,
  type ModelClient,
  type ModelRequest,
  type ModelResponse,
} from '../../core/model.ts';
import { condense, extractItems, reflect, summarize, trimProfile } from './background.ts';
import { readRequest, requestText } from './read-request.ts';
import { offlineLabel } from './matching.ts';
import { chatReply, type ChatReply, type Knowledge } from './reply.ts';

/** Pieces that a text is streamed in. */
const pieces = 4;

/**
 * The stand-in for a language model where none is configured: it knows the request and nothing else, answers by rules, the same every
 * time, without network [M2]. Chat replies begin with its label. What `knowledge` gives reads one request.
 */
export function createOfflineClient(knowledge: () => Knowledge): ModelClient {
  return {
    isOffline: true,
    async complete(request, options = {}) {
      const reply = replyTo(request, knowledge());
      if (reply.type === 'text') await stream(reply.text, options);
      throwIfAborted(options.signal, '');
      return responseOf(reply, request);
    },
  };
}

function replyTo(request: ModelRequest, knowledge: Knowledge): ChatReply {
  switch (request.purpose) {
    case 'chat': {
      const reply = chatReply(readRequest(request), knowledge);
      return reply.type === 'tools' ? reply : { type: 'text', text: `${offlineLabel}\n${reply.text}` };
    }
    case 'summary':
      return { type: 'text', text: summarize(request) };
    case 'condense':
      return { type: 'text', text: condense(request) };
    case 'extraction':
      return { type: 'text', text: extractItems(request) };
    case 'reflection':
      return reflect(request);
    case 'trim':
      return { type: 'text', text: trimProfile(request) };
  }
}

function responseOf(reply: ChatReply, request: ModelRequest): ModelResponse {
  const output = reply.type === 'text' ? reply.text : JSON.stringify(reply.calls);
  const usage = {
    ...noUsage,
    inputTokens: estimateTokenCount(requestText(request)),
    outputTokens: estimateTokenCount(output),
  };
  if (reply.type === 'text') return { content: [{ type: 'text', text: reply.text }], stop: 'end', usage };
  const content = reply.calls.map((call, index) => ({
    type: 'tool_use' as const,
    id: `offline-${request.messages.length}-${index}`,
    ...call,
  }));
  return { content, stop: 'tool_use', usage };
}

async function stream(text: string, { signal, onText }: ModelCallOptions): Promise<void> {
  const words = text.split(/(?<=\s)(?=\S)/u);
  const size = Math.ceil(words.length / pieces);
  let said = '';
  for (let start = 0; start < words.length; start += size) {
    throwIfAborted(signal, said);
    const piece = words.slice(start, start + size).join('');
    said += piece;
    onText?.(piece);
    await Promise.resolve();
  }
}

function throwIfAborted(signal: AbortSignal | undefined, partialText: string): void {
  if (signal?.aborted === true) throw new ModelError('The call was given up', 'aborted', { partialText });
}
