import type { ToolDefinition } from './model.ts';
import type { SectionSource } from './section.ts';
import type { TurnContext } from './turn-context.ts';

/** What the model gets to read of a tool's run; at most 8,000 characters are passed on [P4]. */
export interface ToolOutcome {
  readonly ok: boolean;
  readonly text: string;
  /** Where something was done that people are to be told under the reply: a few words in markdown of Discord's, none of them anybody's. */
  readonly note?: string;
}

/** A tool the model may call. `run` validates its input, and answers with `ok: false` instead of throwing for anything the model can mend. */
export interface Tool {
  readonly definition: ToolDefinition;
  run(input: unknown, context: TurnContext, signal: AbortSignal): Promise<ToolOutcome>;
}

/** Tools that do something outside of memory, with the section that tells the model what it may do with them. */
export interface ActionTools extends SectionSource<TurnContext> {
  /** The same in every turn of a place [P2]. */
  readonly tools: readonly Tool[];
}
