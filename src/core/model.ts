import { z } from 'zod';

import { ModelError, type ModelFailure } from './errors.ts';
import { oncePer } from './limits.ts';
import { jsonIn } from './text.ts';

/** What a call is for: chosen by the caller, seen in logs, and how the offline model knows which rule to apply. */
export type ModelPurpose =
  | 'chat'
  | 'summary'
  | 'condense'
  | 'extraction'
  | 'channel-notes'
  | 'reflection'
  | 'trim'
  | 'catch-up';

/** How long the vendor keeps what was marked, counted anew from each request that reads it: five minutes or an hour. */
export type CacheLife = '5m' | '1h';

/** What a token costs that the vendor's cache reads or writes, as a multiple of plain input. */
export interface CachePrice {
  readonly read: number;
  readonly write: Readonly<Record<CacheLife, number>>;
}

/** A text; with a cache mark, everything up to and including it may be cached by the vendor, for so long. */
export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  readonly cache?: CacheLife | undefined;
  /** What stands in its place where the model gets no tools [M9]. Default: the text itself. */
  readonly withoutTools?: string;
}

export interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/**
 * What a vendor's model thought before it answered; opaque. Whoever sends a response's content back sends it along,
 * unchanged and in its place, because vendors refuse a tool round without it.
 */
export interface ReasoningBlock {
  readonly type: 'reasoning';
  readonly vendor: Readonly<Record<string, unknown>>;
}

export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly toolUseId: string;
  readonly text: string;
  readonly isError: boolean;
  readonly cache?: CacheLife | undefined;
}

export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

/** A picture that somebody attached. */
export interface ImageBlock {
  readonly type: 'image';
  /** One line, safe to show. */
  readonly title: string;
  readonly mediaType: (typeof imageTypes)[number];
  /** Base64. */
  readonly data: string;
}

/** A PDF that somebody attached. */
export interface DocumentBlock {
  readonly type: 'document';
  /** One line, safe to show. */
  readonly title: string;
  /** Base64. */
  readonly data: string;
}

export type MediaBlock = ImageBlock | DocumentBlock;

export interface UserMessage {
  readonly role: 'user';
  readonly content: readonly (TextBlock | ToolResultBlock | MediaBlock)[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly (TextBlock | ToolUseBlock | ReasoningBlock)[];
}

export type ModelMessage = UserMessage | AssistantMessage;

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input, an object type. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/**
 * The JSON Schema of what a model is to give, a tool's input or an answer: nothing besides what the schema names. Defaults and lengths of
 * texts are left out: where they matter, a description tells them.
 */
export const jsonSchemaOf = oncePer((schema: z.ZodType): Readonly<Record<string, unknown>> => {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      delete jsonSchema.default;
      delete jsonSchema.minLength;
      delete jsonSchema.maxLength;
      if (jsonSchema.type === 'object') jsonSchema.additionalProperties = false;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return described;
});

export interface ModelRequest {
  readonly purpose: ModelPurpose;
  /** For whom it is asked: places at the model go round by person [L1]. */
  readonly userId: string;
  /** A name of what it continues, if anything: such requests should begin alike, and where they do not, the vendor may tell why. */
  readonly conversation?: string;
  /** A model id or one of the aliases `haiku`, `sonnet`, `opus` [M1]. */
  readonly model: string;
  readonly system: readonly TextBlock[];
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ToolDefinition[];
  /** JSON Schema for a structured answer; the answer's text is then JSON of that shape. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** `false`: the model is not asked to think first. Default: as it does. */
  readonly thinks?: false;
  /** Tokens of the answer at most; what a model thinks before it is not counted. */
  readonly maxTokens: number;
}

/** What a server that speaks the Messages API only in part may refuse [M9]. */
export type ModelFeature =
  | 'structured output'
  | 'hour-long cache'
  | 'cache marks'
  | 'tools'
  | 'thinking'
  | 'pictures'
  | 'documents';

/** A feature that the model's server was found to refuse. */
export interface RefusedFeature {
  readonly feature: ModelFeature;
  /** The model that lacks it; absent where it is the server. */
  readonly model?: string;
}

/** Tokens as the vendor counts them. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Of those written, what is kept for an hour. */
  readonly cacheHourTokens: number;
}

export const noUsage: ModelUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheHourTokens: 0,
};

export function addUsage(a: ModelUsage, b: ModelUsage): ModelUsage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    cacheHourTokens: a.cacheHourTokens + b.cacheHourTokens,
  };
}

export interface ModelResponse {
  readonly content: AssistantMessage['content'];
  /** `cut` = the output limit was reached; such text is never stored as memory [M7]. */
  readonly stop: 'end' | 'tool_use' | 'cut' | 'refusal';
  readonly usage: ModelUsage;
  /** Why the cache held less of the conversation than it might have, in the vendor's words, where it told. */
  readonly cacheMiss?: string;
  /** What of the request was left out, since the server refuses it [M9]. */
  readonly leftOut?: readonly ModelFeature[];
}

export interface ModelCallOptions {
  readonly signal?: AbortSignal;
  /** Nothing leaves for the model before this is settled, though the request may be made meanwhile [F4]; it must not reject. Default: at once. */
  readonly after?: Promise<void>;
  /** Called with each piece of text as it arrives; after a retry it starts over, announced by `onRestart`. */
  readonly onText?: (piece: string) => void;
  readonly onRestart?: () => void;
  /**
   * Asked before each attempt whose request has pictures or documents, with their bytes as sent; where it says no, the attempt goes without
   * them, each named in its place [L1]. Default: always.
   */
  readonly takeMedia?: (bytes: number) => boolean;
  /** Called when the call has to wait for a free place, and again, with `false`, when it got one. */
  readonly onQueue?: (isWaiting: boolean) => void;
}

/**
 * A language model. `complete` streams inside, retries what can be retried within its time limits, keeps to the
 * concurrency limit, validates the response, and rejects with `ModelError` only [M7].
 */
export interface ModelClient {
  /** True for the rule-based stand-in, whose replies are labelled wherever they appear [M2]. */
  readonly isOffline: boolean;
  /** What its server was found to refuse, in the order of finding; left out of all requests since [M9]. Default: nothing. */
  readonly refused?: readonly RefusedFeature[];
  complete(request: ModelRequest, options?: ModelCallOptions): Promise<ModelResponse>;
}

/** The text of a response or message content, tool blocks left out. */
export function textOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content
    .flatMap((block) => (block.type === 'text' && block.text !== undefined ? [block.text] : []))
    .join('');
}

/** The text of a whole answer; errors name `what` was asked for. @throws {ModelError} when it was cut or refused: nothing of it may be used [M7]. */
export function wholeAnswer({ stop, content }: ModelResponse, what: string): string {
  if (stop !== 'end') throw new ModelError(`${what} ended by ${stop}`, 'invalid');
  return textOf(content).trim();
}

/** A whole answer of the schema's shape. @throws {ModelError} when it may not be used [M7]. */
export function structuredAnswer<T>(response: ModelResponse, schema: z.ZodType<T>, what: string): T {
  const text = wholeAnswer(response, what);
  try {
    return schema.parse(jsonIn(text));
  } catch {
    // The reason is left out: it would carry words of the person into the log.
    throw new ModelError(`${what} gave no valid JSON`, 'invalid');
  }
}

/** Whether the model that answers people can be reached, as far as the newest calls tell. */
export type ModelState =
  | { readonly kind: 'reachable' }
  | { readonly kind: 'unreachable'; readonly since: Date; readonly failure: ModelFailure };

/** Model calls that run, and that wait for a free place. */
export interface OpenCalls {
  readonly running: number;
  readonly waiting: number;
}

/** What some calls used together. */
export interface UsageSum extends ModelUsage {
  readonly calls: number;
  /** US dollars, of those whose price is known. */
  readonly cost: number;
  /** Some call's price was not known. */
  readonly isUnpriced: boolean;
  /** How often the vendor told why its cache missed, by its reason. */
  readonly cacheMisses: Readonly<Record<string, number>>;
}

/** What the models used in a local day or month. */
export interface PeriodUsage {
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string;
  readonly all: UsageSum;
  /** By the name that was asked for. */
  readonly byModel: Readonly<Record<string, UsageSum>>;
  /** By what the calls were for. */
  readonly byPurpose: Readonly<Record<string, UsageSum>>;
}

export interface UsageReport {
  readonly today: PeriodUsage;
  readonly month: PeriodUsage;
}

/** What was set aside for one attempt at a model call. */
export interface Reservation {
  /** What it cost in the end, in US dollars; where that is not known, all that was set aside counts. Only the first time counts. Never throws. */
  settle(usd?: number): void;
}

/** What model calls may cost [L2]. */
export interface CallBudget {
  /**
   * Sets aside what one attempt can cost at most, in US dollars; on disk before it resolves, so far as a kill could lose it. Rejects with `ModelError`:
   * `over-limit` where that would be over a limit, `unavailable` where what was used so far cannot be read.
   */
  reserve(call: Pick<ModelRequest, 'userId' | 'purpose'>, usd: number): Promise<Reservation>;
}
