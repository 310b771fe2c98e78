import { APIError } from '@anthropic-ai/sdk';
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';

import { ModelError } from '../../core/errors.ts';
import { lruCache } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type {
  ModelFeature,
  ModelLimits,
  ModelMessage,
  ModelRequest,
  RefusedFeature,
} from '../../core/model.ts';
import { clip } from '../../core/text.ts';
import { resolveModel, thinksFirst } from './models.ts';
import { estimatedTokens } from './request-body.ts';

interface Feature {
  readonly name: ModelFeature;
  readonly named: RegExp;
  readonly isIn: (request: ModelRequest) => boolean;
}

/** What a server may refuse [M9]. An error that names several means the first that the request has. */
const features: readonly Feature[] = [
  {
    name: 'schema keywords',
    named:
      /grammar|\bkeywords?\b|\binput_schema[.:]|\b(?:additionalProperties|(?:any|one|all|multiple)Of|exclusive(?:Min|Max)imum|(?:min|max)(?:Items|Length)|uniqueItems|prefixItems)\b|\$(?:ref|defs)\b|["'`](?:pattern|minimum|maximum|const|default|format|title)["'`]/iu,
    isIn: ({ tools = [], outputSchema }) => tools.length > 0 || outputSchema !== undefined,
  },
  {
    name: 'structured output',
    named:
      /output_config(?!\W{0,3}effort)|output_format|response_format|json[_ -]?schema|structured[_ -]?outputs?|grammar/iu,
    isIn: ({ outputSchema }) => outputSchema !== undefined,
  },
  {
    name: 'hour-long cache',
    named: /\bttl\b|extended[_ -]cache/iu,
    isIn: (request) => blocksOf(request).some((block) => 'cache' in block && block.cache === '1h'),
  },
  {
    name: 'cache marks',
    named: /cache_control|prompt[_ ]cach/iu,
    isIn: (request) => blocksOf(request).some((block) => 'cache' in block && block.cache !== undefined),
  },
  {
    name: 'tools',
    named: /\btool(?:s|_choice|_calls?|[ -](?:use|calls?|calling))?\b|\bfunction[ _-]?call|grammar/iu,
    isIn: (request) =>
      (request.tools ?? []).length > 0 || has(request, 'tool_use') || has(request, 'tool_result'),
  },
  {
    name: 'thinking',
    named: /\bthinking\b|\breasoning(?:_effort)?\b|\beffort\b|output_config/iu,
    isIn: (request) =>
      (request.thinks !== false && thinksFirst(resolveModel(request.model))) || has(request, 'reasoning'),
  },
  {
    name: 'pictures',
    named: /\bimages?\b|\bimage_url\b|\binput_image\b|\bvision\b|\bmulti-?modal\b/iu,
    isIn: (request) => has(request, 'image'),
  },
  {
    name: 'documents',
    named: /\bdocuments?\b|\bpdfs?\b/iu,
    isIn: (request) => has(request, 'document'),
  },
];

type Block = ModelMessage['content'][number];

function blocksOf({ system, messages }: ModelRequest): readonly Block[] {
  return [...system, ...messages.flatMap(({ content }): readonly Block[] => content)];
}

function has(request: ModelRequest, type: Block['type']): boolean {
  return blocksOf(request).some((block) => block.type === type);
}

/** llama.cpp refuses with 500; a stream that begins with an error has no status. */
const refusingStatuses: ReadonlySet<number | undefined> = new Set([400, 404, 415, 422, 500, 501, undefined]);

/** Matches errors about something that the server does not have at all. */
const refusing =
  /\bnot (?:be |yet |currently )?(?:support(?:ed)?|permitted|allowed|accepted|implemented|available|recogni[sz]ed|enabled)\b|\b(?:do|does|did|can)(?: not|n['’]t) (?:yet |currently )?(?:support|accept|allow|recogni[sz]e|have)\b|\bcannot accept\b|\bun(?:supported|known|recogni[sz]ed|implemented)\b|\bno endpoints? (?:found )?(?:that )?support|\b(?:extra|additional|unexpected|invalid) (?:inputs?|fields?|propert(?:y|ies)|param(?:eter)?s?|keys?|arguments?)\b|\brequires? (?:the )?--|\bnot a multi-?modal\b|\bfailed to parse grammar\b|\bsignature: field required\b/iu;

/** Errors about one file say nothing about others. */
const ofOneFile =
  /\b(?:formats?|media[_ ]?types?|mime|encrypted|password|corrupt(?:ed)?|damaged|animated|too (?:large|many|big|long)|larger|exceeds?|pixels?|dimensions?|pages?|urls?)\b/iu;

/** Lists of what is possible do not name what was refused. */
const listed =
  /\b(?:expected|should be|must be|supported(?: [a-z]+){0,2} (?:are|is)|valid (?:options|values|types)|input_value)\b.*$/isu;

export interface SentRequest {
  readonly request: ModelRequest;
  readonly leftOut: readonly ModelFeature[];
}

/** What is learnt of a server, most of it by model, holds for an hour [M9]. */
const createLearnt = <Value extends {}>() => lruCache<string, Value>(1000, { maxAge: 3_600_000 });

/** Learns from a server's errors what it refuses, for an hour at a time [M9]. */
export function createRefusals(logger: Logger) {
  const found = createLearnt<RefusedFeature>();

  function isRefused(name: ModelFeature, model: string): boolean {
    return found.has(`${name} ${model}`);
  }

  function keep(feature: ModelFeature, model: string, reason: string): void {
    // Concurrent calls learn the same.
    if (isRefused(feature, model)) return;
    found.set(`${feature} ${model}`, { feature, model });
    const what = "the model's server refuses a feature, which is left out for an hour";
    logger.warn(what, { feature, model, reason });
  }

  return {
    get found(): readonly RefusedFeature[] {
      return [...found.rvalues()].filter((each) => each !== undefined);
    },
    /** What to leave out of the request. @throws {ModelError} `invalid` where it makes no sense without. */
    leftOut(request: ModelRequest): readonly ModelFeature[] {
      const names = features
        .filter(({ name, isIn }) => isRefused(name, request.model) && isIn(request))
        .map(({ name }) => name);
      if (request.purpose === 'reflection' && names.includes('tools'))
        throw new ModelError("A reflection needs tools, which the model's server refuses", 'invalid');
      return names;
    },
    /** Whether the error refuses a feature, so that the request can be sent again without it. */
    learn({ request, leftOut }: SentRequest, error: unknown): boolean {
      if (!(error instanceof APIError) || !refusingStatuses.has(error.status)) return false;
      const candidates = features.filter(({ name, isIn }) => !leftOut.includes(name) && isIn(request));
      for (const statement of statementsIn(error.error ?? error.message)) {
        const refused = candidates.find((feature) => refuses(statement, feature));
        if (refused === undefined) continue;
        keep(refused.name, request.model, `${error.status ?? 'in the stream'}`);
        return true;
      }
      return false;
    },
    learnIgnoredSchema(model: string): void {
      keep('structured output', model, 'it was not heeded');
    },
  };
}

function refuses(text: string, { name, named }: Feature): boolean {
  const statement = text.replace(listed, '');
  const isFile = name === 'pictures' || name === 'documents';
  return named.test(statement) && refusing.test(statement) && !(isFile && ofOneFile.test(statement));
}

/** What follows in an error may repeat the request. */
const statementMaxChars = 300;
/** Fields of an error that repeat the request or say nothing. */
const unread: ReadonlySet<string> = new Set(['input', 'ctx', 'url', 'body', 'request', 'request_id']);

/** The statements of an error: lines of a text; an object's texts together, as one may name the field. */
export function statementsIn(body: unknown): readonly string[] {
  if (typeof body === 'string')
    return body
      .replace(/\n(?=\s)/gu, ':')
      .split('\n')
      .map((text) => clip(text, statementMaxChars));
  if (typeof body !== 'object' || body === null) return [];
  const parts = Object.entries(body).flatMap(([name, part]: [string, unknown]) => {
    if (unread.has(name)) return [];
    if (typeof part === 'number') return [`${name} ${part}`];
    return [Array.isArray(part) && part.every(isScalar) ? part.join('.') : part];
  });
  const own = parts.filter(isScalar).join(': ');
  return [own, ...parts.filter((part) => !isScalar(part))].flatMap(statementsIn);
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

/** A small context leaves an answer so many tokens all the same; no smaller number is taken for a limit. */
const leastTokens = 256;

/** Of a prompt with fewer, an estimate does not tell whether it was cut. */
const cutLeastTokens = 2000;
/** A server that counts fewer of a long one does not count. */
export const leastCounted = 500;

/** Of a room that turned out to be too large. */
const mistakenShare = 0.7;

/** Of a body as JSON, in the tokens of the words in it. */
const jsonShare = 1.2;

const cutsPrompts =
  "the model's server seems to cut long prompts in silence: give it a larger context (Ollama: num_ctx of the model, or OLLAMA_CONTEXT_LENGTH)";

const exceeds =
  /exceed|overflow|\btoo\b|longer|maximum|at most|less than|equal to|\bafford\b|\brange\b|[<>]/iu;
const ofContext =
  /context[ _]?(?:size|length|window|limit)|\b(?:prompt|input)\b(?:(?!image|file|pdf)[^.\n]){0,40}\b(?:too long|longer than|exceeds?)\b/iu;
const ofAnswer = /\bmax(?:imum)?[_ ](?:\w{1,20}[_ ])?tokens\b|\b(?:output|completion) tokens\b/iu;

/** Where the limit stands in an error, the surest first. */
const places: readonly RegExp[] = [
  /[<>]=? ?(?<limit>\d[\d,]{0,12})/u,
  /\b(?:context|n_ctx|window|maximum|limit|at most|less than|equal to|afford|range\D{0,30}\d+)\b(?:(?!\bby\b)\D){0,30}(?<limit>\d[\d,]{0,12})/iu,
  /(?<limit>\d[\d,]{0,12}) (?:tokens )?maximum\b/iu,
];

/** Learns from a server's errors, and from what it counts, how many tokens it takes, for an hour at a time [M13]. */
export function createLimits(logger: Logger, contextByHand?: number) {
  const learnt = createLearnt<number>();

  function limitsOf(model: string): ModelLimits {
    const of = (limit: keyof ModelLimits) => learnt.get(`${limit} ${model}`);
    return {
      contextTokens: of('contextTokens') ?? contextByHand,
      roomTokens: of('roomTokens') ?? contextByHand,
      answerTokens: of('answerTokens'),
      cutsAt: of('cutsAt'),
    };
  }

  return {
    limitsOf,
    /** With a shorter answer where the limits want it: a quarter of the context at most. */
    capped(model: string, body: MessageCreateParamsStreaming): MessageCreateParamsStreaming {
      const { contextTokens = Infinity, answerTokens = Infinity } = limitsOf(model);
      const most = Math.min(answerTokens, Math.max(leastTokens, Math.floor(contextTokens / 4)));
      return body.max_tokens <= most ? body : { ...body, max_tokens: most };
    },
    /** Which limit the error tells, if any. Without a number it is half of what was sent. */
    learn(model: string, body: MessageCreateParamsStreaming, error: unknown) {
      if (!(error instanceof APIError) || error.status === 429) return undefined;
      const text = statementsIn(error.error ?? error.message).join('\n');
      const isOfContext = ofContext.test(text);
      if (!exceeds.test(text) || !(isOfContext || ofAnswer.test(text))) return undefined;
      const limit = isOfContext ? 'contextTokens' : 'answerTokens';
      const sent = body.max_tokens + (isOfContext ? estimatedTokens(body) : 0);
      const [named] = places.flatMap((place) => place.exec(text)?.groups?.['limit'] ?? []);
      const tokens = named === undefined ? Math.floor(sent / 2) : countIn(named);
      if (tokens < leastTokens || (!isOfContext && tokens >= sent)) return undefined;
      if (isOfContext)
        learnt.set(`roomTokens ${model}`, roomIn(text, tokens, body, limitsOf(model).roomTokens));
      learnt.set(`${limit} ${model}`, tokens);
      logger.warn("the model's server names a limit, which is kept for an hour", { model, limit, tokens });
      return limit;
    },
    /** Notes that the server counted far fewer tokens than it was sent. */
    noteCount(model: string, body: MessageCreateParamsStreaming, counted: number): void {
      const estimated = counted < leastCounted ? 0 : estimatedTokens(body);
      if (estimated <= cutLeastTokens || counted >= estimated / 3) return;
      if (limitsOf(model).cutsAt === undefined) logger.warn(cutsPrompts, { model, counted, estimated });
      learnt.set(`cutsAt ${model}`, counted);
    },
  };
}

const countIn = (number: string): number => Number(number.replaceAll(',', ''));

/** Where the server counted more than was estimated, or refused what should have fitted, the room is smaller in the same measure. */
function roomIn(text: string, tokens: number, body: MessageCreateParamsStreaming, known = Infinity): number {
  const estimated = estimatedTokens(body) + body.max_tokens;
  const numbers = Array.from(text.matchAll(/\d[\d,]{2,12}/gu), ([number]) => countIn(number));
  const counted = Math.max(0, ...numbers);
  const room = Math.min(tokens, known) * Math.min(1, estimated / counted);
  return Math.floor(estimated <= known * jsonShare ? Math.min(room, known * mistakenShare) : room);
}
