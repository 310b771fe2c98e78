import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema';
import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  OutputConfig,
  TextBlockParam,
} from '@anthropic-ai/sdk/resources/messages';

import {
  estimateTokens,
  noUsage,
  type CacheLife,
  type ModelFeature,
  type ModelMessage,
  type ModelPurpose,
  type ModelRequest,
  type ModelUsage,
  type TextBlock,
} from '../../core/model.ts';
import { wellFormed } from '../../core/text.ts';
import { withMarksBroken } from '../clean-answer.ts';
import { resolveModel, thinksFirst } from './models.ts';
import { isReasoning } from './response.ts';

/** The vendor's limit. */
const maxCacheMarks = 4;

/** Added to the output limit, which thinking counts towards. */
const thinkingTokens = 4_000;

type Fields = Record<string, unknown>;

/** What the server refuses, and gets in the next best way [M9]. */
type LeftOut = readonly ModelFeature[];

/** Equal requests give equal bytes [P2]. The last four cache marks cover the most. No lone surrogates [S5]. */
export function requestBody(request: ModelRequest, leftOut: LeftOut = []): MessageCreateParamsStreaming {
  const model = resolveModel(request.model);
  const thinks = request.thinks !== false && !leftOut.includes('thinking') && thinksFirst(model);
  const schema = leftOut.includes('structured output') ? undefined : request.outputSchema;
  const system = [...request.system, ...schemaInWords(request, leftOut)].flatMap((block) =>
    textParams(block, leftOut),
  );
  const messages = request.messages
    .map(({ role, content }) => ({ role, content: content.flatMap((block) => blockParams(block, leftOut)) }))
    .filter(({ content }) => content.length > 0);
  keepLastMarks([...system, ...messages.flatMap(({ content }) => content)]);
  const tools = leftOut.includes('tools') ? [] : (request.tools ?? []);
  const isPlain = leftOut.includes('schema keywords');
  const toolParams = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: { ...(isPlain ? plainSchema(inputSchema) : inputSchema), type: 'object' as const },
  }));
  return {
    model,
    max_tokens: request.maxTokens + (thinks ? thinkingTokens : 0),
    stream: true,
    tools: tools.length > 0 ? toolParams : undefined,
    system: system.length > 0 ? system : undefined,
    messages,
    output_config: outputConfig(request.purpose, schema, thinks, isPlain),
  };
}

/** Of pictures and documents, in base64. */
export function mediaBytes(body: MessageCreateParamsStreaming): number {
  return blocksOf(body).reduce((bytes, block) => bytes + encodedBytes(block), 0);
}

/** The vendor's own tokens for tools and structured answers. */
const addedTokens = 1000;
/** Of a picture, and of a PDF per byte in base64: its pages count as text and as pictures. */
const imageTokens = 5000;
const documentFactor = 2;
/** The longest prompt that a model takes. */
const contextTokens = 1_000_000;

/** The most that a request can use [L2]: one token per byte, everything written to the cache, the longest answer. */
export function largestUsage(body: MessageCreateParamsStreaming): ModelUsage {
  const blocks = blocksOf(body);
  let tokens = Buffer.byteLength(JSON.stringify(body)) + addedTokens;
  for (const block of blocks) {
    const encoded = encodedBytes(block);
    if (block.type === 'image') tokens += imageTokens - encoded;
    if (block.type === 'document') tokens += encoded * (documentFactor - 1);
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

/** By a rule of thumb, without files and signatures. */
export function estimatedTokens(body: MessageCreateParamsStreaming): number {
  const unread = new Set(['data', 'signature']);
  const text = JSON.stringify(body, (name, value: unknown) => (unread.has(name) ? undefined : value));
  return estimateTokens(text);
}

function blocksOf({ system = [], messages }: MessageCreateParamsStreaming): readonly ContentBlockParam[] {
  return [system, ...messages.map(({ content }) => content)].flatMap((content) =>
    typeof content === 'string' ? [] : content,
  );
}

function encodedBytes(block: ContentBlockParam): number {
  const isMedia = block.type === 'image' || block.type === 'document';
  return isMedia && block.source.type === 'base64' ? block.source.data.length : 0;
}

function outputConfig(
  purpose: ModelPurpose,
  schema: ModelRequest['outputSchema'],
  thinks: boolean,
  isPlain: boolean,
): OutputConfig | undefined {
  if (!thinks && schema === undefined) return undefined;
  const effort = purpose === 'chat' ? 'medium' : 'low';
  const transform = isPlain ? plainSchema : transformJSONSchema;
  return {
    effort: thinks ? effort : undefined,
    format: schema && { type: 'json_schema', schema: transform({ ...schema }) },
  };
}

/** A schema without the keywords that some servers refuse. */
function plainSchema(schema: unknown): Fields {
  const { type, description, enum: values, required, items, properties }: Fields = Object(schema);
  const fields = Object.entries(Object(properties)).map(([name, field]) => [name, plainSchema(field)]);
  const nested = { items: items && plainSchema(items), properties: properties && Object.fromEntries(fields) };
  return { type, description, enum: values, required, ...nested };
}

function schemaInWords({ outputSchema }: ModelRequest, leftOut: LeftOut): readonly TextBlock[] {
  if (!leftOut.includes('structured output')) return [];
  const wish = 'Answer with one JSON object and nothing else: no words around it, no code fence.';
  return [{ type: 'text', text: `${wish} It has this JSON Schema:\n${JSON.stringify(outputSchema)}` }];
}

/** Where a block's feature is left out, it becomes text or nothing. */
function blockParams(block: ModelMessage['content'][number], leftOut: LeftOut): ContentBlockParam[] {
  const inWords = (text: string) => textParams({ type: 'text', text: `(${text})\n` }, leftOut);
  const hasTools = !leftOut.includes('tools');
  switch (block.type) {
    case 'text':
      return textParams(block, leftOut);
    case 'tool_use':
      return hasTools
        ? [{ type: 'tool_use', id: block.id, name: sentText(block.name), input: inputParam(block.input) }]
        : [];
    case 'tool_result':
      if (!hasTools) return inWords(`a tool gave: ${block.text}`);
      return [
        {
          type: 'tool_result',
          tool_use_id: block.toolUseId,
          content: sentText(block.text),
          is_error: block.isError,
          cache_control: markParam(block.cache, leftOut),
        },
      ];
    case 'image':
      if (leftOut.includes('pictures')) return inWords('you cannot see pictures; say so');
      return [{ type: 'image', source: { type: 'base64', media_type: block.mediaType, data: block.data } }];
    case 'document': {
      if (leftOut.includes('documents')) return inWords('you cannot open PDF files; say so');
      const source = { type: 'base64', media_type: 'application/pdf', data: block.data } as const;
      return [{ type: 'document', title: sentText(block.title), source }];
    }
    case 'reasoning': {
      // Thoughts before a tool call belong to it.
      if (!hasTools || leftOut.includes('thinking')) return [];
      return isReasoning(block.vendor) ? [block.vendor] : [];
    }
  }
}

function sentText(text: string): string {
  return withMarksBroken(text.toWellFormed());
}

/** No mark reaches over the end of a value. */
function inputParam(input: unknown): unknown {
  return JSON.parse(withMarksBroken(JSON.stringify(wellFormed(input))));
}

function textParams(block: TextBlock, leftOut: LeftOut): TextBlockParam[] {
  const text = leftOut.includes('tools') ? (block.withoutTools ?? block.text) : block.text;
  if (!/\S/u.test(text)) return [];
  return [{ type: 'text', text: sentText(text), cache_control: markParam(block.cache, leftOut) }];
}

function markParam(cache: CacheLife | undefined, leftOut: LeftOut): TextBlockParam['cache_control'] {
  if (cache === undefined || leftOut.includes('cache marks')) return undefined;
  return {
    type: 'ephemeral',
    ttl: cache === '1h' && !leftOut.includes('hour-long cache') ? '1h' : undefined,
  };
}

function keepLastMarks(blocks: readonly ContentBlockParam[]): void {
  const marked = blocks.flatMap((block) => ('cache_control' in block && block.cache_control ? [block] : []));
  for (const block of marked.slice(0, -maxCacheMarks)) delete block.cache_control;
}
