import { z } from 'zod';

import type { SessionKey } from '../../core/place.ts';
import { dataLine } from '../../core/section.ts';
import { checkedTool, refusal, type Tool, type ToolOutcome } from '../../core/tool.ts';
import { sessionOf, type TurnContext } from '../../core/turn-context.ts';
import { itemKinds, mayUseItem, type DurableItem } from './document.ts';
import type { DurableMemory } from './durable-memory.ts';
import { asksToForget, isProven, mayReplace, standsIn } from './evidence.ts';
import { matchingItems } from './items.ts';
import type { RefusalReason, RememberOutcome } from './remember-item.ts';

const rememberInput = z.object({
  kind: z.enum(itemKinds),
  text: z.string().describe('One short sentence.'),
  quote: z.string().describe("Word for word from the person's own message."),
  replaces: z
    .string()
    .describe('Id, or words of the text, of the one item that this corrects.')
    .exactOptional(),
});

interface RememberItemToolOptions {
  readonly durable: Pick<DurableMemory, 'list' | 'remember'>;
  /** What a message of the session says now, as the log has it; `undefined` once it is deleted [A4]. */
  readonly stillThere: (session: SessionKey, messageId: string) => Promise<string | undefined>;
}

/**
 * The model's way to store an item. Only what the speaker's own message says can be stored [M5a], so it is safe also where other
 * people's text is in the context. `StoreError` rejects.
 */
export function createRememberItemTool({ durable, stillThere }: RememberItemToolOptions): Tool {
  return checkedTool({
    name: 'remember_item',
    description:
      'Remember one lasting thing that the person says about themselves in the message you are answering. `quote` is copied word for word from ' +
      'that message; `text` says the same in short, with the words of the quote: quote "I prefer tabs over spaces", text "Prefers tabs over spaces". ' +
      'Anything else is refused. When it corrects something remembered, name that in `replaces`.',
    input: rememberInput,
    notDone: 'Not stored',
    async run({ kind, text, quote, replaces }, context) {
      if (context.speaker.isBot !== undefined)
        return refusal('Not stored: what another bot says is not remembered.');
      const message = context.messages.findLast((each) => standsIn(quote, [each.text]));
      if (message === undefined) {
        return refusal("Not stored: the quote does not stand word for word in the person's own message.");
      }
      if (!isProven({ text, quote }, message.text)) {
        return refusal(
          "Not stored: the text says more than the quote, or the opposite. Use the person's own words, and quote the whole statement.",
        );
      }

      const replaced = await findReplaced(replaces, context);
      if (!replaced.ok) return replaced;
      const outcome = await durable.remember(context.speaker.id, {
        kind,
        text,
        place: context.saidIn ?? context.place,
        messageId: message.id,
        type: 'discord',
        turnMessageId: context.messages.at(-1)?.id ?? message.id,
        ...(replaced.id === undefined ? {} : { replaces: replaced.id }),
        stillStands: async () => {
          const present = await stillThere(sessionOf(context), message.id);
          return present !== undefined && isProven({ text, quote }, present);
        },
      });
      return answer(outcome, context);
    },
  });

  async function findReplaced(
    target: string | undefined,
    context: TurnContext,
  ): Promise<{ readonly ok: true; readonly id?: string } | ReturnType<typeof refusal>> {
    if (target === undefined) return { ok: true };
    const named = await itemsNamed(target, context, durable);
    const [item] = named;
    if (item === undefined)
      return refusal('Not stored: `replaces` names no item. Leave it out, or name one.');
    if (named.length > 1) {
      const choices = named.map(asChoice).join('\n');
      return refusal(`Not stored: \`replaces\` fits several items. Name one by its id:\n${choices}`);
    }
    const texts = context.messages.map((message) => message.text);
    if (!mayReplace(texts, item)) {
      return refusal(
        "Not stored: nothing in the person's own message has to do with the item in `replaces`. Leave it out, or ask the person.",
      );
    }
    return { ok: true, id: item.id };
  }
}

function answer(outcome: RememberOutcome, context: TurnContext): ToolOutcome {
  if (outcome.outcome === 'refused') return refusal(`Not stored: ${reasons[outcome.reason]}`);
  const { item, evicted, superseded } = outcome;
  const named = evicted.filter((each) => isUsable(each, context));
  const lines = [
    isUsable(item, context) ? `Remembered: ${asChoice(item)}` : `Remembered: ${dataLine(item.text)}`,
    ...(superseded === undefined ? [] : [`It replaces: ${asChoice(superseded)}`]),
    ...named.map((each) => `No longer kept, to make room: ${asChoice(each)}`),
    ...(evicted.length > named.length ? ['An older item is no longer kept, to make room.'] : []),
  ];
  return { ok: true, text: lines.join('\n') };
}

const reasons: Readonly<Record<RefusalReason, string>> = {
  empty: 'the text is empty.',
  'too-long': 'the text is too long. Say it shorter.',
  full: 'the memory is full of pinned items. The person has to forget one first.',
  forgotten:
    'the person has forgotten this, or taken the message back. Only they can bring it back, with `!memory remember`.',
  'unknown-id': 'the item in `replaces` is no longer there.',
};

/**
 * The model's way to forget: only the speaker's own items that may be used here, and only when the speaker's own words ask for
 * it. What matches elsewhere is not told, so nothing can be found out by trying. `StoreError` rejects.
 */
export function createForgetItemTool({
  durable,
}: {
  readonly durable: Pick<DurableMemory, 'list' | 'forget'>;
}): Tool {
  return checkedTool({
    name: 'forget_item',
    description:
      'Forget what is remembered about the person, when they ask for it in the message you are answering. `target` is the id of an item or words that stand ' +
      'in its text; every item with these words is forgotten, so choose them narrowly.',
    input: z.object({ target: z.string().describe('Id, or words of the text, taken literally.') }),
    notDone: 'Nothing forgotten',
    async run({ target }, context) {
      const { speaker, place, messages } = context;
      const named = await itemsNamed(target, context, durable);
      const texts = messages.map((message) => message.text);
      if (!asksToForget(texts, target, named)) {
        return refusal(
          "Nothing forgotten: the person's own message does not ask to forget this. They can ask for it by name, or write `!memory forget` with words of it.",
        );
      }
      const newest = messages.at(-1);
      if (newest === undefined) return refusal('Nothing forgotten: there is no message that asks for it.');
      const { forgotten } = await durable.forget(speaker.id, target, place, newest.id);
      const lines = forgotten.map((item) => `- ${asChoice(item)}`);
      return forgotten.length === 0
        ? refusal('Nothing forgotten: no item here has this id or these words.')
        : { ok: true, text: `Forgotten:\n${lines.join('\n')}` };
    },
  });
}

/** The speaker's own items that the model means, of those that may be used here. */
async function itemsNamed(
  target: string,
  context: TurnContext,
  durable: Pick<DurableMemory, 'list'>,
): Promise<readonly DurableItem[]> {
  const items = await durable.list(context.speaker.id);
  return matchingItems(
    items.filter((item) => isUsable(item, context)),
    target,
  );
}

function isUsable(item: DurableItem, context: TurnContext): boolean {
  return mayUseItem(item, context.speaker.id, context.place);
}

function asChoice(item: DurableItem): string {
  return `[${item.kind}] ${dataLine(item.text)} (id ${item.id})`;
}
