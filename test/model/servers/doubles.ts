import { blockEvents, type ModelAnswer } from '../../support/model-answer.ts';
import type { MessagesBlock, MessagesBody } from '../../support/model-server.ts';
import { blocksIn, type ServerDouble, type Spoken } from './server-double.ts';

/** In no answer that people may read, and in no request. */
export const privateWords = 'private words';

/** In no answer, but in requests of the same turn. */
export const unsignedThoughts = 'It may be tea, or coffee.';

/** By default a model has so few, and what is before them is forgotten. Cache marks, schemas and PDFs are passed over. */
export const ollama: ServerDouble = {
  name: 'Ollama',
  model: 'qwen3:8b',
  list: { object: 'list', data: listed('qwen3:8b', 'deepseek-r1:8b') },
  refusals: {},
  ignoresSchema: true,
  contextTokens: 4_096,
  puts: thinking(`<think>\nThe { begins it.\n\n${privateWords}\n</think>\n\n`),
  send: streamed,
};

/** With a model that has no template for tools, and thinks from the first word on. */
export const ollamaWithoutTools: ServerDouble = {
  ...ollama,
  name: 'Ollama without tools',
  model: 'deepseek-r1:8b',
  refusals: {
    tools: {
      status: 400,
      body: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'registry.ollama.ai/library/deepseek-r1:8b does not support tools',
        },
        request_id: 'req_1',
      },
    },
  },
  puts: thinking(`Okay, ${privateWords} about that.\n\nMore ${privateWords}.\n</think>\n\n`),
};

/** Without a parser for the model's calls, which come as text. It sees no pictures, and passes over schemas of answers and cache marks. */
export const llamaCpp: ServerDouble = {
  name: 'llama.cpp',
  model: 'qwen3',
  list: { models: [{ name: 'qwen3' }], object: 'list', data: [{ id: 'qwen3', object: 'model', meta: null }] },
  refusals: {
    pictures: byLlamaCpp(
      500,
      'server_error',
      'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
    ),
    'schema keywords': byLlamaCpp(
      400,
      'invalid_request_error',
      'Failed to initialize samplers: failed to parse grammar',
    ),
  },
  ignoresSchema: true,
  contextTokens: 12_288,
  overflow: ({ prompt, context }) =>
    prompt < context
      ? undefined
      : byLlamaCpp(
          400,
          'exceed_context_size_error',
          `request (${prompt} tokens) exceeds the available context size (${context} tokens), try increasing it`,
          { n_prompt_tokens: prompt, n_ctx: context },
        ),
  puts: ({ text = '', toolUse }) => {
    const call =
      toolUse &&
      `<tool_call>\n${JSON.stringify({ name: toolUse.name, arguments: toolUse.input })}\n</tool_call>`;
    return {
      text: text === '' && call === undefined ? '' : `${[text, call].filter(Boolean).join('\n')}<|im_end|>`,
    };
  },
  send: streamed,
};

function byLlamaCpp(code: number, type: string, message: string, more: object = {}): ModelAnswer {
  return { status: code, body: { error: { code, message, type, ...more } } };
}

/** What it takes, by the kind of what holds it; all else is refused. */
const knownToLmStudio: Readonly<Record<string, readonly string[]>> = {
  request: ['model', 'max_tokens', 'stream', 'system', 'messages', 'tools'],
  text: ['text'],
  image: ['source'],
  tool_use: ['id', 'name', 'input'],
  tool_result: ['tool_use_id', 'content', 'is_error'],
};

/** Strict about fields that it does not know. Its streams have no ids, stop reasons or counts, and one index for all blocks. */
export const lmStudio: ServerDouble = {
  name: 'LM Studio',
  model: 'ibm/granite-4-micro',
  list: { data: listed('text-embedding-nomic-embed-text-v1.5', 'ibm/granite-4-micro'), object: 'list' },
  refusals: {},
  objection: (body) => {
    const unknown = [{ ...body, type: 'request' }, ...blocksIn(body)].flatMap(({ type, ...fields }) =>
      Object.keys(fields).filter((name) => knownToLmStudio[type]?.includes(name) !== true),
    );
    return unknown.length === 0
      ? undefined
      : byLmStudio(
          `Unrecognized key(s) in object: ${[...new Set(unknown)].map((name) => `'${name}'`).join(', ')}`,
        );
  },
  contextTokens: 12_288,
  overflow: ({ prompt, context }) =>
    prompt < context
      ? undefined
      : byLmStudio(
          `Trying to keep the first ${prompt} tokens when context the overflows. However, the model is loaded with context length of only ${context} tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input`,
        ),
  send: (spoken) => ({
    events: [
      { type: 'message_start', message: {} },
      { type: 'ping' },
      ...blocksOf(spoken, '').flatMap((block) => blockEvents(0, block, [])),
      { type: 'message_stop' },
    ],
  }),
};

function byLmStudio(message: string): ModelAnswer {
  return { status: 400, body: { error: { type: 'invalid_request_error', message } } };
}

/** Its model's thoughts have no signature and must come back with the calls. It heeds schemas, sees no pictures, and passes over cache marks. */
export const vllm: ServerDouble = {
  name: 'vLLM',
  model: 'Qwen/Qwen3-8B',
  list: { object: 'list', data: listed('Qwen/Qwen3-8B') },
  refusals: { pictures: byVllm('Qwen/Qwen3-8B is not a multimodal model') },
  objection: (body) =>
    hasLostThoughts(body)
      ? byVllm('The `content[].thinking` in the thinking mode must be passed back to the API.')
      : undefined,
  contextTokens: 12_288,
  overflow: ({ prompt, answer, context }) => {
    if (prompt >= context)
      return byVllm(
        `This model's maximum context length is ${context} tokens. However, your request has ${prompt} input tokens. Please reduce the length of the input messages.`,
      );
    return prompt + answer <= context
      ? undefined
      : byVllm(
          `'max_tokens' or 'max_completion_tokens' is too large: ${answer}. This model's maximum context length is ${context} tokens and your request has ${prompt} input tokens (${answer} > ${context} - ${prompt}).`,
        );
  },
  puts: (spoken) => ({ ...spoken, thoughts: { thinking: unsignedThoughts } }),
  send: streamed,
};

/** Started without a parser of tool calls. */
export const vllmWithoutTools: ServerDouble = {
  ...vllm,
  name: 'vLLM without tools',
  refusals: {
    ...vllm.refusals,
    tools: byVllm('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
  },
};

function byVllm(message: string): ModelAnswer {
  return { status: 400, body: { type: 'error', error: { type: 'BadRequestError', message } } };
}

/** Translates for a model elsewhere without schemas and pictures, where two calls fail; each answer begins with a text, if an empty one. */
export const liteLlm: ServerDouble = {
  name: 'LiteLLM',
  model: 'mistral-local',
  list: { data: listed('gpt-5', 'mistral-local'), object: 'list' },
  apiKey: 'sk-litellm-of-the-test',
  refusals: {
    'structured output': {
      status: 400,
      body: byLiteLlm(
        "litellm.UnsupportedParamsError: ollama_chat does not support parameters: ['response_format'], for model=mistral-local. To drop these, set `litellm.drop_params=True` or for proxy:\n\n`litellm_settings:\n drop_params: true`\n",
      ),
    },
    pictures: {
      status: 400,
      body: byLiteLlm(
        'litellm.BadRequestError: Hosted_vllmException - mistral-local is not a multimodal model. Received Model Group=mistral-local\nAvailable Model Group Fallbacks=None',
      ),
    },
  },
  faults: {
    2: {
      message: byLiteLlm(
        'litellm.RateLimitError: RateLimitError: Hosted_vllmException - Rate limited',
        '429',
      ),
    },
    5: {
      events: [
        {
          bytes: Buffer.from(
            `data: ${JSON.stringify(byLiteLlm('litellm.InternalServerError: Overloaded', '500'))}\n\n`,
          ),
        },
      ],
    },
  },
  contextTokens: 12_288,
  overflow: ({ prompt, context }) =>
    prompt < context
      ? undefined
      : {
          status: 400,
          body: byLiteLlm(
            `litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: Hosted_vllmException - This model's maximum context length is ${context} tokens. However, your messages resulted in ${prompt} tokens. Please reduce the length of the messages.. Received Model Group=mistral-local\nAvailable Model Group Fallbacks=None`,
          ),
        },
  send: ({ text = '', ...spoken }, call) => streamed({ ...spoken, text }, call),
};

function byLiteLlm(message: string, code = '400') {
  return { error: { message, type: 'None', param: 'None', code } };
}

/** Routes to a model that calls tools in its own way, for somebody whose credit is nearly gone. It answers in one piece, or in deltas that nothing begins. */
export const openRouter: ServerDouble = {
  name: 'OpenRouter',
  model: 'claude-sonnet-5-5',
  list: {
    data: [
      { id: 'mistralai/mistral-small', name: 'Mistral Small', pricing: {} },
      { id: 'claude-sonnet-5-5', name: 'Sonnet' },
    ],
  },
  apiKey: 'sk-or-of-the-test',
  refusals: { 'structured output': notFound('No endpoints found that support structured outputs') },
  objection: ({ max_tokens: asked = 0 }) =>
    asked <= affordable
      ? undefined
      : {
          status: 402,
          body: {
            error: {
              message: `This request requires more credits, or fewer max_tokens. You requested up to ${asked} tokens, but can only afford ${affordable}. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account`,
              code: 402,
            },
          },
        },
  contextTokens: 32_768,
  overflow: ({ prompt, answer, context }) =>
    prompt + answer <= context
      ? undefined
      : {
          status: 400,
          body: {
            error: {
              message: `This endpoint's maximum context length is ${context} tokens. However, you requested about ${prompt + answer} tokens (${prompt} of text input, ${answer} in the output). Please reduce the length of either one, or use the context-compression plugin.`,
              code: 400,
            },
          },
        },
  puts: ({ toolUse, ...spoken }, { tools = [] }) =>
    toolUse === undefined
      ? spoken
      : { ...spoken, toolUse: { name: `functions.${toolUse.name}`, input: looseInput(toolUse, tools) } },
  send: (spoken, { index, prompt }) => {
    const usage = { input_tokens: prompt, output_tokens: 6 };
    if (spoken.toolUse !== undefined || index % 2 === 0)
      return {
        message: {
          content: blocksOf(spoken, undefined),
          stop_reason: spoken.toolUse === undefined ? 'stop' : 'tool_calls',
          usage,
        },
      };
    return {
      events: [
        { type: 'message_start', message: { role: 'assistant', content: [] } },
        ...piecesOf(spoken.text ?? '').map((text) => ({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'text_delta', text },
        })),
        { type: 'message_delta', delta: { stop_reason: 'stop' }, usage },
        { type: 'message_stop' },
      ],
    };
  },
};

const affordable = 1_200;

/** Routes to one that neither thinks, calls tools nor sees. */
export const openRouterWithoutTools: ServerDouble = {
  ...openRouter,
  name: 'OpenRouter without tools',
  refusals: {
    'cache marks': { status: 400, error: 'system.0.cache_control: Extra inputs are not permitted' },
    tools: notFound('No endpoints found that support tool use. Try disabling "memory_list".'),
    thinking: notFound('No endpoints found that support reasoning'),
    pictures: notFound('No endpoints found that support image input'),
    ...openRouter.refusals,
  },
};

/** A list as text, another case, and `null` for what is left out. */
function looseInput(
  { name, input }: NonNullable<Spoken['toolUse']>,
  tools: NonNullable<MessagesBody['tools']>,
) {
  const schema = Object(tools.find((tool) => tool.name === name)?.['input_schema']);
  const fields = Object.keys(Object(schema.properties)).map((field) => {
    const value = input[field];
    if (Array.isArray(value)) return [field, JSON.stringify(value)];
    const isName = typeof value === 'string' && ['kind', 'action', 'scope'].includes(field);
    return [field, isName ? value.charAt(0).toUpperCase() + value.slice(1) : (value ?? null)];
  });
  return Object.fromEntries(fields);
}

function notFound(message: string): ModelAnswer {
  return { status: 404, body: { error: { message, code: 404 } } };
}

/** The vendor's own, which has everything, and is strict. */
export const anthropic: ServerDouble = {
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
  objection: (body) => {
    const said = objectionOfVendor(body);
    return said === undefined ? undefined : { status: 400, error: said };
  },
  contextTokens: 200_000,
  overflow: ({ prompt, context }) =>
    prompt <= context
      ? undefined
      : { status: 400, error: `prompt is too long: ${prompt} tokens > ${context} maximum` },
  puts: (spoken) => ({ ...spoken, thoughts: { thinking: '', signature } }),
  send: streamed,
};

const signature = 'EqQBCgIYAhIM';

function objectionOfVendor(body: MessagesBody): string | undefined {
  const { messages = [] } = body;
  const marks = blocksIn(body).filter((block) => block['cache_control'] !== undefined).length;
  if (marks > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`;
  if (blocksIn(body).some(({ type, text }) => type === 'text' && text?.trim() === ''))
    return 'messages: text content blocks must be non-empty';
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  if (hasLostThoughts(body, signature))
    return 'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`';
  const unanswered = messages.some(({ content }, index) => {
    const results = messages[index + 1]?.content.map((block) => block['tool_use_id']) ?? [];
    return content.some(({ type, id }) => type === 'tool_use' && !results.includes(id));
  });
  return unanswered ? '`tool_use` ids were found without `tool_result` blocks immediately after' : undefined;
}

/** Whether a call of the turn comes back without the thoughts that came before it. */
function hasLostThoughts({ messages = [] }: MessagesBody, signed?: string): boolean {
  return messages.some(
    ({ content }) =>
      content.some(({ type }) => type === 'tool_use') &&
      (content[0]?.type !== 'thinking' || content[0]['signature'] !== signed),
  );
}

function thinking(thoughts: string): NonNullable<ServerDouble['puts']> {
  return ({ text = '', ...spoken }) => ({ ...spoken, text: thoughts + text });
}

/** Cut anywhere. */
function piecesOf(text: string): readonly string[] {
  return text.match(/[^]{1,7}/gu) ?? [];
}

function blocksOf({ thoughts, text, toolUse }: Spoken, id: string | undefined): readonly MessagesBlock[] {
  return [
    ...(thoughts === undefined ? [] : [{ type: 'thinking', ...thoughts }]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...(toolUse === undefined ? [] : [{ type: 'tool_use', ...(id !== undefined && { id }), ...toolUse }]),
  ];
}

/** As the vendor streams, with the counts at the end only. */
function streamed(spoken: Spoken, { index: call, prompt }: Parameters<ServerDouble['send']>[1]): ModelAnswer {
  const blocks = blocksOf(spoken, `call_${call}`).flatMap((block, index) => {
    if (block.type === 'tool_use')
      return blockEvents(
        index,
        { ...block, input: {} },
        piecesOf(JSON.stringify(block['input'])).map((json) => ({
          type: 'input_json_delta',
          partial_json: json,
        })),
      );
    if (block.text === undefined) return blockEvents(index, block, []);
    const deltas = piecesOf(block.text).map((text) => ({ type: 'text_delta', text }));
    return blockEvents(index, { type: 'text', text: '' }, deltas);
  });
  const stop_reason = spoken.toolUse === undefined ? 'end_turn' : 'tool_use';
  return {
    events: [
      {
        type: 'message_start',
        message: { role: 'assistant', content: [], usage: { input_tokens: 0, output_tokens: 0 } },
      },
      ...blocks,
      { type: 'message_delta', delta: { stop_reason }, usage: { input_tokens: prompt, output_tokens: 6 } },
      { type: 'message_stop' },
    ],
  };
}

function listed(...ids: readonly string[]): readonly object[] {
  return ids.map((id) => ({ id, object: 'model', created: 1, owned_by: 'somebody' }));
}
