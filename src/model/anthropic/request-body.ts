import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema';
import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  MessageParam,
  OutputConfig,
  TextBlockParam,
  Tool,
} from '@anthropic-ai/sdk/resources/messages';

import { oncePer } from '../../core/limits.ts';
import {
  noUsage,
  type CacheLife,
  type ModelMessage,
  type ModelPurpose,
  type ModelRequest,
  type ModelUsage,
  type TextBlock,
  type ToolDefinition,
} from '../../core/model.ts';
import { wellFormed } from '../../core/text.ts';
import { resolveModel, thinksFirst } from './models.ts';
import { reasoningSchema } from './response.ts';

/** The vendor accepts this many cache marks a request. */
const maxCacheMarks = 4;

/** Thinking counts towards the vendor's output limit, and must not eat up the answer's. */
const thinkingTokens = 4_000;

const effortFor: Readonly<Record<ModelPurpose, 'low' | 'medium'>> = {
  chat: 'medium',
  summary: 'low',
  condense: 'low',
  extraction: 'low',
  'channel-notes': 'low',
  reflection: 'low',
  trim: 'low',
  'catch-up': 'low',
};

/**
 * The request as the Messages API takes it. Equal requests give equal bytes, so that the vendor's cache holds [P2]. Of more
 * than four cache marks the last four count, as they cover the most; texts without a visible character, which the API refuses, are left out,
 * and so are lone halves of characters [S5].
 */
export function requestBody(request: ModelRequest): MessageCreateParamsStreaming {
  const model = resolveModel(request.model);
  const thinks = request.thinks !== false && thinksFirst(model);
  const system = request.system.filter(isVisible).map(textParam);
  const messages = request.messages.map(messageParam).filter((message) => message.content.length > 0);
  keepLastMarks([...system, ...messages.flatMap((message) => message.content)]);
  const { tools = [] } = request;
  return {
    model,
    max_tokens: request.maxTokens + (thinks ? thinkingTokens : 0),
    stream: true,
    tools: tools.length > 0 ? tools.map(toolParam) : undefined,
    system: system.length > 0 ? system : undefined,
    messages,
    output_config: outputConfig(request, thinks),
  };
}

/** Tokens that the vendor adds of its own, for tools and structured answers. */
const addedTokens = 1000;
/** Of one picture, and of one PDF as a multiple of its bytes in base64: its pages count as text and as pictures. */
const imageTokens = 5000;
const documentFactor = 2;
/** The longest prompt that a model takes. */
const contextTokens = 1_000_000;

/**
 * The most that a request can use [L2]: a token has at least a byte, all is written to the cache where any of it is, for as long as its
 * longest mark says, and the answer is as long as it may be.
 */
export function largestUsage(body: MessageCreateParamsStreaming): ModelUsage {
  const { system = [], messages } = body;
  const blocks = [system, ...messages.map(({ content }) => content)].flatMap((content) =>
    typeof content === 'string' ? [] : content,
  );
  let tokens = Buffer.byteLength(JSON.stringify(body)) + addedTokens;
  for (const block of blocks) {
    if (block.type !== 'image' && block.type !== 'document') continue;
    const encoded = block.source.type === 'base64' ? block.source.data.length : 0;
    tokens += (block.type === 'image' ? imageTokens : encoded * documentFactor) - encoded;
  }
  const input = Math.min(contextTokens, tokens);
  const marks = blocks.flatMap((block) => ('cache_control' in block ? (block.cache_control ?? []) : []));
  const isWritten = marks.length > 0;
  return {
    ...noUsage,
    inputTokens: isWritten ? 0 : input,
    cacheWriteTokens: isWritten ? input : 0,
    cacheHourTokens: marks.some(({ ttl }) => ttl === '1h') ? input : 0,
    outputTokens: body.max_tokens,
  };
}

function outputConfig(
  { purpose, outputSchema: schema }: ModelRequest,
  thinks: boolean,
): OutputConfig | undefined {
  if (!thinks && schema === undefined) return undefined;
  return {
    effort: thinks ? effortFor[purpose] : undefined,
    format: schema && { type: 'json_schema', schema: transformJSONSchema({ ...schema }) },
  };
}

function toolParam(tool: ToolDefinition): Tool {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: schemaParam(tool.inputSchema),
  };
}

const schemaParam = oncePer((schema: ToolDefinition['inputSchema']): Tool['input_schema'] => ({
  ...schema,
  type: 'object',
}));

function messageParam(message: ModelMessage): MessageParam & { content: ContentBlockParam[] } {
  return { role: message.role, content: message.content.flatMap(blockParam) };
}

function blockParam(block: ModelMessage['content'][number]): ContentBlockParam[] {
  switch (block.type) {
    case 'text':
      return isVisible(block) ? [textParam(block)] : [];
    case 'tool_use':
      return [{ type: 'tool_use', id: block.id, name: block.name, input: wellFormed(block.input) }];
    case 'tool_result':
      return [
        {
          type: 'tool_result',
          tool_use_id: block.toolUseId,
          content: block.text.toWellFormed(),
          is_error: block.isError,
          cache_control: markParam(block.cache),
        },
      ];
    case 'image':
      return [{ type: 'image', source: { type: 'base64', media_type: block.mediaType, data: block.data } }];
    case 'document':
      return [
        {
          type: 'document',
          title: block.title.toWellFormed(),
          source: { type: 'base64', media_type: 'application/pdf', data: block.data },
        },
      ];
    case 'reasoning': {
      const reasoning = reasoningSchema.safeParse(block.vendor);
      return reasoning.success ? [reasoning.data] : [];
    }
  }
}

function textParam({ text, cache }: TextBlock): TextBlockParam {
  return { type: 'text', text: text.toWellFormed(), cache_control: markParam(cache) };
}

function markParam(cache: CacheLife | undefined): TextBlockParam['cache_control'] {
  return cache && { type: 'ephemeral', ttl: cache === '1h' ? '1h' : undefined };
}

function isVisible(block: TextBlock): boolean {
  return /\S/u.test(block.text);
}

function keepLastMarks(blocks: readonly ContentBlockParam[]): void {
  const marked = blocks.flatMap((block) => ('cache_control' in block && block.cache_control ? [block] : []));
  for (const block of marked.slice(0, -maxCacheMarks)) delete block.cache_control;
}
