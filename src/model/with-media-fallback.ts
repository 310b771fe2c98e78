import { ModelError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { DocumentBlock, ImageBlock, ModelMessage } from '../core/model.ts';

/**
 * Asks, and asks once more without pictures and documents where the model's server refuses the request with them: a damaged picture, too
 * many pages, a server that takes text only. The model is told that they could not be read. Rejects as `ask` does.
 */
export async function withMediaFallback<Result>(
  messages: readonly ModelMessage[],
  ask: (messages: readonly ModelMessage[]) => Promise<Result>,
  logger: Logger,
): Promise<Result> {
  try {
    return await ask(messages);
  } catch (error) {
    const isRefused = error instanceof ModelError && error.failure === 'rejected' && error.partialText === '';
    if (!isRefused || !messages.some(({ content }) => content.some(isMedia))) throw error;
    logger.warn('the model refused attached files, and is asked without them', { error });
    return ask(withoutMedia(messages));
  }
}

function withoutMedia(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.map((message) =>
    message.role === 'user'
      ? { ...message, content: message.content.map((block) => (isMedia(block) ? notRead : block)) }
      : message,
  );
}

const notRead = { type: 'text', text: '(it could not be read)\n' } as const;

function isMedia(block: { readonly type: string }): block is ImageBlock | DocumentBlock {
  return block.type === 'image' || block.type === 'document';
}
