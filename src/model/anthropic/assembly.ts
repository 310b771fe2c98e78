type Fields = Record<string, unknown>;

/**
 * Puts a message together from its events, and gives each piece of its text to `onText`. The SDK does so too, but not where servers leave out what they
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
  let stopReason: unknown;
  let isWhole = false;

  function count(counts: unknown): void {
    for (const [name, value] of Object.entries(fieldsOf(counts))) if (value !== null) usage[name] = value;
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

  function begin(index: unknown, block: Fields): void {
    if (blocks.has(index) || typeof index !== 'number' || Object.keys(block).length === 0) return;
    if (block['type'] === 'thinking') block['thinking'] ??= '';
    blocks.set(index, block);
    const { type, text } = block;
    if (type === 'text' && typeof text === 'string' && text !== '') onText(text);
  }

  return {
    /** Takes the next event, whose parts it keeps and changes. */
    take(event: unknown): void {
      const { type, index, message, content_block: block, delta, usage: counts } = fieldsOf(event);
      switch (type) {
        case 'message_start':
          beginning ??= fieldsOf(message);
          count(fieldsOf(message)['usage']);
          break;
        case 'content_block_start':
          begin(index, fieldsOf(block));
          break;
        case 'content_block_delta':
          add(blocks.get(index) ?? {}, fieldsOf(delta));
          break;
        case 'message_delta':
          stopReason = fieldsOf(delta)['stop_reason'] ?? stopReason;
          count(counts);
          break;
        case 'message_stop':
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

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function joined(text: unknown, piece: string): string {
  return typeof text === 'string' ? text + piece : piece;
}

/** `undefined` where it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
