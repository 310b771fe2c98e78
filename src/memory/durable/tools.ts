import { z } from 'zod';

import type { SessionKey } from '../../core/place.ts';
import { textWithSources } from '../../core/memory-source.ts';
import { hasSecret, maskSecrets } from '../../core/secrets.ts';
import { dataLine } from '../../core/section.ts';
import { flatten } from '../../core/text.ts';
import { checkedTool, refusal, type Tool, type ToolOutcome } from '../../core/tool.ts';
import { sessionOf, type TurnContext } from '../../core/turn-context.ts';
import { itemKinds, mayUseItem, sourceOfItem, type DurableItem } from './document.ts';
import type { DurableMemory, RememberInput } from './durable-memory.ts';
import { isProven, standsIn } from './evidence.ts';
import { matchingItems } from './items.ts';
import { asksToForget, corrects, namedItems } from './naming.ts';
import { undoButton } from '../undo.ts';
import { forgetNotice, proposalNotice, rememberNotice } from './notices.ts';
import type { ProposalOutcome, Proposals } from './proposals.ts';
import type { RefusalReason } from './remember-item.ts';

const rememberInput = z.object({
  kind: z.enum(itemKinds),
  text: z.string().describe('One short sentence.'),
  quote: z.string().describe("Word for word from the person's own message."),
  replaces: z
    .string()
    .describe('Id, or words of the text, of the one item that this corrects.')
    .exactOptional(),
});

interface ItemToolOptions {
  /** The bot's answer before a turn's messages, or the one that they reply to; empty where there is none. */
  readonly answerBefore: (context: TurnContext) => Promise<string>;
}

interface RememberItemToolOptions extends ItemToolOptions {
  readonly durable: Pick<DurableMemory, 'list' | 'remember'>;
  /** Stores, or asks the person first. */
  readonly proposals: Pick<Proposals, 'remember'>;
  /** What a message of the session says now, as the log has it; `undefined` once it is deleted [A4]. */
  readonly stillThere: (session: SessionKey, messageId: string) => Promise<string | undefined>;
}

/**
 * The model's way to store an item. Only what the speaker's own message says can be stored [M5a], so it is safe also where other
 * people's text is in the context. `StoreError` rejects.
 */
export function createRememberItemTool(ports: RememberItemToolOptions): Tool {
  const { durable, proposals, stillThere, answerBefore } = ports;
  return checkedTool({
    name: 'remember_item',
    description:
      'Remember one lasting thing that the person says about themselves in the message you are answering. `quote` is copied word for word from ' +
      'that message; `text` says the same in short, with the words of the quote: quote "I prefer tabs over spaces", text "Prefers tabs over spaces". ' +
      'Anything else is refused, and so are questions, conditions, wishes, and what is said about somebody whom `text` does not name first. ' +
      'When it corrects something remembered, name that in `replaces`.',
    input: rememberInput,
    notDone: 'Not stored',
    stores: 'items',
    async run({ kind, text, quote, replaces }, context) {
      if (context.speaker.isBot !== undefined)
        return refusal('Not stored: what another bot says is not remembered.');
      if (hasSecret(text)) return refusal(`Not stored: ${reasons.secret}`);
      const quotedIn = context.messages.filter((each) => standsIn(quote, [each.text]));
      if (quotedIn.length === 0) {
        return refusal("Not stored: the quote does not stand word for word in the person's own message.");
      }
      const message = quotedIn.findLast((each) => isProven({ text, quote }, each.text));
      if (message === undefined) {
        return refusal(
          "Not stored: the person does not state this of themselves, or the text says more than the quote. Use the person's own words, with the verb and " +
            'any "not", and quote the whole statement.',
        );
      }

      const requestFor = (replaced: string | undefined): RememberInput => ({
        kind,
        text,
        place: context.saidIn ?? context.place,
        messageId: message.id,
        type: 'discord',
        turnMessageId: context.messages.at(-1)?.id ?? message.id,
        ...(replaced === undefined ? {} : { replaces: replaced }),
        stillStands: async () => {
          const present = await stillThere(sessionOf(context), message.id);
          return (
            present === maskSecrets(message.text) ||
            (present !== undefined && isProven({ text, quote }, present))
          );
        },
      });
      const replaced = await findReplaced(replaces, context);
      if (!replaced.ok) return replaced;
      const { item } = replaced;
      if (item === undefined || replaced.isNamed)
        return answer(await proposals.remember(context.speaker.id, requestFor(item?.id)), text, context);
      return {
        ...refusal(
          "Not stored: it is not plain that the person's own words are about the item in `replaces`.",
        ),
        offer: {
          what: 'Remember the first line instead of the second:',
          words: `${flatten(text)}\n${flatten(item.text)}`,
          async carryOut() {
            const done = await durable.remember(context.speaker.id, requestFor(item.id));
            return done.outcome === 'refused'
              ? 'Not remembered: it has changed in the meantime.'
              : { text: 'Remembered.', buttons: undoButton(done.undoId) };
          },
        },
      };
    },
  });

  async function findReplaced(
    target: string | undefined,
    context: TurnContext,
  ): Promise<
    | { readonly ok: true; readonly item?: DurableItem; readonly isNamed: boolean }
    | (ToolOutcome & { readonly ok: false })
  > {
    if (target === undefined) return { ok: true, isNamed: true };
    const usable = await usableItems(context, durable);
    const [item, ...others] = matchingItems(usable, target);
    if (item === undefined)
      return refusal('Not stored: `replaces` names no item. Leave it out, or name one.');
    if (others.length > 0) {
      const choices = [item, ...others].map((each) => choiceLine('', each));
      const heading = { text: 'Not stored: `replaces` fits several items. Name one by its id:' };
      return { ok: false, ...textWithSources([heading, ...choices], '\n') };
    }
    const said = context.messages.map((message) => message.text);
    const isNamed = namedItems(said, usable, await answerBefore(context)).includes(item);
    if (!isNamed && !corrects(said)) {
      return refusal(
        "Not stored: nothing in the person's own message has to do with the item in `replaces`. Leave it out, or ask the person.",
      );
    }
    return { ok: true, item, isNamed };
  }
}

function answer(outcome: ProposalOutcome, text: string, context: TurnContext): ToolOutcome {
  if (outcome.outcome === 'proposed')
    return outcome.isKnown
      ? refusal('Not stored yet: the person was asked already whether this may be remembered.')
      : {
          ok: true,
          text: 'Not stored yet: under your answer the person is asked whether this may be remembered. Do not claim that it is.',
          notice: proposalNotice(outcome.proposed, context.saidIn === undefined),
        };
  if (outcome.outcome === 'refused') return refusal(`Not stored: ${reasons[outcome.reason]}`);
  const { item, evicted, superseded } = outcome;
  const named = evicted.filter((each) => isUsable(each, context));
  const lines = [
    isUsable(item, context)
      ? choiceLine('Remembered: ', item)
      : { text: `Remembered: ${dataLine(item.text)}` },
    ...(superseded === undefined ? [] : [choiceLine('It replaces: ', superseded)]),
    ...named.map((each) => choiceLine('No longer kept, to make room: ', each)),
    ...(evicted.length > named.length ? [{ text: 'An older item is no longer kept, to make room.' }] : []),
  ];
  return {
    ok: true,
    ...textWithSources(lines, '\n'),
    notice: rememberNotice(outcome, text, context.saidIn === undefined || isUsable(item, context)),
  };
}

const reasons: Readonly<Record<RefusalReason, string>> = {
  empty: 'the text is empty.',
  'too-long': 'the text is too long. Say it shorter.',
  secret:
    'it looks like a password, key, code, card or account number, which memory never holds. Tell the person that it was not stored.',
  full: 'the memory is full of pinned items. The person has to forget one first.',
  forgotten:
    'the person has forgotten this, or taken the message back. Only they can bring it back, with `!memory remember`.',
  'unknown-id': 'the item in `replaces` is no longer there.',
};

/**
 * The model's way to forget: only the speaker's own items that may be used here, and only when the speaker's own words ask for
 * it. What these words do not name without doubt, the person forgets by a button [M5a]. What matches elsewhere is not told, so nothing can be
 * found out by trying. `StoreError` rejects.
 */
export function createForgetItemTool(
  ports: ItemToolOptions & { readonly durable: Pick<DurableMemory, 'list' | 'forget'> },
): Tool {
  const { durable, answerBefore } = ports;
  return checkedTool({
    name: 'forget_item',
    description:
      'Forget what is remembered about the person, when they ask for it in the message you are answering. `target` is the id of an item or words that stand ' +
      'in its text; every item with these words is forgotten, so choose them narrowly.',
    input: z.object({ target: z.string().describe('Id, or words of the text, taken literally.') }),
    notDone: 'Nothing forgotten',
    async run({ target }, context) {
      const newest = context.messages.at(-1);
      if (newest === undefined) return refusal('Nothing forgotten: there is no message that asks for it.');
      const said = context.messages.map((message) => message.text);
      if (!asksToForget(said)) {
        return refusal(
          "Nothing forgotten: the person's own message does not ask to forget this. They can ask for it by name, or write `!memory forget` with words of it.",
        );
      }
      const usable = await usableItems(context, durable);
      const meant = matchingItems(usable, target);
      const named = namedItems(said, usable, await answerBefore(context));
      if (meant.every((item) => named.includes(item))) {
        const { forgotten, undoId } = await durable.forget(
          context.speaker.id,
          target,
          context.place,
          newest.id,
        );
        const lines = forgotten.map((item) => choiceLine('- ', item));
        return forgotten.length === 0
          ? refusal('Nothing forgotten: no item here has this id or these words.')
          : {
              ok: true,
              ...textWithSources([{ text: 'Forgotten:' }, ...lines], '\n'),
              notice: forgetNotice(forgotten.length, undoId),
            };
      }
      return {
        ...refusal("Nothing forgotten: it is not plain which item the person's own words mean."),
        offer: {
          what: meant.length === 1 ? 'Forget this:' : `Forget these ${meant.length} items:`,
          words: meant.map(({ text }) => flatten(text)).join('\n'),
          async carryOut() {
            const present = matchingItems(await usableItems(context, durable), target);
            const isSame =
              present.length === meant.length &&
              present.every(({ id, text }) => meant.some((item) => item.id === id && item.text === text));
            if (!isSame) return 'Not forgotten: it has changed in the meantime.';
            const { forgotten, undoId } = await durable.forget(
              context.speaker.id,
              target,
              context.place,
              newest.id,
            );
            return forgotten.length === 0
              ? 'Not forgotten: it is no longer there.'
              : { text: 'Forgotten.', buttons: undoButton(undoId) };
          },
        },
      };
    },
  });
}

/** The speaker's own items that may be used here. */
async function usableItems(
  context: TurnContext,
  durable: Pick<DurableMemory, 'list'>,
): Promise<readonly DurableItem[]> {
  const items = await durable.list(context.speaker.id);
  return items.filter((item) => isUsable(item, context));
}

function isUsable(item: DurableItem, context: TurnContext): boolean {
  return mayUseItem(item, context.speaker.id, context.place);
}

function choiceLine(before: string, item: DurableItem) {
  return {
    text: `${before}[${item.kind}] ${dataLine(item.text)} (id ${item.id})`,
    source: sourceOfItem(item),
  };
}
