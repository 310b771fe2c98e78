import { z } from 'zod';

import { ModelError, type ModelFailure } from './errors.ts';
import { jsonIn, parseNearly } from './lenient-json.ts';

/** What a call is for: seen in logs, and chooses the offline model's rule. */
export type ModelPurpose =
  | 'chat'
  | 'summary'
  | 'condense'
  | 'extraction'
  | 'reflection'
  | 'trim'
  | 'catch-up';

/** How long the vendor keeps what was marked, counted from the latest request that reads it. */
export type CacheLife = '5m' | '1h';

/** A text; a cache mark covers everything up to and including it. */
export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  readonly cache?: CacheLife | undefined;
  /** Its replacement where the model gets no tools [M9]. Default: the text itself. */
  readonly withoutTools?: string | undefined;
}

export interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** A model's opaque thinking. It must be sent back unchanged and in place, or vendors refuse a tool round. */
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

export interface ImageBlock {
  readonly type: 'image';
  /** One line, safe to show. */
  readonly title: string;
  readonly mediaType: (typeof imageTypes)[number];
  /** Base64. */
  readonly data: string;
}

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

/** JSON Schema for a tool's input or an answer, without defaults and text lengths: descriptions tell them. */
export function jsonSchemaOf(schema: z.ZodType): Readonly<z.core.JSONSchema.JSONSchema> {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      delete jsonSchema.default;
      delete jsonSchema.minLength;
      delete jsonSchema.maxLength;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return described;
}

export interface ModelRequest {
  readonly purpose: ModelPurpose;
  /** Places at the model go round by person [L1]. */
  readonly userId: string;
  /** Names the session that it continues; absent where nobody's conversation is. */
  readonly conversation?: string;
  /** A model id or an alias: `haiku`, `sonnet`, `opus` [M1]. */
  readonly model: string;
  readonly system: readonly TextBlock[];
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ToolDefinition[];
  /** JSON Schema for a structured answer, which is then JSON. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** `false`: not asked to think first. Default: the model's. */
  readonly thinks?: false;
  /** Without thinking. */
  readonly maxTokens: number;
  /** As history shows them; absent where no person is answered [M11]. */
  readonly names?: { readonly own: string; readonly asker: string };
  /** An answer without words is none that has to be asked for again [M15]. */
  readonly mayBeEmpty?: boolean;
  /** The model stands in for one that failed [M10]. */
  readonly isFallback?: true;
}

/** What a server that only partly speaks the Messages API may refuse [M9]. */
export type ModelFeature =
  | 'schema keywords'
  | 'structured output'
  | 'hour-long cache'
  | 'cache marks'
  | 'tools'
  | 'thinking'
  | 'pictures'
  | 'documents';

export interface RefusedFeature {
  readonly feature: ModelFeature;
  readonly model: string;
}

/** In tokens; what is not known is absent [M13]. */
export interface ModelLimits {
  /** Of prompt and answer together, as the server names it. */
  readonly contextTokens?: number | undefined;
  /** The same as {@link estimateTokens} counts. */
  readonly roomTokens?: number | undefined;
  readonly answerTokens?: number | undefined;
  /** Its server cuts longer prompts in silence: so many it counted of one. */
  readonly cutsAt?: number | undefined;
}

const usageSchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  /** The part of written tokens that is kept for an hour. */
  cacheHourTokens: z.number(),
});

export type ModelUsage = Readonly<z.infer<typeof usageSchema>>;

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

/** All input tokens, cached or not. */
export function inputOf({ inputTokens, cacheReadTokens, cacheWriteTokens }: ModelUsage): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}

export interface ModelResponse {
  readonly content: AssistantMessage['content'];
  /** `cut`: the output limit was reached; never stored as memory [M7]. */
  readonly stop: 'end' | 'tool_use' | 'cut' | 'refusal';
  readonly usage: ModelUsage;
  /** The model that answered, where it is not the one that was asked [M10]. */
  readonly answeredBy?: string;
  /** What failed with the one that was asked. */
  readonly insteadFor?: ModelFailure;
  /** Thoughts stood in its text, and were taken out [M11]. */
  readonly thinksAloud?: boolean | undefined;
  /** Parts of the request that the server refuses [M9]. */
  readonly leftOut?: readonly ModelFeature[];
}

export interface ModelCallOptions {
  readonly signal?: AbortSignal;
  /** Called with each piece of text; a retry starts over, after `onRestart`. */
  readonly onText?: (piece: string) => void;
  readonly onRestart?: () => void;
  /** Asked before each attempt with files, with their bytes; after `false` they are only named [L1]. */
  readonly takeMedia?: (bytes: number) => boolean;
  /** Called with `true` when the call has to wait for a place, and with `false` when it has one. */
  readonly onQueue?: (isWaiting: boolean) => void;
}

/**
 * `complete` streams inside, retries within its time limits, keeps to the concurrency limit, validates the
 * response, and rejects only with `ModelError` [M7].
 */
export interface ModelClient {
  /** The rule-based stand-in, whose replies are labelled everywhere [M2]. */
  readonly isOffline: boolean;
  /** What its server refuses, in order of discovery; left out for an hour [M9]. */
  readonly refused?: readonly RefusedFeature[];
  /** What its server's errors told of a model within the last hour. */
  limitsOf?(model: string): ModelLimits;
  complete(request: ModelRequest, options?: ModelCallOptions): Promise<ModelResponse>;
}

/** What background work gives a model at one time is at most so many characters, and half of its context [M13]. */
export function inputMaxChars(client: Pick<ModelClient, 'limitsOf'>, model: string): number {
  return Math.min(20_000, Math.floor((client.limitsOf?.(model).roomTokens ?? Infinity) / 2));
}

/**
 * Tokens of a text for models of any kind, rather too many than too few: tokenizers take 3 to 5 letters of English or JSON for one, and of
 * Cyrillic or Japanese script 2 to 4 bytes.
 */
export function estimateTokens(text: string): number {
  const plain = text.length - (text.match(/\P{ASCII}/gu)?.reduce((sum, { length }) => sum + length, 0) ?? 0);
  return Math.ceil(plain / 3.5 + (Buffer.byteLength(text) - plain) / 2.4);
}

export function textOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content
    .flatMap((block) => (block.type === 'text' && block.text !== undefined ? [block.text] : []))
    .join('');
}

/**
 * The text of a whole answer; errors name `what` was asked for.
 * @throws {ModelError} when it was cut or refused [M7].
 */
export function wholeAnswer({ stop, content }: ModelResponse, what: string): string {
  if (stop !== 'end') throw new ModelError(`${what} ended by ${stop}`, 'invalid');
  return textOf(content).trim();
}

/**
 * What fits in an answer, each value read by itself, strictly or nearly [M14]; `list` names the field that may hold them.
 * @throws {ModelError} when the answer is not whole, or has values of which none fits [M7].
 */
export function structuredEntries<T>(
  response: ModelResponse,
  schema: z.ZodType<T>,
  what: string,
  list = '',
): readonly T[] {
  const values = jsonIn(wholeAnswer(response, what))?.flatMap((each) => each[list] ?? each);
  const form = jsonSchemaOf(schema);
  const fitting = values?.flatMap((each) => parseNearly(schema, form, each).data ?? []) ?? [];
  // The reason is left out: it would carry the person's words into the log.
  if (fitting.length === 0 && values?.length !== 0)
    throw new ModelError(`${what} gave no valid JSON`, 'invalid');
  return fitting;
}

/** The last value that fits. @throws {ModelError} as {@link structuredEntries}, and where there is none. */
export function structuredAnswer<T>(response: ModelResponse, schema: z.ZodType<T>, what: string): T {
  const answer = structuredEntries(response, schema, what).at(-1);
  if (answer === undefined) throw new ModelError(`${what} has no answer`, 'invalid');
  return answer;
}

/** Whether the answering model can be reached, by its newest calls; `until` as its server told, where it did. */
export type ModelState =
  | { readonly kind: 'reachable' }
  | {
      readonly kind: 'unreachable';
      readonly since: Date;
      readonly until?: Date;
      readonly failure: ModelFailure;
    };

/** A model's account that has to be seen to [M16], or the day's limit on cost [L2]. */
export type Trouble = { readonly model: string; readonly failure: ModelFailure } | { readonly limit: number };

/** What the owner is told, each once a day, `YYYY-MM-DD`; US dollars. */
export type OwnerNews = Trouble & { readonly day: string; readonly spent: number };

/** What background work asks a model for. */
export type BackgroundCall = Pick<ModelRequest, 'purpose' | 'userId' | 'conversation' | 'model'>;

/** What it has not written, since when and why [M16]. */
export interface Unwritten extends BackgroundCall {
  readonly since: Date;
  readonly failure: ModelFailure;
}

/** Does background work; where it failed a while ago, it rejects with `ModelError` `paused` and asks nothing [M16]. */
export type WithPauses = <T>(call: BackgroundCall, work: () => Promise<T>) => Promise<T>;

export interface OpenCalls {
  readonly running: number;
  readonly waiting: number;
}

export const usageSumSchema = usageSchema.extend({
  calls: z.number(),
  /** US dollars, as far as prices are known. */
  cost: z.number(),
  /** Some call's price was not known. */
  isUnpriced: z.boolean(),
});

export type UsageSum = Readonly<z.infer<typeof usageSumSchema>>;

/** A local month, day or hour. */
export interface PeriodUsage {
  /** `YYYY-MM`, `YYYY-MM-DD` or `YYYY-MM-DDTHH`. */
  readonly period: string;
  readonly all: UsageSum;
  /** By the name that was asked for. */
  readonly byModel: Readonly<Record<string, UsageSum>>;
  readonly byPurpose: Readonly<Record<string, UsageSum>>;
  /** By how they ended. */
  readonly turns: Readonly<Record<string, number>>;
  /** Turns and model calls that could not begin at once. */
  readonly waited: Readonly<Record<string, number>>;
  /** Failed calls by reason, and failed writes. */
  readonly errors: Readonly<Record<string, number>>;
}

export interface UsageReport {
  readonly today: PeriodUsage;
  readonly month: PeriodUsage;
  /** The last 30 days and 24 hours, the present ones included, oldest first. */
  readonly days: readonly PeriodUsage[];
  readonly hours: readonly PeriodUsage[];
}

/** What was set aside for one attempt at a model call. */
export interface Reservation {
  /** The actual cost in US dollars, by default all that was set aside; only once. Never throws. */
  charge(usd?: number): void;
}

/** What model calls may cost [L2]. */
export interface CallBudget {
  /**
   * Sets aside the most that one attempt can cost, in US dollars; on disk before it resolves, where a kill
   * could lose it. Rejects with `ModelError`: `over-limit`, or `unavailable` where the use so far cannot be
   * read.
   */
  reserve(call: Pick<ModelRequest, 'userId' | 'purpose'>, usd: number): Promise<Reservation>;
}
