import { ModelError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { MediaBlock, ModelClient, ModelMessage, ModelRequest, TextBlock } from '../core/model.ts';
import { createMinuteBudget } from '../core/limits.ts';

/** Asks again without files where the server refuses a request with them [Q2]; for one turn. */
export function withMediaFallback(
  client: ModelClient,
  logger: Logger,
  onRefused?: (titles: readonly string[]) => void,
): ModelClient {
  let isRefused = false;

  return {
    isOffline: client.isOffline,
    async complete(request, options) {
      const titles = isRefused ? [] : titlesIn(request);
      const bare = (): ModelRequest => withoutMedia(request, notRead);
      try {
        return await client.complete(isRefused ? bare() : request, options);
      } catch (error) {
        const isRejection = error instanceof ModelError && error.failure === 'rejected';
        if (!isRejection || titles.length === 0) throw error;
        logger.warn('the model refused attached files; asking again without them', {
          files: titles.length,
          error,
        });
        isRefused = true;
        onRefused?.(titles);
        return client.complete(bare(), options);
      }
    },
  };
}

// The error rarely names the file, and each that is tried alone costs a call.
const notRead = 'not given to you: your server refused this file or another one of this message; say so';

/** The request with a text in place of pictures and documents. */
export function withoutMedia(request: ModelRequest, why: string): ModelRequest {
  const text: TextBlock = { type: 'text', text: `(${why})\n` };
  const messages = request.messages.map((message): ModelMessage => {
    if (message.role === 'assistant') return message;
    const content = message.content.map((block) => (isMedia(block) ? text : block));
    return { ...message, content };
  });
  return { ...request, messages };
}

function titlesIn({ messages }: ModelRequest): readonly string[] {
  return messages.flatMap(({ content }) => content.flatMap((block) => (isMedia(block) ? block.title : [])));
}

function isMedia(block: ModelMessage['content'][number]): block is MediaBlock {
  return block.type === 'image' || block.type === 'document';
}

const megabyte = 1024 * 1024;
/** In base64, over all requests of a turn [L1]: 5 MB of files three times. */
const turnMaxBytes = 20 * megabyte;
/** For all of a person's turns in a minute. */
const minuteMaxBytes = 3 * turnMaxBytes;

/** Limits what is sent of people's files, over all rounds and retries [L1]. `now` is in monotonic milliseconds. */
export function createMediaBudget(now: () => number = () => performance.now()) {
  const minute = createMinuteBudget(minuteMaxBytes, now);
  /** For one turn: whether so many more bytes may be sent. After the first no, nothing more may. */
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
