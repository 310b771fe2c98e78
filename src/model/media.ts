import { ModelError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type {
  MediaBlock,
  ModelCallOptions,
  ModelClient,
  ModelMessage,
  ModelRequest,
  TextBlock,
} from '../core/model.ts';
import { createMinuteBudget } from '../core/limits.ts';

/** Leaves out files that the server refuses [Q2]: those that it refuses alone, or else all. For one turn. */
export function withMediaFallback(
  client: ModelClient,
  logger: Logger,
  onRefused?: (titles: readonly string[]) => void,
): ModelClient {
  const refused = new Set<MediaBlock>();

  return {
    isOffline: client.isOffline,
    async complete(request, options) {
      for (;;) {
        const asked = withoutMedia(request, notRead, (block) => refused.has(block));
        try {
          return await client.complete(asked, options);
        } catch (error) {
          const media = mediaIn(asked);
          if (!isRejection(error) || media.length === 0) throw error;
          const bad: MediaBlock[] = [];
          if (media.length > 1)
            for (const block of media) if (await isRefused(client, block, request, options)) bad.push(block);
          const leftOut = bad.length === 0 ? media : bad;
          logger.warn('the model refused attached files; asking again without them', {
            files: leftOut.length,
            error,
          });
          for (const block of leftOut) refused.add(block);
          onRefused?.(leftOut.map(({ title }) => title));
        }
      }
    },
  };
}

const notRead = 'it could not be read: damaged, or nothing that you can open; say so';

/** Whether a request with this file alone is refused; any other failure counts as no. */
async function isRefused(
  client: ModelClient,
  block: MediaBlock,
  { userId, purpose, model }: ModelRequest,
  { signal, takeMedia }: ModelCallOptions = {},
): Promise<boolean> {
  const content = [block, { type: 'text', text: 'Answer with one word.' }] as const;
  const messages = [{ role: 'user', content }] as const;
  const request = { purpose, userId, model, system: [], messages, thinks: false, maxTokens: 16 } as const;
  try {
    await client.complete(request, { signal, takeMedia });
    return false;
  } catch (error) {
    return isRejection(error);
  }
}

function isRejection(error: unknown): boolean {
  return error instanceof ModelError && error.failure === 'rejected';
}

/** The request with a text in place of pictures and documents; of all by default. */
export function withoutMedia(
  request: ModelRequest,
  why: string,
  isLeftOut: (block: MediaBlock) => boolean = () => true,
): ModelRequest {
  const text: TextBlock = { type: 'text', text: `(${why})\n` };
  const messages = request.messages.map((message): ModelMessage => {
    if (message.role === 'assistant') return message;
    const content = message.content.map((block) => (isMedia(block) && isLeftOut(block) ? text : block));
    return { ...message, content };
  });
  return { ...request, messages };
}

function mediaIn({ messages }: ModelRequest): readonly MediaBlock[] {
  return messages.flatMap(({ content }): readonly MediaBlock[] => content.filter((block) => isMedia(block)));
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
