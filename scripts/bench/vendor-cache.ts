import type {
  ContentBlockParam,
  MessageCreateParams,
  TextBlockParam,
} from '@anthropic-ai/sdk/resources/messages';
import { estimateTokenCount } from 'tokenx';

/** Tokens of a request's input, by what the vendor takes for them. */
export interface Billed {
  readonly read: number;
  readonly written5m: number;
  readonly written1h: number;
  readonly plain: number;
  /** How many of all these an earlier request had begun with: what could be read if everything were kept for ever. */
  readonly known: number;
}

const lifeMs = { '5m': 5 * 60_000, '1h': 60 * 60_000 } as const;
type Life = keyof typeof lifeMs;

const maxMarks = 4;
/** Positions that are looked back over from a mark, the mark's own among them. */
const lookback = 20;
/** Tokens of the shortest prefix that is kept, for every model that the bot knows by name. */
const minimumTokens = 512;

/** A prefix of requests: all blocks up to one of them. */
interface Prefix {
  readonly next: Map<string, Prefix>;
  /** Tokens of the whole prefix. */
  readonly tokens: number;
  kept?: { readonly life: Life; usedAt: number };
}

interface Block {
  readonly text: string;
  readonly mark: Life | undefined;
}

/**
 * The vendor's prompt cache as its documentation of October 2026 has it: an entry a mark, for the whole prefix up to there; found from a mark by looking
 * back; refreshed, with those inside it, by every read from the moment of the request on. Tokens are estimated.
 */
export class VendorCache {
  readonly #models = new Map<string, Prefix>();

  /**
   * Bills one request. `now` is in milliseconds and never goes back.
   * @throws {RangeError} for marks that the vendor refuses.
   */
  bill(body: MessageCreateParams, now: number): Billed {
    const blocks = blocksOf(body);
    const marks = blocks.flatMap(({ mark }, index) => (mark === undefined ? [] : [{ index, life: mark }]));
    if (marks.length > maxMarks) throw new RangeError(`${marks.length} cache marks`);
    const firstShort = marks.findIndex(({ life }) => life === '5m');
    if (firstShort !== -1 && marks.slice(firstShort).some(({ life }) => life === '1h'))
      throw new RangeError('A mark of an hour after one of five minutes');

    const { path, known } = this.#pathOf(body.model, blocks);
    const isAlive = ({ kept }: Prefix): boolean =>
      kept !== undefined && now - kept.usedAt < lifeMs[kept.life];
    const hit = path.findLastIndex(
      (prefix, index) =>
        isAlive(prefix) && marks.some((mark) => index <= mark.index && index > mark.index - lookback),
    );
    for (const prefix of path.slice(0, hit + 1))
      if (prefix.kept !== undefined && isAlive(prefix)) prefix.kept.usedAt = now;

    const end = (life: Life): number => {
      const ends = marks.flatMap((mark) => (mark.life === life ? (path[mark.index]?.tokens ?? 0) : []));
      return Math.max(0, ...ends.filter((tokens) => tokens >= minimumTokens));
    };
    for (const { index, life } of marks) {
      const prefix = path[index];
      if (prefix !== undefined && index > hit && prefix.tokens >= minimumTokens)
        prefix.kept = { life, usedAt: now };
    }
    const read = path[hit]?.tokens ?? 0;
    const hourEnd = Math.max(read, end('1h'));
    const markEnd = Math.max(hourEnd, end('5m'));
    const all = path.at(-1)?.tokens ?? 0;
    return { read, written1h: hourEnd - read, written5m: markEnd - hourEnd, plain: all - markEnd, known };
  }

  /** The prefix that ends with each block, and how many tokens of them were sent before. */
  #pathOf(model: string, blocks: readonly Block[]) {
    let prefix = this.#models.get(model) ?? { next: new Map(), tokens: 0 };
    this.#models.set(model, prefix);
    let known = 0;
    const path = blocks.map(({ text }): Prefix => {
      const sent = prefix.next.get(text);
      if (sent !== undefined) known = sent.tokens;
      const next = sent ?? {
        next: new Map<string, Prefix>(),
        tokens: prefix.tokens + estimateTokenCount(text),
      };
      prefix.next.set(text, next);
      return (prefix = next);
    });
    return { path, known };
  }
}

function blocksOf(body: MessageCreateParams): readonly Block[] {
  const { tools = [], system = [], messages } = body;
  const texts: readonly TextBlockParam[] =
    typeof system === 'string' ? [{ type: 'text', text: system }] : system;
  return [
    ...tools.map((tool) => blockOf('tool', tool)),
    ...texts.map((text) => blockOf('system', text)),
    ...messages.flatMap(({ role, content }) => {
      const blocks: readonly ContentBlockParam[] =
        typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      return blocks.map((block) => blockOf(role, block));
    }),
  ];
}

function blockOf(role: string, block: object): Block {
  const { cache_control: mark, ...rest } = block as { cache_control?: { ttl?: Life } | null };
  const text = 'text' in rest && typeof rest.text === 'string' ? rest.text : JSON.stringify(rest);
  return { text: `${role}: ${text}`, mark: mark ? (mark.ttl ?? '5m') : undefined };
}
