import { z } from 'zod';

const indexed = { index: z.number().int().nonnegative() };
const anyObject = z.looseObject({});

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.looseObject({ usage: anyObject.optional() }) }),
  z.object({ type: z.literal('content_block_start'), ...indexed, content_block: anyObject }),
  z.object({
    type: z.literal('content_block_delta'),
    ...indexed,
    delta: z.looseObject({ type: z.string() }),
  }),
  z.object({ type: z.literal('content_block_stop'), ...indexed }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.looseObject({ stop_reason: z.string().nullish() }),
    usage: anyObject.optional(),
  }),
  z.object({ type: z.literal('message_stop') }),
]);

/** The field that each kind of delta carries and its block collects. */
const growing: Readonly<Record<string, string>> = {
  text_delta: 'text',
  input_json_delta: 'partial_json',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
};

/**
 * Puts the events of one streamed message together. What comes out has the shape of an unstreamed message and is not yet
 * validated. A tool's input is parsed from its whole text only, so that a broken-off one is never taken for a whole one.
 */
export class MessageAssembler {
  readonly #blocks: Map<number, Record<string, unknown>> = new Map();
  #usage: Record<string, unknown> = {};
  #stopReason: string | null = null;
  #isComplete = false;

  /** Whether the message has been received to its end. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Takes one event, and gives the text that it adds to the answer; events and deltas of unknown kinds are passed over. */
  add(raw: unknown): string {
    const parsed = eventSchema.safeParse(raw);
    if (!parsed.success) return '';
    const event = parsed.data;
    switch (event.type) {
      case 'message_start':
        this.#usage = { ...event.message.usage };
        return '';
      case 'content_block_start':
        this.#blocks.set(event.index, { ...event.content_block });
        return typeof event.content_block['text'] === 'string' ? event.content_block['text'] : '';
      case 'content_block_delta':
        return this.#grow(event.index, event.delta);
      case 'content_block_stop':
        return '';
      case 'message_delta':
        this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
        this.#usage = { ...this.#usage, ...withoutNulls(event.usage ?? {}) };
        return '';
      case 'message_stop':
        this.#isComplete = true;
        return '';
    }
  }

  /** The message so far. */
  message(): unknown {
    const blocks = [...this.#blocks].toSorted(([a], [b]) => a - b).map(([, block]) => withInput(block));
    return { content: blocks, stop_reason: this.#stopReason, usage: this.#usage };
  }

  #grow(index: number, delta: Record<string, unknown>): string {
    const block = this.#blocks.get(index);
    const field = growing[String(delta['type'])];
    if (block === undefined || field === undefined) return '';
    const piece = delta[field];
    if (typeof piece !== 'string') return '';
    const before = block[field];
    block[field] = (typeof before === 'string' ? before : '') + piece;
    return field === 'text' ? piece : '';
  }
}

function withoutNulls(usage: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== null));
}

/** Input that is no JSON stays a text, which validation refuses. */
function withInput({ partial_json: json, ...block }: Record<string, unknown>): Record<string, unknown> {
  if (typeof json !== 'string' || json === '') return block;
  try {
    const input: unknown = JSON.parse(json);
    return { ...block, input };
  } catch {
    return { ...block, input: json };
  }
}
