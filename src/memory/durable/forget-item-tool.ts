import { z } from 'zod';

import { dataLine } from '../../core/section.ts';
import type { Tool, ToolOutcome } from '../../core/tool.ts';
import type { DurableMemory } from './durable-memory.ts';
import { asksToForget } from './forget-consent.ts';
import { matchingItems } from './forget-items.ts';
import { mayUseItem } from './item-place.ts';

const inputSchema = z.object({ target: z.string() });

const definition = {
  name: 'forget_item',
  description:
    'Forget what is remembered about the person, when they ask for it in the message you are answering. `target` is the id of an item or words that stand ' +
    'in its text; every item with these words is forgotten, so choose them narrowly.',
  inputSchema: {
    type: 'object',
    properties: { target: { type: 'string', description: 'Id, or words of the text, taken literally.' } },
    required: ['target'],
    additionalProperties: false,
  },
} as const;

/**
 * The model's way to forget: only the speaker's own items that may be used here, and only when the speaker's own words ask for
 * it. What matches elsewhere is not told, so nothing can be found out by trying. `StoreError` rejects.
 */
export function createForgetItemTool({
  durable,
}: {
  readonly durable: Pick<DurableMemory, 'list' | 'forget'>;
}): Tool {
  return {
    definition,
    async run(input, context) {
      const parsed = inputSchema.safeParse(input);
      if (!parsed.success) return refusal(`Nothing forgotten: ${z.prettifyError(parsed.error)}`);
      const { target } = parsed.data;
      const { speaker, place, messages } = context;
      const usable = (await durable.list(speaker.id)).filter((item) => mayUseItem(item, speaker.id, place));
      const named = matchingItems(usable, target);
      const texts = messages.map((message) => message.text);
      if (!asksToForget(texts, target, named)) {
        return refusal(
          "Nothing forgotten: the person's own message does not ask to forget this. They can ask for it by name, or write `!memory forget` with words of it.",
        );
      }
      const newest = messages.at(-1);
      if (newest === undefined) return refusal('Nothing forgotten: there is no message that asks for it.');
      const { forgotten } = await durable.forget(speaker.id, target, place, newest.id);
      const lines = forgotten.map((item) => `- [${item.kind}] ${dataLine(item.text)} (id ${item.id})`);
      return forgotten.length === 0
        ? refusal('Nothing forgotten: no item here has this id or these words.')
        : { ok: true, text: `Forgotten:\n${lines.join('\n')}` };
    },
  };
}

function refusal(text: string): ToolOutcome {
  return { ok: false, text };
}
