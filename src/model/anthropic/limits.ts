import { APIError } from '@anthropic-ai/sdk';
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';

import type { Logger } from '../../core/logger.ts';
import type { ModelLimits } from '../../core/model.ts';
import { createLearnt, statementsIn } from './features.ts';
import { estimatedTokens } from './request-body.ts';

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
