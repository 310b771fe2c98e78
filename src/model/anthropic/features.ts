import { APIError } from '@anthropic-ai/sdk';

import { ModelError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type {
  CacheLife,
  ModelFeature,
  ModelMessage,
  ModelRequest,
  RefusedFeature,
  TextBlock,
} from '../../core/model.ts';
import { clip } from '../../core/text.ts';
import { withoutMedia } from '../media.ts';
import { resolveModel, thinksFirst } from './models.ts';

interface Feature {
  readonly name: ModelFeature;
  /** Whose it is: a server may have it with one model and not with another. */
  readonly of: 'server' | 'model';
  /** How a server's words name it. */
  readonly named: RegExp;
  readonly isIn: (request: ModelRequest) => boolean;
  /** The next best way. @throws {ModelError} where there is none. */
  readonly without: (request: ModelRequest) => ModelRequest;
}

const structuredOutput: Feature = {
  name: 'structured output',
  of: 'model',
  named:
    /output_config(?!\W{0,3}effort)|output_format|response_format|json[_ -]?schema|structured[_ -]?outputs?/iu,
  isIn: ({ outputSchema }) => outputSchema !== undefined,
  without: (request) => ({
    ...request,
    outputSchema: undefined,
    system: [...request.system, { type: 'text', text: schemaText(request.outputSchema) }],
  }),
};

/**
 * What a server that speaks the Messages API only in part may refuse, and how a request is made without it [M9]. An error that names several
 * counts for the first of these that the request has.
 */
const features: readonly Feature[] = [
  structuredOutput,
  {
    name: 'hour-long cache',
    of: 'server',
    named: /\bttl\b|extended[_ -]cache/iu,
    isIn: (request) => marksOf(request).includes('1h'),
    without: (request) => withMarks(request, '5m'),
  },
  {
    name: 'cache marks',
    of: 'server',
    named: /cache_control|prompt[_ ]cach/iu,
    isIn: (request) => marksOf(request).length > 0,
    without: (request) => withMarks(request, undefined),
  },
  {
    name: 'tools',
    of: 'model',
    named: /\btool(?:s|_choice|_calls?|[ -](?:use|calls?|calling))?\b|\bfunction[ _-]?call/iu,
    isIn: ({ tools = [], messages }) =>
      tools.length > 0 || messages.some((message) => has(message, 'tool_use') || has(message, 'tool_result')),
    without: withoutTools,
  },
  {
    name: 'thinking',
    of: 'model',
    named: /\bthinking\b|\breasoning(?:_effort)?\b|\beffort\b|output_config/iu,
    isIn: ({ model, messages, thinks }) =>
      (thinks !== false && thinksFirst(resolveModel(model))) ||
      messages.some((message) => has(message, 'reasoning')),
    without: (request) => ({
      ...request,
      thinks: false,
      messages: request.messages.map(withoutThoughts),
    }),
  },
  {
    name: 'pictures',
    of: 'model',
    named: /\bimages?\b|\bimage_url\b|\binput_image\b|\bvision\b|\bmulti-?modal\b/iu,
    isIn: ({ messages }) => messages.some((message) => has(message, 'image')),
    without: (request) =>
      withoutMedia(request, 'you cannot see pictures; say so', ({ type }) => type === 'image'),
  },
  {
    name: 'documents',
    of: 'model',
    named: /\bdocuments?\b|\bpdfs?\b/iu,
    isIn: ({ messages }) => messages.some((message) => has(message, 'document')),
    without: (request) =>
      withoutMedia(request, 'you cannot open PDF files; say so', ({ type }) => type === 'document'),
  },
];

/** Statuses with which servers refuse what they do not have; llama.cpp's does with 500. A stream that begins with an error has none. */
const refusingStatuses: ReadonlySet<number | undefined> = new Set([400, 404, 415, 422, 500, 501, undefined]);

/** How servers say that they do not have something at all. */
const refusing =
  /\bnot (?:be |yet |currently )?(?:support(?:ed)?|permitted|allowed|accepted|implemented|available|recogni[sz]ed|enabled)\b|\b(?:do|does|did|can)(?: not|n['’]t) (?:yet |currently )?(?:support|accept|allow|recogni[sz]e|have)\b|\bcannot accept\b|\bun(?:supported|known|recogni[sz]ed|implemented)\b|\bno endpoints? (?:found )?(?:that )?support|\b(?:extra|additional|unexpected|invalid) (?:inputs?|fields?|propert(?:y|ies)|param(?:eter)?s?|keys?|arguments?)\b|\brequires? (?:the )?--/iu;

/** What is wrong with one file says nothing of others. */
const ofOneFile =
  /\b(?:formats?|media[_ ]?types?|mime|encrypted|password|corrupt(?:ed)?|damaged|animated|too (?:large|many|big|long)|larger|exceeds?|pixels?|dimensions?|pages?|urls?)\b/iu;

/** What is listed as possible is not what was refused. */
const listed =
  /\b(?:expected|should be|must be|supported(?: [a-z]+){0,2} (?:are|is)|valid (?:options|values|types)|input_value)\b.*$/isu;

/** A request as it is sent, and what was left out of it. */
export interface AppliedRequest {
  readonly request: ModelRequest;
  readonly leftOut: readonly ModelFeature[];
}

/** What one server is found to refuse, by its errors; kept as long as the process runs [M9]. */
export function createRefusals(logger: Logger) {
  const found: RefusedFeature[] = [];

  function isRefused({ name }: Feature, model: string): boolean {
    return found.some((each) => each.feature === name && (each.model ?? model) === model);
  }

  function keep(feature: Feature, { model }: ModelRequest, reason: string): void {
    // Calls at the same time learn the same.
    if (isRefused(feature, model)) return;
    found.push({ feature: feature.name, model: feature.of === 'model' ? model : undefined });
    logger.warn("the model's server refuses a feature, which is left out from now on", {
      feature: feature.name,
      model,
      reason,
    });
  }

  return {
    /** In the order in which it was found. */
    found: found as readonly RefusedFeature[],
    /** The request without what is known to be refused. @throws {ModelError} `invalid` where it makes no sense without. */
    applied(request: ModelRequest): AppliedRequest {
      let applied = request;
      const leftOut: ModelFeature[] = [];
      for (const feature of features) {
        if (!isRefused(feature, request.model) || !feature.isIn(applied)) continue;
        applied = feature.without(applied);
        leftOut.push(feature.name);
      }
      return { request: applied, leftOut };
    },
    /** Learns which feature of the request the error refuses; whether it refuses one that was not left out yet. The same request is then to be sent again. */
    learn({ request: sent, leftOut }: AppliedRequest, error: unknown): boolean {
      if (!(error instanceof APIError) || !refusingStatuses.has(error.status)) return false;
      const candidates = features.filter(({ name, isIn }) => !leftOut.includes(name) && isIn(sent));
      for (const statement of statementsIn(error.error ?? error.message)) {
        const refused = candidates.find((feature) => refuses(statement, feature));
        if (refused === undefined) continue;
        keep(refused, sent, `${error.status ?? 'in the stream'}`);
        return true;
      }
      return false;
    },
    /** Learns that the server took a schema and did not heed it. */
    learnIgnoredSchema({ request: sent }: AppliedRequest): void {
      keep(structuredOutput, sent, 'it was not heeded');
    },
  };
}

function refuses(statement: string, { name, named }: Feature): boolean {
  const isFile = name === 'pictures' || name === 'documents';
  return named.test(statement) && refusing.test(statement) && !(isFile && ofOneFile.test(statement));
}

/** Characters of a statement that are looked at: what follows may repeat the request, people's words among it. */
const statementMaxChars = 300;
/** Parts of an error that repeat the request, or say nothing. */
const unread: ReadonlySet<string> = new Set(['input', 'ctx', 'url', 'body', 'request', 'request_id']);

/**
 * What an error's body says, a statement each: the lines of a text, and of an object its texts together, since one may name the field and another what is wrong
 * with it.
 */
function statementsIn(body: unknown): readonly string[] {
  if (typeof body === 'string')
    return body
      .replace(/\n(?=\s)/gu, ':')
      .split('\n')
      .map((text) => clip(text, statementMaxChars).replace(listed, ''));
  if (typeof body !== 'object' || body === null) return [];
  const parts = Object.entries(body).flatMap(([name, part]: [string, unknown]) => {
    if (unread.has(name)) return [];
    return [Array.isArray(part) && part.every(isScalar) ? part.join('.') : part];
  });
  const own = parts.filter(isScalar).join(': ');
  return [own, ...parts.filter((part) => !isScalar(part))].flatMap(statementsIn);
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

type Block = ModelMessage['content'][number];

function has({ content }: ModelMessage, type: Block['type']): boolean {
  return content.some((block) => block.type === type);
}

function marksOf({ system, messages }: ModelRequest): readonly CacheLife[] {
  const blocks = [...system, ...messages.flatMap(({ content }): readonly Block[] => content)];
  return blocks.flatMap((block) => ('cache' in block && block.cache !== undefined ? [block.cache] : []));
}

/** The request with another life, or none, for each mark that it has. */
function withMarks(request: ModelRequest, cache: CacheLife | undefined): ModelRequest {
  return mapBlocks(request, (block) =>
    'cache' in block && block.cache !== undefined ? { ...block, cache } : block,
  );
}

/** The request with something else in place of its blocks, of the same kind each. */
function mapBlocks(request: ModelRequest, map: <T extends Block>(block: T) => T): ModelRequest {
  const messages = request.messages.map((message): ModelMessage =>
    message.role === 'user'
      ? { ...message, content: message.content.map(map) }
      : { ...message, content: message.content.map(map) },
  );
  return { ...request, system: request.system.map(map), messages };
}

function schemaText(schema: ModelRequest['outputSchema']): string {
  return `Answer with one JSON object and nothing else: no words around it, no code fence. It has this JSON Schema:\n${JSON.stringify(schema)}`;
}

/** What tools gave by then stays, as text. @throws {ModelError} for a reflection, whose work is done by tools alone. */
function withoutTools(request: ModelRequest): ModelRequest {
  if (request.purpose === 'reflection')
    throw new ModelError("A reflection needs tools, which the model's server refuses", 'invalid');
  const { messages, ...rest } = mapBlocks(request, (block) =>
    block.type === 'text' ? { ...block, text: block.withoutTools ?? block.text } : block,
  );
  return {
    ...rest,
    tools: undefined,
    messages: messages.map((message): ModelMessage => {
      if (message.role === 'user') return { ...message, content: message.content.map(resultAsText) };
      // What was thought before a call belongs to it.
      if (!has(message, 'tool_use')) return message;
      return { ...message, content: message.content.filter(({ type }) => type === 'text') };
    }),
  };
}

function resultAsText<T extends Block>(block: T): T | TextBlock {
  return block.type === 'tool_result' ? { type: 'text', text: `(a tool gave: ${block.text})\n` } : block;
}

function withoutThoughts(message: ModelMessage): ModelMessage {
  if (message.role === 'user') return message;
  return { ...message, content: message.content.filter(({ type }) => type !== 'reasoning') };
}
