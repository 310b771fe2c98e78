interface Paced {
  /** Milliseconds before the server answers at all. */
  readonly delayMs?: number;
  /** The server answers only when this is settled; for tests in which something happens while the model thinks. */
  readonly held?: Promise<unknown>;
}

/**
 * What the scripted server does with a call:
 * - `text`: says it, in one piece or in several with `pauseMs` after each, all but the first once `rest` is settled; `json`: says it as JSON;
 * - `toolUse`: calls tools, after saying `text` where given;
 * - `status`: refuses with an HTTP status; `error` is the message, or `body` or `page` all that it says;
 * - `events`: streams these events as they stand, `{ pauseMs }` being a pause, `{ until }` something that is waited for and `{ bytes }` a piece of the
 *   stream as it is sent; the end of the list ends the stream;
 * - `message`: answers in one piece with this JSON, whatever the client asked for;
 * - `silent`: takes the call and never answers; `stall`, `cut`: says `halfText` and then nothing, or hangs up;
 * - `html`: a web page with status 200; `empty`: a message without content; `refusal`: the same, refused;
 * - `max_tokens`: `halfText`, cut by the output limit.
 */
export type ModelAnswer =
  | ({
      readonly text: string | readonly string[];
      readonly pauseMs?: number;
      readonly rest?: Promise<unknown>;
    } & Paced)
  | ({ readonly json: unknown } & Paced)
  | ({ readonly toolUse: readonly ScriptedToolUse[]; readonly text?: string } & Paced)
  | ({
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly error?: string;
      /** The whole body, in place of the vendor's. */
      readonly body?: unknown;
      /** A body that is not JSON. */
      readonly page?: string;
    } & Paced)
  | ({ readonly events: readonly object[] } & Paced)
  | ({ readonly message: unknown } & Paced)
  | 'silent'
  | 'stall'
  | 'cut'
  | 'html'
  | 'empty'
  | 'refusal'
  | 'max_tokens';

/** A summary that a script gives as plain text, in the schema, where `asked` says that one is wanted [R2]. */
export function inSummarySchema(text: string, asked: unknown): string {
  const isWanted = /properties\W+summary\b/u.test(JSON.stringify([asked]));
  return isWanted && !text.startsWith('{') ? JSON.stringify({ summary: text }) : text;
}

export interface ScriptedToolUse {
  readonly name: string;
  readonly input: unknown;
  /** Default: `toolu_<call>_<place>`. */
  readonly id?: string;
}

/** A message that the scripted model says. */
export interface SaidMessage {
  readonly blocks: readonly SaidBlock[];
  readonly stop: string;
  readonly pauseMs?: number | undefined;
  readonly rest?: Promise<unknown> | undefined;
}

type SaidBlock =
  | { readonly type: 'text'; readonly pieces: readonly string[] }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown };

/** What `stall`, `cut` and `max_tokens` say before they end. */
export const halfText = 'Half an ';

const inputUsage = { input_tokens: 10, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 };
const outputUsage = { output_tokens: 5 };

/**
 * The message behind an answer; `undefined` where the answer is none or is given event by event. `index` makes tool ids
 * differ; `asked` is how it is asked for.
 */
export function saidMessage(answer: ModelAnswer, index: number, asked?: unknown): SaidMessage | undefined {
  if (answer === 'empty') return { blocks: [], stop: 'end_turn' };
  if (answer === 'refusal') return { blocks: [], stop: 'refusal' };
  if (answer === 'max_tokens') return { blocks: [{ type: 'text', pieces: [halfText] }], stop: 'max_tokens' };
  if (typeof answer === 'string') return undefined;
  if ('json' in answer) {
    return { blocks: [{ type: 'text', pieces: [JSON.stringify(answer.json)] }], stop: 'end_turn' };
  }
  if ('toolUse' in answer) {
    const text: readonly SaidBlock[] =
      answer.text === undefined ? [] : [{ type: 'text', pieces: [answer.text] }];
    const calls = answer.toolUse.map(({ name, input, id }, at): SaidBlock => {
      return { type: 'tool_use', id: id ?? `toolu_${index}_${at}`, name, input };
    });
    return { blocks: [...text, ...calls], stop: 'tool_use' };
  }
  if ('text' in answer) {
    const pieces = typeof answer.text === 'string' ? [inSummarySchema(answer.text, asked)] : answer.text;
    const blocks: readonly SaidBlock[] = [{ type: 'text', pieces }];
    return { blocks, stop: 'end_turn', pauseMs: answer.pauseMs, rest: answer.rest };
  }
  return undefined;
}

/** The message as one JSON object. It costs 10 tokens in, 5 out, 3 read from the cache, 2 written to it. */
export function wholeMessage(said: SaidMessage): object {
  const content = said.blocks.map((block) =>
    block.type === 'text' ? { type: 'text', text: block.pieces.join('') } : block,
  );
  return { ...envelope(content), stop_reason: said.stop, usage: { ...inputUsage, ...outputUsage } };
}

/** The message as events of a stream, at the same cost. */
export function streamedMessage(said: SaidMessage): readonly object[] {
  const blocks = said.blocks.flatMap((block, index) => {
    if (block.type === 'text') {
      const deltas = block.pieces.map((text) => ({ type: 'text_delta', text }));
      return blockEvents(index, { type: 'text', text: '' }, deltas);
    }
    const json = JSON.stringify(block.input);
    const middle = Math.ceil(json.length / 2);
    return blockEvents(index, { ...block, input: {} }, [
      { type: 'input_json_delta', partial_json: json.slice(0, middle) },
      { type: 'input_json_delta', partial_json: json.slice(middle) },
    ]);
  });
  const events = messageEvents(blocks, said.stop);
  const { pauseMs, rest: until } = said;
  const firstSaid = events.findIndex((event) => 'delta' in event);
  return events.flatMap((event, index) => [
    event,
    ...(pauseMs === undefined ? [] : [{ pauseMs }]),
    ...(until === undefined || index !== firstSaid ? [] : [{ until }]),
  ]);
}

/** The beginning of a message that is never ended. */
export function brokenMessage(): readonly object[] {
  return streamedMessage({ blocks: [{ type: 'text', pieces: [halfText] }], stop: 'end_turn' }).slice(0, -3);
}

/** An event as it is sent. */
export function eventText(event: object): string {
  const name = 'type' in event ? String(event.type) : 'message';
  return `event: ${name}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The events of one content block, for unusual answers. */
export function blockEvents(index: number, block: object, deltas: readonly object[]): readonly object[] {
  return [
    { type: 'content_block_start', index, content_block: block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

/** The events of a whole message around those of its blocks, for unusual answers. */
export function messageEvents(blocks: readonly object[], stop: string): readonly object[] {
  return [
    { type: 'message_start', message: { ...envelope([]), usage: { ...inputUsage, output_tokens: 1 } } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason: stop }, usage: outputUsage },
    { type: 'message_stop' },
  ];
}

function envelope(content: readonly object[]): object {
  return { id: 'msg_1', type: 'message', role: 'assistant', model: 'scripted', content };
}
