import { ModelError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { MediaBlock, ModelClient, ModelMessage, ModelRequest, TextBlock } from '../core/model.ts';
import { createMinuteBudget } from '../core/limits.ts';

/**
 * A client for one turn that asks again without pictures and documents where the model's server refuses a request that has some: a damaged
 * picture, too many pages, a server that takes text only. From then on they are left out, and the model is told that they could not be read.
 */
export function withMediaFallback(client: ModelClient, logger: Logger): ModelClient {
  let isRefused = false;
  return {
    isOffline: client.isOffline,
    async complete(request, options) {
      if (mediaBytes(request) === 0) return client.complete(request, options);
      const bare = withoutMedia(request, 'it could not be read');
      if (isRefused) return client.complete(bare, options);
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

/** The request with a text in place of each picture and document, or of those of one type. */
export function withoutMedia(request: ModelRequest, why: string, type?: MediaBlock['type']): ModelRequest {
  const text: TextBlock = { type: 'text', text: `(${why})\n` };
  return { ...request, messages: request.messages.map((message) => textsOf(message, text, type)) };
}

/** Bytes of a request's pictures and documents, as they are sent. */
export function mediaBytes({ messages }: ModelRequest): number {
  let bytes = 0;
  for (const { content } of messages)
    for (const block of content) if (isMedia(block)) bytes += block.data.length;
  return bytes;
}

function textsOf(message: ModelMessage, text: TextBlock, type?: MediaBlock['type']): ModelMessage {
  if (message.role === 'assistant') return message;
  const content = message.content.map((block) =>
    isMedia(block) && (type ?? block.type) === block.type ? text : block,
  );
  return { ...message, content };
}

function isMedia(block: ModelMessage['content'][number]): block is MediaBlock {
  return block.type === 'image' || block.type === 'document';
}

const megabyte = 1024 * 1024;
/** Bytes of pictures and documents that a turn sends at most, base64 and all its requests together [L1]: its 5 MB of files three times. */
const turnMaxBytes = 20 * megabyte;
/** The same for a person's minute: as much as is opened for them in it, sent so often. */
const minuteMaxBytes = 3 * turnMaxBytes;

/** What is sent of people's pictures and documents, over all rounds and retries [L1]. `now` is in milliseconds, from anywhere. */
export function createMediaBudget(now: () => number = () => performance.now()) {
  const minute = createMinuteBudget(minuteMaxBytes, now);
  /** For one turn: whether so many bytes more may be sent; once they may not, no more are. */
  return (userId: string, onOver: () => void) => {
    let left = turnMaxBytes;
    return (bytes: number): boolean => {
      if (left === 0) return false;
      if (bytes <= left && minute.take(userId, bytes)) {
        left -= bytes;
        return true;
      }
      left = 0;
      onOver();
      return false;
    };
  };
}

export type MediaBudget = ReturnType<typeof createMediaBudget>;
