import { APIError } from '@anthropic-ai/sdk';
import type { EventSourceMessage } from 'eventsource-parser';

export type Fields = Record<string, unknown>;

/** What a stream's event says; `undefined` for nothing. @throws {APIError} for an error, `SyntaxError` for what was to be JSON and is not. */
export function eventIn({ event: name, data }: EventSourceMessage, headers: Headers): unknown {
  if (name === 'error') throw new APIError(undefined, jsonOf(data) ?? data, undefined, headers);
  // Other vendors end their streams with words, under no name.
  const mayBeWords = name === undefined || name === 'ping' || data === '';
  return mayBeWords ? jsonOf(data) : JSON.parse(data);
}

/**
 * Puts a message together from its events, and gives each piece of its text to `onText`. Servers that speak the Messages API leave out what they
 * have no use for [M7]: the message begins once, with whatever comes first; its blocks stand in the order in which they began; its stop reason
 * and counts stay when a later event says nothing of them. What is no event, or a piece of nothing, is passed over.
 */
export function createAssembly(onText: (piece: string) => void) {
  /** By the number that the server gives them. */
  const blocks = new Map<unknown, Fields>();
  /** The input of each tool call as it was written: what broke off must not be taken for whole. */
  const inputs = new Map<Fields, string>();
  const usage: Fields = {};
  let beginning: Fields | undefined;
  let stopReason: string | undefined;
  let isWhole = false;

  function count(counts: unknown): void {
    if (!isFields(counts)) return;
    for (const [name, value] of Object.entries(counts)) if (value !== null) usage[name] = value;
  }

  function add(block: Fields, delta: Fields): void {
    const { type, text, partial_json: json, thinking, signature } = delta;
    if (type === 'text_delta' && block['type'] === 'text' && typeof text === 'string') {
      block['text'] = joined(block['text'], text);
      if (text !== '') onText(text);
    } else if (type === 'input_json_delta' && typeof json === 'string') {
      inputs.set(block, joined(inputs.get(block), json));
    } else if (type === 'thinking_delta' && block['type'] === 'thinking' && typeof thinking === 'string') {
      block['thinking'] = joined(block['thinking'], thinking);
    } else if (type === 'signature_delta' && block['type'] === 'thinking' && typeof signature === 'string') {
      block['signature'] = signature;
    }
  }

  return {
    /** Takes the next event, whose parts it keeps and changes. */
    take(event: unknown): void {
      if (!isFields(event)) return;
      const { type, index, message, content_block: begun, delta } = event;
      const block = blocks.get(index);
      if (type === 'content_block_delta') {
        if (block !== undefined && isFields(delta)) add(block, delta);
      } else if (type === 'content_block_start') {
        if (block !== undefined || typeof index !== 'number' || !isFields(begun)) return;
        if (begun['type'] === 'thinking') begun['thinking'] ??= '';
        blocks.set(index, begun);
        if (begun['type'] === 'text' && typeof begun['text'] === 'string' && begun['text'] !== '')
          onText(begun['text']);
      } else if (type === 'message_start' && isFields(message)) {
        beginning ??= message;
        count(message['usage']);
      } else if (type === 'message_delta') {
        if (isFields(delta) && typeof delta['stop_reason'] === 'string') stopReason = delta['stop_reason'];
        count(event['usage']);
      } else if (type === 'message_stop') {
        isWhole = true;
      }
    },
    /** Whether the message's end was told. */
    isWhole: () => isWhole,
    /** The message in the form that it has in one piece. */
    message(): unknown {
      const content = Array.from(blocks.values(), (block) => {
        const input = inputs.get(block) ?? '';
        return input === '' ? block : { ...block, input: jsonOf(input) };
      });
      return { ...beginning, content, usage, stop_reason: stopReason ?? beginning?.['stop_reason'] };
    },
  };
}

function joined(text: unknown, piece: string): string {
  return typeof text === 'string' ? text + piece : piece;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `undefined` where it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
