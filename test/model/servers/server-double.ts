import type { ModelFeature } from '../../../src/core/model.ts';
import type { ModelAnswer } from '../../support/model-answer.ts';
import type { MessagesBlock, MessagesBody, ModelScript } from '../../support/model-server.ts';
import { lastTokensOf, tokensIn } from './tokens.ts';

/** Whether a request, as it came over the wire, has a feature. */
export const isIn: Readonly<Record<ModelFeature, (body: MessagesBody) => boolean>> = {
  'schema keywords': ({ tools = [], output_config: config }) =>
    // Each schema here, or what the client adds to it, has a keyword that is none of the plain ones.
    /"(?:additionalProperties|pattern|min\w+|max\w+|exclusive\w+|anyOf|const|title)":/u.test(
      JSON.stringify([tools, config?.format]),
    ),
  'structured output': ({ output_config: config }) => config?.format !== undefined,
  'hour-long cache': (body) => marksIn(body).some((mark) => 'ttl' in mark),
  'cache marks': (body) => marksIn(body).length > 0,
  tools: (body) => body.tools !== undefined || hasBlock(body, 'tool_use') || hasBlock(body, 'tool_result'),
  thinking: (body) => body.output_config?.effort !== undefined || hasBlock(body, 'thinking'),
  pictures: (body) => hasBlock(body, 'image'),
  documents: (body) => hasBlock(body, 'document'),
};

function hasBlock({ messages = [] }: MessagesBody, type: string): boolean {
  return messages.some(({ content }) => content.some((block) => block.type === type));
}

function marksIn(body: MessagesBody): readonly object[] {
  return blocksIn(body).flatMap(({ cache_control: mark }) =>
    typeof mark === 'object' && mark !== null ? [mark] : [],
  );
}

export function blocksIn({ system = [], messages = [] }: MessagesBody): readonly MessagesBlock[] {
  return [...system, ...messages.flatMap(({ content }) => content)];
}

export type Refusals = Partial<Readonly<Record<ModelFeature, ModelAnswer>>>;

/** What a server tells that it refuses of a request: the first of those that it refuses, in their order. */
export function refusedOf(refusals: Refusals, body: MessagesBody): ModelFeature | undefined {
  return Object.keys(refusals)
    .filter((name): name is ModelFeature => name in isIn)
    .find((name) => isIn[name](body));
}

/** A server that refuses some features, and otherwise answers by the script. */
export function refusing(refusals: Refusals, script: ModelScript): ModelScript {
  return (body, index) => {
    const refused = refusedOf(refusals, body);
    return (refused === undefined ? undefined : refusals[refused]) ?? script(body, index);
  };
}

/** What a model answers, by what it is asked with. */
export type Mind = (asked: Asked) => Spoken;

export interface Asked {
  /** As much of the request as it sees. */
  readonly body: MessagesBody;
  readonly hasTools: boolean;
  /** JSON by a schema that its server holds it to, or because words ask for it. */
  readonly json: 'held to' | 'asked for' | undefined;
}

export interface Spoken {
  /** In a block of their own, before all else. */
  readonly thoughts?: { readonly thinking: string; readonly signature?: string };
  readonly text?: string;
  readonly toolUse?: { readonly name: string; readonly input: Readonly<Record<string, unknown>> };
}

interface Sizes {
  /** Tokens of the prompt, of the answer at most, and that the server takes. */
  readonly prompt: number;
  readonly answer: number;
  readonly context: number;
}

/** A server that speaks the Messages API in part, as far as is publicly known of the one that it is named after, or else as such servers do. */
export interface ServerDouble {
  readonly name: string;
  /** The model that it serves, its list of all in its own form, and the key where it wants one. */
  readonly model: string;
  readonly list: object;
  readonly apiKey?: string;
  /** What it refuses, with the words that it has for that. */
  readonly refusals: Refusals;
  /** What else it finds wrong with a request. */
  readonly objection?: (body: MessagesBody) => ModelAnswer | undefined;
  /** Calls that go wrong by themselves, counted from 0. */
  readonly faults?: Readonly<Record<number, ModelAnswer>>;
  readonly contextTokens: number;
  /** What it says where that is too little; absent: it forgets the beginning in silence, and counts the rest. */
  readonly overflow?: (sizes: Sizes) => ModelAnswer | undefined;
  /** Whether it takes a schema and gives no heed to it. */
  readonly ignoresSchema?: true;
  /** How its model puts what it says. */
  readonly puts?: (spoken: Spoken, body: MessagesBody) => Spoken;
  /** The form of its answers. `prompt`: the tokens that it counts. */
  readonly send: (spoken: Spoken, call: { readonly index: number; readonly prompt: number }) => ModelAnswer;
}

export function serverDouble(server: ServerDouble, mind: Mind): ModelScript {
  const { refusals, objection, faults, contextTokens, overflow, ignoresSchema, puts, send } = server;
  const answer = refusing(refusals, (body, index) => {
    const prompt = tokensIn(body);
    const wrong =
      objection?.(body) ?? overflow?.({ prompt, answer: body.max_tokens ?? 0, context: contextTokens });
    if (wrong !== undefined) return wrong;
    const seen = overflow === undefined ? lastTokensOf(body, contextTokens) : body;
    const isAskedInWords = seen.system?.some(({ text = '' }) => text.includes('JSON Schema')) === true;
    const isHeld = isIn['structured output'](body) && ignoresSchema === undefined;
    const json = isHeld ? 'held to' : isAskedInWords ? 'asked for' : undefined;
    const spoken = mind({ body: seen, hasTools: seen.tools !== undefined, json });
    return send(puts?.(spoken, body) ?? spoken, { index, prompt: Math.min(prompt, contextTokens) });
  });
  return (body, index) => faults?.[index] ?? answer(body, index);
}
