import { APIError } from '@anthropic-ai/sdk';

import { ModelError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { ModelFeature, ModelMessage, ModelRequest, RefusedFeature } from '../../core/model.ts';
import { clip } from '../../core/text.ts';
import { resolveModel, thinksFirst } from './models.ts';

interface Feature {
  readonly name: ModelFeature;
  /** Whose it is: a server may have it with one model and not with another. */
  readonly of: 'server' | 'model';
  /** How a server's words name it. */
  readonly named: RegExp;
  readonly isIn: (request: ModelRequest) => boolean;
}

/** What a server may refuse [M9]. An error that names several counts for the first of these that the request has. */
const features: readonly Feature[] = [
  {
    name: 'structured output',
    of: 'model',
    named:
      /output_config(?!\W{0,3}effort)|output_format|response_format|json[_ -]?schema|structured[_ -]?outputs?/iu,
    isIn: ({ outputSchema }) => outputSchema !== undefined,
  },
  {
    name: 'hour-long cache',
    of: 'server',
    named: /\bttl\b|extended[_ -]cache/iu,
    isIn: (request) => blocksOf(request).some((block) => 'cache' in block && block.cache === '1h'),
  },
  {
    name: 'cache marks',
    of: 'server',
    named: /cache_control|prompt[_ ]cach/iu,
    isIn: (request) => blocksOf(request).some((block) => 'cache' in block && block.cache !== undefined),
  },
  {
    name: 'tools',
    of: 'model',
    named: /\btool(?:s|_choice|_calls?|[ -](?:use|calls?|calling))?\b|\bfunction[ _-]?call/iu,
    isIn: (request) =>
      (request.tools ?? []).length > 0 || has(request, 'tool_use') || has(request, 'tool_result'),
  },
  {
    name: 'thinking',
    of: 'model',
    named: /\bthinking\b|\breasoning(?:_effort)?\b|\beffort\b|output_config/iu,
    isIn: (request) =>
      (request.thinks !== false && thinksFirst(resolveModel(request.model))) || has(request, 'reasoning'),
  },
  {
    name: 'pictures',
    of: 'model',
    named: /\bimages?\b|\bimage_url\b|\binput_image\b|\bvision\b|\bmulti-?modal\b/iu,
    isIn: (request) => has(request, 'image'),
  },
  {
    name: 'documents',
    of: 'model',
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

/** A request as it was sent, and what was left out of it. */
export interface SentRequest {
  readonly request: ModelRequest;
  readonly leftOut: readonly ModelFeature[];
}

/** What one server is found to refuse, by its errors; kept as long as the process runs [M9]. */
export function createRefusals(logger: Logger) {
  const found: RefusedFeature[] = [];

  function isRefused(name: ModelFeature, model: string): boolean {
    return found.some((each) => each.feature === name && (each.model ?? model) === model);
  }

  function keep(name: ModelFeature, of: Feature['of'], model: string, reason: string): void {
    // Calls at the same time learn the same.
    if (isRefused(name, model)) return;
    found.push({ feature: name, model: of === 'model' ? model : undefined });
    logger.warn("the model's server refuses a feature, which is left out from now on", {
      feature: name,
      model,
      reason,
    });
  }

  return {
    /** In the order in which it was found. */
    found: found as readonly RefusedFeature[],
    /** What of the request is known to be refused. @throws {ModelError} `invalid` where the request makes no sense without. */
    leftOut(request: ModelRequest): readonly ModelFeature[] {
      const names = features
        .filter(({ name, isIn }) => isRefused(name, request.model) && isIn(request))
        .map(({ name }) => name);
      if (request.purpose === 'reflection' && names.includes('tools'))
        throw new ModelError("A reflection needs tools, which the model's server refuses", 'invalid');
      return names;
    },
    /** Learns which feature the error refuses; whether the same request is to be sent again without one more. */
    learn({ request, leftOut }: SentRequest, error: unknown): boolean {
      if (!(error instanceof APIError) || !refusingStatuses.has(error.status)) return false;
      const candidates = features.filter(({ name, isIn }) => !leftOut.includes(name) && isIn(request));
      for (const statement of statementsIn(error.error ?? error.message)) {
        const refused = candidates.find((feature) => refuses(statement, feature));
        if (refused === undefined) continue;
        keep(refused.name, refused.of, request.model, `${error.status ?? 'in the stream'}`);
        return true;
      }
      return false;
    },
    /** Learns that the server took a schema and did not heed it. */
    learnIgnoredSchema(model: string): void {
      keep('structured output', 'model', model, 'it was not heeded');
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
 * What an error's body says, a statement each: the lines of a text, and of an object its texts together, since one may
 * name the field and another the problem.
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
