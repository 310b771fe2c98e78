import { z } from 'zod';

import { textWithSources } from '../../core/memory-source.ts';
import { hasSecret } from '../../core/secrets.ts';
import { dataLine } from '../../core/section.ts';
import { toSingleLine } from '../../core/text.ts';
import { checkedTool, refusal, type Tool, type ToolOutcome } from '../../core/tool.ts';
import { asksFirst, sessionOf, type TurnContext } from '../../core/turn-context.ts';
import { itemKinds, mayUseItem, sourceOfItem, wordingOf, type DurableItem } from './document.ts';
import type { SessionLog } from '../log/session-log.ts';
import type { DurableMemory } from './durable-memory.ts';
import { questionAtEnd, sentencesQuoted, stillSays } from './evidence.ts';
import { findItems, matchedWords, newestItems } from './items.ts';
import { undoButton } from '../undo.ts';
import {
  forgetNotice,
  mayReplace,
  proposalNotice,
  rememberNotice,
  whichNotice,
  whichToForget,
} from './notices.ts';
import type { Proposals } from './proposals.ts';
import type { ProposalOutcome, RefusalReason, RememberRequest } from './remember-item.ts';

/**
 * Stores whole sentences of the speaker's own message [M5a], so it is safe beside others' text; what it would replace
 * then takes a button. `StoreError` rejects.
 */
export function createRememberItemTool({
  durable,
  proposals,
  sessionLog,
}: {
  readonly durable: Pick<DurableMemory, 'list' | 'remember'>;
  /** Stores, or asks the person first. */
  readonly proposals: Pick<Proposals, 'remember'>;
  readonly sessionLog: Pick<SessionLog, 'message' | 'answerBefore'>;
}): Tool {
  return checkedTool({
    name: 'remember_item',
    description:
      'Remember one lasting thing that the person says about themselves in the message you are answering. `quote` is a short piece of that message that says it by ' +
      'itself, copied character for character, such as "I prefer tabs over spaces", "vivo en Porto" or "ナッツアレルギーです". Stored are the whole sentences that it touches. ' +
      'Questions, and what others said, cannot be stored. When it corrects something remembered, name that in `replaces`.',
    input: z.object({
      kind: z.enum(itemKinds),
      quote: z.string(),
      replaces: z.string().describe('Id, or words of the text, of one item.').exactOptional(),
    }),
    notDone: 'Not stored',
    stores: 'items',
    async run({ kind, quote, replaces }, context) {
      if (context.speaker.isBot !== undefined)
        return refusal('Not stored: what another bot says is not remembered.');
      const message = context.messages.findLast((each) => sentencesQuoted(quote, each.text) !== undefined);
      const text = message && sentencesQuoted(quote, message.text);
      if (message === undefined || text === undefined)
        return refusal(
          "Not stored: the quote does not stand word for word in the person's own message, or is a question. Copy a piece of what they state, without changing a letter.",
        );
      if (hasSecret(text)) return refusal(`Not stored: ${reasons.secret}`);

      const session = sessionOf(context);
      const answered = await sessionLog.answerBefore(session, message.id, message.repliesTo?.id);
      const request: RememberRequest = {
        kind,
        text,
        question: questionAtEnd(answered),
        place: context.originalPlace ?? context.place,
        messageId: message.id,
        type: 'discord',
        heard: message.heard,
        isOfList: message.text.split(/\n\s*/u).length > 3,
        turnMessageId: context.messages.at(-1)?.id ?? message.id,
        stillStands: async () => {
          const present = await sessionLog.message(session, message.id);
          return present !== undefined && stillSays(text, present);
        },
      };
      if (replaces === undefined) return answer(await proposals.remember(context.work, request), context);
      const { item, choices } = await usableItems(context, durable, replaces);
      if (item === undefined) {
        if (choices.length === 0)
          return refusal('Not stored: `replaces` names no item. Leave it out, or name one.');
        return answer(await proposals.remember(context.work, request), context, choices);
      }
      const replacing = { ...request, replaces: item.id };
      if (!asksFirst(context)) return answer(await proposals.remember(context.work, replacing), context);
      return {
        ...refusal('Not stored yet: the person is asked by a button under your answer.'),
        offer: {
          what: `Remember the first line${message.heard === true ? ' (heard)' : ''} instead of the second:`,
          words: `${toSingleLine(wordingOf(request))}\n${toSingleLine(wordingOf(item))}`,
          async carryOut() {
            const done = await durable.remember(context.work, replacing);
            return done.outcome === 'refused'
              ? 'Not remembered: it has changed in the meantime.'
              : { text: 'Remembered.', buttons: undoButton(done.undoId) };
          },
        },
      };
    },
  });
}

/** `choices`: which of them it replaces, the person is asked [K4]. */
function answer(
  outcome: ProposalOutcome,
  context: TurnContext,
  choices: readonly DurableItem[] = [],
): ToolOutcome {
  if (outcome.outcome === 'proposed')
    return outcome.isKnown
      ? refusal('Not stored yet: the person was asked already whether this may be remembered.')
      : {
          ok: true,
          text: 'Not stored yet: under your answer the person is asked whether this may be remembered. Do not claim that it is.',
          notice: proposalNotice(outcome.proposed, context.originalPlace === undefined),
        };
  if (outcome.outcome === 'refused') return refusal(`Not stored: ${reasons[outcome.reason]}`);
  const { item, evicted, superseded } = outcome;
  const named = evicted.filter((each) => isUsable(each, context));
  const lines = [
    isUsable(item, context)
      ? choiceLine('Remembered: ', item)
      : { text: `Remembered: ${dataLine(wordingOf(item))}` },
    ...(superseded === undefined ? [] : [choiceLine('It replaces: ', superseded)]),
    ...named.map((each) => choiceLine('No longer kept, to make room: ', each)),
    ...(evicted.length > named.length ? [{ text: 'An older item is no longer kept, to make room.' }] : []),
    ...(choices.length > 0 ? [{ text: 'Nothing is replaced yet: buttons ask the person which.' }] : []),
  ];
  const notice = rememberNotice(
    outcome,
    wordingOf(item),
    context.originalPlace === undefined || isUsable(item, context),
  );
  const others = choices.filter(({ id }) => id !== item.id);
  return {
    ok: true,
    ...textWithSources(lines, '\n'),
    notice: others.length === 0 ? notice : mayReplace(notice, item.id, others),
  };
}

const reasons: Readonly<Record<RefusalReason, string>> = {
  empty: 'the text is empty.',
  'too-long':
    'the whole sentence has more than 500 characters, which is too long for an item. Quote a shorter sentence.',
  secret:
    'it looks like a password, key, card or bank number, which memory never holds. Tell the person that it was not stored.',
  full: 'the memory is full of pinned items. The person has to forget one first.',
  enough:
    'enough of this message is stored already. Store no more of it; the person can, with `!memory remember`.',
  forgotten:
    'the person has forgotten this, or taken the message back. Only they can bring it back, with `!memory remember`.',
  'unknown-id': 'the item in `replaces` is no longer there.',
};

/**
 * Forgets the speaker's own items usable here; beside others' text by a button [M5a]. Matches elsewhere are not told,
 * so nothing can be found out by trying.
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
      'in its text alone; where they fit several, the person is asked which.',
    input: z.object({ target: z.string() }),
    notDone: 'Nothing forgotten',
    async run({ target }, context) {
      const newest = context.messages.at(-1);
      if (newest === undefined) return refusal('Nothing forgotten: there is no message that asks for it.');
      const { item, choices, isVague } = await usableItems(context, durable, target);
      if (item === undefined) {
        if (choices.length === 0 && !isVague)
          return refusal('Nothing forgotten: no item here has this id or these words.');
        return {
          ok: true,
          text: 'Nothing forgotten yet: buttons under your answer ask the person which. Do not claim that it is done.',
          notice: whichNotice(whichToForget(choices, { isVague })),
        };
      }
      const forget = () => {
        const words = matchedWords(target, [item]);
        return durable.forget(context.work, [item.id], context.place, newest.id, { words });
      };
      if (!asksFirst(context)) {
        const { forgotten, undoId } = await forget();
        const lines = forgotten.map((each) => choiceLine('- ', each));
        return {
          ok: true,
          ...textWithSources([{ text: 'Forgotten:' }, ...lines], '\n'),
          notice: forgetNotice(forgotten.length, undoId),
        };
      }
      return {
        ...refusal('Nothing forgotten yet: the person is asked by a button under your answer.'),
        offer: {
          what: 'Forget this:',
          words: toSingleLine(wordingOf(item)),
          async carryOut() {
            const present = (await usableItems(context, durable, target)).item;
            if (present?.id !== item.id || present.text !== item.text)
              return 'Not forgotten: it has changed in the meantime.';
            const { forgotten, undoId } = await forget();
            return forgotten.length === 0
              ? 'Not forgotten: it is no longer there.'
              : { text: 'Forgotten.', buttons: undoButton(undoId) };
          },
        },
      };
    },
  });
}

/** The one of the speaker's own items usable here that a target names, else those among which they choose [K4]. */
async function usableItems(
  context: TurnContext,
  durable: Pick<DurableMemory, 'list'>,
  target: string,
): Promise<{
  readonly item?: DurableItem | undefined;
  readonly choices: readonly DurableItem[];
  readonly isVague: boolean;
}> {
  const items = (await durable.list(context.speaker.id)).filter((item) => isUsable(item, context));
  const { named, inside, isVague = false } = findItems(items, target);
  if (named.length === 1) return { item: named[0], choices: [], isVague };
  if (isVague) return { choices: newestItems(items), isVague };
  return { choices: named.length > 0 ? named : inside, isVague };
}

function isUsable(item: DurableItem, context: TurnContext): boolean {
  return mayUseItem(item, context.speaker.id, context.place);
}

function choiceLine(before: string, item: DurableItem) {
  return {
    text: `${before}[${item.kind}] ${dataLine(wordingOf(item))} (id ${item.id})`,
    source: sourceOfItem(item),
  };
}
