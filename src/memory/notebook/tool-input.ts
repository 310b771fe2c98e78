import { z } from 'zod';

import type { ToolOutcome } from '../../core/tool.ts';

/** The path argument that all tools of one file share. */
export const pathProperty = {
  type: 'string',
  description:
    'Such as overview.md, detail/plan.md; in direct messages also USER.md, MEMORY.md, facts/user.md, episodes/2026-01.md, topics/rust.md, daily/2026-01-15.md.',
} as const;

export const summaryProperty = {
  type: 'string',
  description: 'What the file then holds, in one line of a few words; lists show it.',
} as const;

/** Runs a tool's work on input of the right shape; other input is answered with what is wrong with it. */
export async function withInput<T>(
  schema: z.ZodType<T>,
  input: unknown,
  work: (input: T) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return work(parsed.data);
  return { ok: false, text: `Nothing was done: ${z.prettifyError(parsed.error)}` };
}
