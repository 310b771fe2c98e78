type Fields = Record<string, unknown>;

/** The field of a block that each kind of delta adds to. */
const fieldOf = new Map<unknown, string>([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'signature'],
  ['input_json_delta', 'partial_json'],
]);

/** Unlike the SDK, it tolerates what servers leave out, and does not complete tool input that broke off [M7]. */
export function createAssembly(onText: (piece: string) => void) {
  /** By the server's index. */
  const blocks = new Map<unknown, Fields>();
  const usage: Fields = {};
  let beginning: Fields | undefined;
  let stopReason: unknown;
  let isWhole = false;

  function count(counts: unknown): void {
    for (const [name, value] of Object.entries(fieldsOf(counts))) if (value !== null) usage[name] = value;
  }

  function add(block: Fields, field: string, piece: unknown): void {
    if (typeof piece !== 'string' || piece === '') return;
    block[field] = `${typeof block[field] === 'string' ? block[field] : ''}${piece}`;
    if (block['type'] === 'text' && field === 'text') onText(piece);
  }

  function begin(index: unknown, { text, ...block }: Fields): void {
    if (blocks.has(index) || typeof index !== 'number' || block['type'] === undefined) return;
    blocks.set(index, block);
    if (block['type'] === 'text') block['text'] = '';
    if (block['type'] === 'thinking') block['thinking'] ??= '';
    add(block, 'text', text);
  }

  return {
    /** Adds an event, whose parts it may change. */
    take(event: unknown): void {
      const { type, index, message, content_block: block, delta, usage: counts } = fieldsOf(event);
      const { type: kind, stop_reason: stop, ...pieces } = fieldsOf(delta);
      const field = fieldOf.get(kind) ?? '';
      switch (type) {
        case 'message_start':
          beginning ??= fieldsOf(message);
          count(fieldsOf(message)['usage']);
          break;
        case 'content_block_start':
          begin(index, fieldsOf(block));
          break;
        case 'content_block_delta':
          add(blocks.get(index) ?? {}, field, pieces[field]);
          break;
        case 'message_delta':
          stopReason = stop ?? stopReason;
          count(counts);
          break;
        case 'message_stop':
          isWhole = true;
      }
    },
    /** Whether the end of the message came. */
    isWhole: () => isWhole,
    /** The message as it would be without streaming. */
    message(): unknown {
      const content = Array.from(blocks.values(), ({ partial_json: input, ...block }) =>
        typeof input === 'string' ? { ...block, input: jsonOf(input) } : block,
      );
      return { ...beginning, content, usage, stop_reason: stopReason ?? beginning?.['stop_reason'] };
    },
  };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** `undefined` for anything that is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
