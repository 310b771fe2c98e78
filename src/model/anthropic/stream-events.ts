import { Stream } from '@anthropic-ai/sdk/core/streaming';
import { z } from 'zod';

const indexed = { index: z.number().int().nonnegative() };
const anyObject = z.looseObject({});

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.looseObject({ usage: anyObject.nullish() }) }),
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
    usage: anyObject.nullish(),
  }),
  z.object({ type: z.literal('message_stop') }),
]);

/** The field that each kind of delta brings a piece of. */
const pieces: Readonly<Record<string, string>> = {
  text_delta: 'text',
  input_json_delta: 'partial_json',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
};

/** The same stream of events in the form that the SDK insists on: servers that speak the Messages API leave out what they have no use for [M7]. */
export function wellFormed(response: Response): Response {
  const events = Stream.rawEvents(response);
  const repair = createEventRepair();
  const encoder = new TextEncoder();

  async function* repaired(): AsyncGenerator<Uint8Array, void> {
    for await (const { event, data, raw } of events) {
      const parsed = event === 'error' ? undefined : jsonOf(data);
      // Errors, and what is not even JSON, are for the SDK to judge.
      if (parsed === undefined) yield encoder.encode(`${raw.join('\n')}\n\n`);
      else
        for (const each of repair(parsed))
          yield encoder.encode(`event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`);
    }
  }

  const chunks = repaired();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    // The read that is under way ends with the request; it is not waited for.
    cancel: () => void chunks.return().catch(() => undefined),
  });
  return new Response(body, response);
}

interface RepairedEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/**
 * Gives for each event of one message the events that stand for it: the message begins once, with content and counts; its blocks are counted
 * from 0; its stop reason and counts stay when a later event says nothing of them. What is no event, or a piece of nothing, is left out.
 */
function createEventRepair(): (raw: unknown) => readonly RepairedEvent[] {
  const places = new Map<number, number>();
  let hasBegun = false;
  let usage: Record<string, unknown> = {};
  let stopReason: string | null = null;

  function beginning(message: Record<string, unknown> = {}): readonly RepairedEvent[] {
    if (hasBegun) return [];
    hasBegun = true;
    return [{ type: 'message_start', message: { ...message, content: [], usage } }];
  }

  return (raw) => {
    const parsed = eventSchema.safeParse(raw);
    if (!parsed.success) return [];
    const event = parsed.data;
    switch (event.type) {
      case 'message_start':
        usage = { ...usage, ...withoutNulls(event.message.usage) };
        return beginning(event.message);
      case 'content_block_start': {
        if (places.has(event.index)) return [];
        const index = places.size;
        places.set(event.index, index);
        const block = event.content_block;
        const content_block = block['type'] === 'thinking' ? { thinking: '', ...block } : block;
        return [...beginning(), { ...event, index, content_block }];
      }
      case 'content_block_delta':
      case 'content_block_stop': {
        const index = places.get(event.index);
        const isPiece = event.type === 'content_block_stop' || bringsPiece(event.delta);
        return index === undefined || !isPiece ? [] : [{ ...event, index }];
      }
      case 'message_delta':
        stopReason = event.delta.stop_reason ?? stopReason;
        usage = { ...usage, ...withoutNulls(event.usage) };
        return [...beginning(), { ...event, delta: { ...event.delta, stop_reason: stopReason }, usage }];
      case 'message_stop':
        return [...beginning(), event];
    }
  };
}

function bringsPiece(delta: { readonly type: string; readonly [field: string]: unknown }): boolean {
  const field = pieces[delta.type];
  return field !== undefined && typeof delta[field] === 'string';
}

function withoutNulls(usage: Readonly<Record<string, unknown>> | null | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(usage ?? {}).filter(([, count]) => count !== null));
}

/** `undefined` where it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
