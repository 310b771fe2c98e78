import type { ModelFeature } from '../../src/core/model.ts';
import { blockEvents, messageEvents, type ModelAnswer } from './model-answer.ts';
import type { MessagesBody, ModelScript } from './model-server.ts';

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

function marksIn({ system = [], messages = [] }: MessagesBody): readonly object[] {
  const blocks = [...system, ...messages.flatMap(({ content }) => content)];
  return blocks.flatMap(({ cache_control: mark }) =>
    typeof mark === 'object' && mark !== null ? [mark] : [],
  );
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

/** What a model of few talents would answer, by what it is asked with. */
export type Mind = (asked: {
  readonly body: MessagesBody;
  readonly hasTools: boolean;
  /** It is asked for JSON in a way that the server heeds: by its schema, or in words. */
  readonly wantsJson: boolean;
}) => Spoken;

interface Spoken {
  readonly text?: string;
  readonly toolUse?: { readonly name: string; readonly input: unknown };
}

/** A server that speaks the Messages API in part, as far as is publicly known of the one that it is named after, or else as such servers do. */
export interface PartialServer {
  readonly name: string;
  /** The model that it serves, its list of all in its own form, and the key where it wants one. */
  readonly model: string;
  readonly list: object;
  readonly apiKey?: string;
  /** What it refuses, with the words that it has for that. */
  readonly refusals: Refusals;
  /** Whether it takes a schema and gives no heed to it. */
  readonly ignoresSchema?: true;
  /** The form of its answers. */
  readonly say: (spoken: Spoken, index: number) => ModelAnswer;
}

export function partialServer(server: PartialServer, mind: Mind): ModelScript {
  return refusing(server.refusals, (body, index) => {
    const isAskedInWords = body.system?.some(({ text = '' }) => text.includes('JSON Schema')) === true;
    const isAskedBySchema = isIn['structured output'](body) && server.ignoresSchema === undefined;
    const spoken = mind({
      body,
      hasTools: body.tools !== undefined,
      wantsJson: isAskedInWords || isAskedBySchema,
    });
    return server.say(spoken, index);
  });
}

function blocksOf({ text, toolUse }: Spoken, id: string | undefined): readonly object[] {
  return [
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...(toolUse === undefined ? [] : [{ type: 'tool_use', ...(id !== undefined && { id }), ...toolUse }]),
  ];
}

/** Streamed, without pings and without counts of a cache. */
function streamed(spoken: Spoken, id: string): ModelAnswer {
  const blocks = blocksOf(spoken, id).flatMap((block, index) => [
    { type: 'content_block_start', index, content_block: block },
    { type: 'content_block_stop', index },
  ]);
  const stop_reason = spoken.toolUse === undefined ? 'end_turn' : 'tool_use';
  return {
    events: [
      {
        type: 'message_start',
        message: { role: 'assistant', content: [], usage: { input_tokens: 0, output_tokens: 0 } },
      },
      ...blocks,
      { type: 'message_delta', delta: { stop_reason }, usage: { input_tokens: 30, output_tokens: 6 } },
      { type: 'message_stop' },
    ],
  };
}

function listed(...ids: readonly string[]): readonly object[] {
  return ids.map((id) => ({ id, object: 'model', created: 1, owned_by: 'somebody' }));
}

/** With a model that has no template for tools. Cache marks, schemas and PDFs are passed over in silence. */
export const ollama: PartialServer = {
  name: 'Ollama',
  model: 'gemma3:4b',
  list: { object: 'list', data: [{ id: 'gemma3:4b', object: 'model', created: 1, owned_by: 'library' }] },
  refusals: {
    tools: {
      status: 400,
      body: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'registry.ollama.ai/library/gemma3:4b does not support tools',
        },
        request_id: 'req_1',
      },
    },
  },
  ignoresSchema: true,
  say: (spoken, index) => streamed(spoken, `call_${index}`),
};

/** With a model that sees no pictures. It refuses by 500, and passes over schemas and cache marks. */
export const llamaCpp: PartialServer = {
  name: 'llama.cpp',
  model: 'qwen3',
  list: { models: [{ name: 'qwen3' }], object: 'list', data: [{ id: 'qwen3', object: 'model', meta: null }] },
  refusals: {
    pictures: {
      status: 500,
      body: {
        error: {
          code: 500,
          message:
            'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
          type: 'server_error',
        },
      },
    },
  },
  ignoresSchema: true,
  say: (spoken, index) => streamed(spoken, `call_${index}`),
};

/** Strict about fields that it does not know; its tool calls have no ids, and its streams neither stop reason nor counts at their end. */
export const lmStudio: PartialServer = {
  name: 'LM Studio',
  model: 'ibm/granite-4-micro',
  list: { data: listed('text-embedding-nomic-embed-text-v1.5', 'ibm/granite-4-micro'), object: 'list' },
  refusals: {
    'structured output': {
      status: 400,
      body: {
        error: { type: 'invalid_request_error', message: "Unrecognized key(s) in object: 'output_config'" },
      },
    },
    'cache marks': {
      status: 400,
      body: {
        error: { type: 'invalid_request_error', message: "Unrecognized key(s) in object: 'cache_control'" },
      },
    },
  },
  say: (spoken) => ({
    events: [
      { type: 'message_start', message: {} },
      { type: 'ping' },
      ...blocksOf(spoken, '').flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_stop' },
    ],
  }),
};

/** Started without a parser of tool calls, with a model that sees no pictures. It heeds schemas, and passes over cache marks. */
export const vllm: PartialServer = {
  name: 'vLLM',
  model: 'Qwen/Qwen3-8B',
  list: { object: 'list', data: listed('Qwen/Qwen3-8B') },
  refusals: {
    tools: badRequest(
      '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    ),
    pictures: badRequest('Qwen/Qwen3-8B is not a multimodal model'),
  },
  say: ({ text = '' }) => ({
    events: messageEvents(
      blockEvents(0, { type: 'text', text: '' }, [{ type: 'text_delta', text }]),
      'end_turn',
    ),
  }),
};

function badRequest(message: string): ModelAnswer {
  return { status: 400, body: { type: 'error', error: { type: 'BadRequestError', message } } };
}

/** Translates for a model elsewhere that has no schemas and sees no pictures; each answer begins with a text, if an empty one. */
export const liteLlm: PartialServer = {
  name: 'LiteLLM',
  model: 'mistral-local',
  list: { data: listed('gpt-5', 'mistral-local'), object: 'list' },
  apiKey: 'sk-litellm-of-the-test',
  refusals: {
    'structured output': unsupportedByLiteLlm(
      "litellm.UnsupportedParamsError: ollama_chat does not support parameters: ['response_format'], for model=mistral-local. To drop these, set `litellm.drop_params=True` or for proxy:\n\n`litellm_settings:\n drop_params: true`\n",
    ),
    pictures: unsupportedByLiteLlm(
      'litellm.BadRequestError: Hosted_vllmException - mistral-local is not a multimodal model. Received Model Group=mistral-local\nAvailable Model Group Fallbacks=None',
    ),
  },
  say: ({ text = '', toolUse }, index) => ({
    events: messageEvents(
      [
        ...blockEvents(0, { type: 'text', text: '' }, text === '' ? [] : [{ type: 'text_delta', text }]),
        ...(toolUse === undefined
          ? []
          : blockEvents(1, { type: 'tool_use', id: `call_${index}`, name: toolUse.name, input: {} }, [
              { type: 'input_json_delta', partial_json: JSON.stringify(toolUse.input) },
            ])),
      ],
      toolUse === undefined ? 'end_turn' : 'tool_use',
    ),
  }),
};

function unsupportedByLiteLlm(message: string): ModelAnswer {
  return { status: 400, body: { error: { message, type: 'None', param: 'None', code: '400' } } };
}

/** The vendor's own, which has everything. */
export const anthropic: PartialServer = {
  name: 'Anthropic',
  model: 'claude-sonnet-5-5',
  list: {
    data: ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5'].map((id) => ({ type: 'model', id })),
    has_more: false,
    first_id: 'claude-opus-5-5',
    last_id: 'claude-haiku-5-5',
  },
  apiKey: 'sk-ant-of-the-test',
  refusals: {},
  say: ({ text = '' }) => ({ text }),
};

/** Routes to a model that neither thinks, calls tools nor sees; whatever is asked for, it answers in one piece. */
export const openRouter: PartialServer = {
  name: 'OpenRouter',
  model: 'claude-sonnet-5-5',
  list: {
    data: [
      { id: 'mistralai/mistral-small', name: 'Mistral Small', pricing: {} },
      { id: 'claude-sonnet-5-5', name: 'Sonnet' },
    ],
  },
  apiKey: 'sk-or-of-the-test',
  refusals: {
    'cache marks': { status: 400, error: 'system.0.cache_control: Extra inputs are not permitted' },
    tools: notFound('No endpoints found that support tool use. Try disabling "memory_list".'),
    thinking: notFound('No endpoints found that support reasoning'),
    'structured output': notFound('No endpoints found that support structured outputs'),
    pictures: notFound('No endpoints found that support image input'),
  },
  say: (spoken) => ({
    message: {
      content: blocksOf(spoken, undefined),
      stop_reason: spoken.toolUse === undefined ? 'stop' : 'tool_calls',
    },
  }),
};

function notFound(message: string): ModelAnswer {
  return { status: 404, body: { error: { message, code: 404 } } };
}
