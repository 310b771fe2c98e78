import { z } from 'zod';

import { buttonSchema, sentMaxChars, type CommandButton } from './reply.ts';
import type { SourceInText } from './memory-source.ts';
import { parseNearly } from './lenient-json.ts';
import { jsonSchemaOf, type ToolDefinition } from './model.ts';
import type { SectionSource } from './section.ts';
import { idSchema } from './snowflake.ts';
import { withoutFences, withoutInvisible } from './text.ts';
import type { TurnContext } from './turn-context.ts';

/** At most 8,000 characters are passed on to the model [P4]. */
export interface ToolOutcome {
  readonly ok: boolean;
  readonly text: string;
  /** What was done, told under the reply in the bot's own words, as Discord markdown. */
  readonly note?: string;
  readonly notice?: MemoryNotice;
  /** Nothing was done, because the person is asked first [M8]; `text` tells the model. */
  readonly offer?: Offer;
  /** The text may repeat others' words: from now on the turn's context holds them [M5a], with this mark for the answer. */
  readonly thirdPartyMark?: string | undefined;
  /** The memory that the text shows [K7]. */
  readonly sources?: readonly SourceInText[];
}

const buttonsSchema = z.array(buttonSchema).readonly();
const memoryNoticeSchema = z.object({
  /** Such as `💾 Remembered: "Likes tea"`, for the turn's place. */
  line: z.string(),
  /** Without anybody's words, for readers who joined since. */
  bareLine: z.string(),
  buttons: buttonsSchema,
  /** For readers who joined since, where the labels of `buttons` are somebody's words. */
  bareButtons: buttonsSchema.optional(),
  /** Something was only added: not told where notices are off. */
  isQuiet: z.literal(true).optional(),
});

/** A change of the speaker's memory, told under the answer by the program, never by the model [K6]. */
export type MemoryNotice = Readonly<z.infer<typeof memoryNoticeSchema>>;

const namedSchema = z.object({ id: z.string(), text: z.string() });
const namedMemorySchema = namedSchema.extend({
  kind: z.enum(['item', 'proposal']),
  before: namedSchema.optional(),
});

/** What a notice names, as it was then. */
export type NamedMemory = Readonly<z.infer<typeof namedMemorySchema>>;

export const lateNoticeSchema = z.object({
  userId: idSchema,
  messageId: idSchema,
  notice: memoryNoticeSchema,
  about: namedMemorySchema,
});

export type LateNotice = Readonly<z.infer<typeof lateNoticeSchema>>;

export interface OfferOutcome {
  readonly text: string;
  readonly buttons: readonly CommandButton[];
}

/** What a tool would do if the person presses a button [M8]. */
export interface Offer {
  /** In the program's words, as Discord markdown: `Pin this message: https://…`. */
  readonly what: string;
  /** The words that would be written, shown literally and whole. */
  readonly words?: string;
  /** Of the button, where it is one question in small print. Default: “Do it”. */
  readonly label?: string;
  /** Does it at most once, after checking again. Resolves with a line for people; rejects where unsure. */
  readonly carryOut: (signal: AbortSignal) => Promise<string | OfferOutcome>;
}

/** Characters added under an offer once a button was pressed. */
export const offerOutcomeMaxChars = 200;

const offerMaxChars = sentMaxChars - offerOutcomeMaxChars;

/** How an offer begins, by which history knows it [F2]. */
export const offerHead = '-# Nothing is done unless you press “Do it”:';

/** What stands above the buttons; `undefined` if too long, since nobody may agree to a part. */
export function offerText({ what, words, label }: Omit<Offer, 'carryOut'>): string | undefined {
  if (label !== undefined) return `-# ${what}`;
  const block = words === undefined ? '' : `\n\`\`\`\n${withoutFences(withoutInvisible(words))}\n\`\`\``;
  const text = `${offerHead}\n${what}${block}`;
  return text.length > offerMaxChars ? undefined : text;
}

/** Shows offers to the one person who may accept them: `discord/` implements it, `turn/` calls it. */
export interface OfferPort {
  /**
   * Shows each offer with two buttons, pinging nobody. It ends when pressed, after ten minutes, with the
   * process, when a message that it answers was deleted or edited, or when one of `replyIds` was deleted.
   * `mayShow` is asked before each try [V2], `beforeSeen` is awaited with each id, which enters no history [F2].
   * Never rejects.
   */
  show(
    offers: readonly Offer[],
    shown: {
      readonly personId: string;
      readonly channelId: string;
      readonly messages: readonly { readonly id: string; readonly text: string }[];
      readonly replyIds: readonly string[];
      readonly mayShow: () => Promise<boolean>;
      readonly beforeSeen: (messageId: string) => Promise<void>;
    },
  ): Promise<void>;
  /** Ends what is offered to a person [K11]. Must not throw. */
  endOffersTo(personId: string): void;
}

/** `run` validates its input and answers `ok: false` for what the model can mend, instead of throwing. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** It keeps what was said: refused in a pause, and where nothing is to be noticed, but for wishes [K9]. */
  readonly stores?: 'items' | 'notes' | 'wishes';
  run(input: unknown, context: TurnContext, signal: AbortSignal): Promise<ToolOutcome>;
}

export function refusal(text: string) {
  return { ok: false, text } as const;
}

/** A tool with one schema for description and check; input that does not come near it is answered with what is wrong [M14]. */
export function checkedTool<Input>(tool: {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly notDone: string;
  readonly stores?: 'items' | 'notes' | 'wishes';
  readonly run: (input: Input, context: TurnContext, signal: AbortSignal) => Promise<ToolOutcome>;
}): Tool {
  const { name, description, input: schema, notDone, stores, run } = tool;
  const inputSchema = jsonSchemaOf(schema);
  return {
    definition: { name, description, inputSchema },
    stores,
    async run(input, context, signal) {
      const parsed = parseNearly(schema, inputSchema, input);
      if (!parsed.success) return refusal(`${notDone}: ${z.prettifyError(parsed.error)}`);
      return run(parsed.data, context, signal);
    },
  };
}

/** Tools that act outside of memory, with the section that explains them. */
export interface ActionTools extends SectionSource<TurnContext> {
  /** The same in every turn of a place [P2]. */
  readonly tools: readonly Tool[];
}
