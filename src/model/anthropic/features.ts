import { APIError } from '@anthropic-ai/sdk';

import { ModelError } from '../../core/errors.ts';
import { lruCache } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { ModelFeature, ModelMessage, ModelRequest, RefusedFeature } from '../../core/model.ts';
import { clip } from '../../core/text.ts';
import { resolveModel, thinksFirst } from './models.ts';

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
export const createLearnt = <Value extends {}>() => lruCache<string, Value>(1000, { maxAge: 3_600_000 });

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
