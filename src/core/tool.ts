import { z } from 'zod';

import { jsonSchemaOf, type ToolDefinition } from './model.ts';
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

export function refusal(text: string) {
  return { ok: false, text } as const;
}

/**
 * A tool whose input is described to the model, and checked, by one schema. Other input is answered with what is wrong with it, after
 * `notDone`: `Not stored`.
 */
export function checkedTool<Input>({
  name,
  description,
  input: schema,
  notDone,
  run,
}: {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly notDone: string;
  readonly run: (input: Input, context: TurnContext, signal: AbortSignal) => Promise<ToolOutcome>;
}): Tool {
  return {
    definition: { name, description, inputSchema: jsonSchemaOf(schema) },
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
