import { z } from 'zod';

import { sentMaxChars, type CommandButton } from './chat.ts';
import type { SourceInText } from './memory-source.ts';
import { jsonSchemaOf, type ToolDefinition } from './model.ts';
import type { SectionSource } from './section.ts';
import { withoutInvisible } from './text.ts';
import type { TurnContext } from './turn-context.ts';

/** What the model gets to read of a tool's run; at most 8,000 characters are passed on [P4]. */
export interface ToolOutcome {
  readonly ok: boolean;
  readonly text: string;
  /** Where something was done that people are to be told under the reply: a few words in markdown of Discord's, none of them anybody's. */
  readonly note?: string;
  /** Where it has changed what is kept of the speaker. */
  readonly notice?: MemoryNotice;
  /** Where nothing was done, because the person is to be asked first [M8]; `text` then tells the model why. */
  readonly offer?: Offer;
  /** The text may repeat what is not the speaker's: from now on the turn's context holds that [M5a]. */
  readonly hasThirdPartyText?: boolean;
  /** When that was in view itself, where it is only an earlier answer that may repeat it (ISO 8601, UTC). */
  readonly thirdPartyTextAt?: string;
  /** The text is what others said in a channel: an answer made with it retells that, and nothing is made of it [B4]. */
  readonly retells?: true;
  /** What of the speaker's memory the text shows [K7]. */
  readonly sources?: readonly SourceInText[];
}

/** What was done to the speaker's memory: told under the answer by the program, never by the model [K6]. */
export interface MemoryNotice {
  /** One line, with words that may be used in the turn's place: `💾 Remembered: "Likes tea"`. */
  readonly line: string;
  /** The same without anybody's words, for readers who joined since. */
  readonly bareLine: string;
  /** Each label of at most two or three words. */
  readonly buttons: readonly CommandButton[];
  /** Something new was stored and nothing else: whoever has switched notices off is not told. */
  readonly isQuiet?: true;
  /** Nothing was changed yet: the person is asked [K9]. */
  readonly isProposal?: true;
}

/** What was stored of a message after its turn, and the message. */
export interface LateNotice {
  readonly userId: string;
  readonly messageId: string;
  readonly notice: MemoryNotice;
  readonly about: NamedMemory;
}

/** What a notice names, as it was then: an item, with the one that it corrected, or what its person is asked about. */
export interface NamedMemory {
  readonly kind: 'item' | 'proposal';
  readonly id: string;
  readonly text: string;
  readonly before?: { readonly id: string; readonly text: string };
}

/** What came of an offer. */
export interface OfferOutcome {
  /** One line. */
  readonly text: string;
  readonly buttons: readonly CommandButton[];
}

/** What a tool would do, and the person may have done by a button [M8]. */
export interface Offer {
  /** In the program's own words, in markdown of Discord's: `Pin this message: https://…`. */
  readonly what: string;
  /** The words that would be written, or that it is about: data, shown literally and whole. */
  readonly words?: string;
  /**
   * Does it, at most once, with all checks made anew: permissions, readers, whether everything is there and as it was shown. Resolves with what
   * people are told of that, in one line; rejects where nobody can say what came of it.
   */
  readonly carryOut: (signal: AbortSignal) => Promise<string | OfferOutcome>;
}

/** Characters of what is said under an offer once a button was pressed. */
export const offerOutcomeMaxChars = 200;

/** Discord's limit for a message, less what is said under an offer once it was pressed. */
const offerMaxChars = sentMaxChars - offerOutcomeMaxChars;

/** How an offer begins, by which it is known in history [F2]. */
export const offerHead = '-# Nothing is done unless you press “Do it”:';

/** What the person reads above the buttons; `undefined` where it does not fit into a message, since nobody may agree to what they see in part. */
export function offerText({ what, words }: Pick<Offer, 'what' | 'words'>): string | undefined {
  const block = words === undefined ? '' : `\n\`\`\`\n${withoutFences(withoutInvisible(words))}\n\`\`\``;
  const text = `${offerHead}\n${what}${block}`;
  return text.length > offerMaxChars ? undefined : text;
}

/** Three backticks in a row would end the block around them. */
function withoutFences(text: string): string {
  return text.replace(/``(?=`)/gu, '``\u200b');
}

/** Shows what tools offer to the one person who may have it done: the port that `discord/` implements and `turn/` calls. */
export interface OfferPort {
  /**
   * Shows each offer with its two buttons, pinging nobody. It is over when a button was pressed, after ten minutes, when one of the messages
   * that it answers was deleted or reads otherwise than given here, when one of `replyIds` was deleted, and when the process ends. `beforeSeen` is
   * awaited with the id of each message, so that it enters no history [F2]. Never rejects.
   */
  show(
    offers: readonly Offer[],
    shown: {
      readonly personId: string;
      readonly channelId: string;
      readonly messages: readonly { readonly id: string; readonly text: string }[];
      readonly replyIds: readonly string[];
      readonly beforeSeen: (messageId: string) => Promise<void>;
    },
  ): Promise<void>;
  /** Takes away what is offered to a person [K11]. Must not throw. */
  endOf(personId: string): void;
}

/** A tool the model may call. `run` validates its input, and answers with `ok: false` instead of throwing for anything the model can mend. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** It keeps what was said: refused in a pause, and where nothing is to be noticed [K9]. */
  readonly stores?: 'items' | 'notes';
  run(input: unknown, context: TurnContext, signal: AbortSignal): Promise<ToolOutcome>;
}

export function refusal(text: string) {
  return { ok: false, text } as const;
}

/** A tool whose input is described to the model, and checked, by one schema. Other input is answered with what is wrong with it, after `notDone`: `Not stored`. */
export function checkedTool<Input>(tool: {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly notDone: string;
  readonly stores?: 'items' | 'notes';
  readonly run: (input: Input, context: TurnContext, signal: AbortSignal) => Promise<ToolOutcome>;
}): Tool {
  const { name, description, input: schema, notDone, stores, run } = tool;
  return {
    definition: { name, description, inputSchema: jsonSchemaOf(schema) },
    stores,
    async run(input, context, signal) {
      const parsed = schema.safeParse(input);
      if (!parsed.success) return refusal(`${notDone}: ${z.prettifyError(parsed.error)}`);
      return run(parsed.data, context, signal);
    },
  };
}

/** Tools that do something outside of memory, with the section that tells the model what it may do with them. */
export interface ActionTools extends SectionSource<TurnContext> {
  /** The same in every turn of a place [P2]. */
  readonly tools: readonly Tool[];
}
