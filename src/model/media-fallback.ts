import { ModelError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { MediaBlock, ModelClient, ModelMessage } from '../core/model.ts';

/**
 * A client for one turn that asks again without pictures and documents where the model's server refuses a request that has some: a damaged
 * picture, too many pages, a server that takes text only. From then on they are left out, and the model is told that they could not be read.
 */
export function withMediaFallback(client: ModelClient, logger: Logger): ModelClient {
  let isRefused = false;
  return {
    isOffline: client.isOffline,
    async complete(request, options) {
      const bare = { ...request, messages: request.messages.map(withoutMedia) };
      if (isRefused || !request.messages.some(hasMedia))
        return client.complete(isRefused ? bare : request, options);
      try {
        return await client.complete(request, options);
      } catch (error) {
        if (!(error instanceof ModelError) || error.failure !== 'rejected') throw error;
        logger.warn('the model refused attached files; asking again without them', { error });
        isRefused = true;
        return client.complete(bare, options);
      }
    },
  };
}

const notRead = { type: 'text', text: '(it could not be read)\n' } as const;

function withoutMedia(message: ModelMessage): ModelMessage {
  if (message.role === 'assistant') return message;
  return { ...message, content: message.content.map((block) => (isMedia(block) ? notRead : block)) };
}

function hasMedia({ content }: ModelMessage): boolean {
  return content.some(isMedia);
}

function isMedia(block: { readonly type: string }): block is MediaBlock {
  return block.type === 'image' || block.type === 'document';
}
