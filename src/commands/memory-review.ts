import type { CommandReply, ShownCard } from '../core/commands.ts';
import type { CommandButton } from '../core/reply.ts';
import { bareId } from '../core/text.ts';
import { mayUseItem, type DurableItem, wordingOf } from '../memory/durable/document.ts';
import type { ReviewCard } from '../memory/durable/review.ts';
import { undoButton } from '../memory/undo.ts';
import {
  counted,
  linesOf,
  listedItem,
  ofAssistant,
  present,
  quoted,
  shownItem,
  idAndVisibility,
} from './answer-lines.ts';
import { refusalToStore } from './memory-control.ts';
import { forgetTarget, undoChange } from './memory-forget.ts';
import { asSeen, editForm, editItem, itemWithId, unknownId, refusal, remembered } from './memory-items.ts';
import type { MemoryCall } from './memory-ports.ts';

/**
 * An answer: to one item (`still a`, `changed a <new text>`, `forget a`), to a pair (`both a,b`, `keep a,b`: the first
 * one stays), or `undo <id of the change>`. Buttons add how many cards may follow: `both a,b/4`.
 */
const form =
  /^(?<does>still|changed|forget|keep|both|undo)\s+(?<ids>[^\s/]+)(?:\/(?<left>\d))?(?:\s+(?<text>\S[\s\S]*))?$/u;

/** Cards that one look shows, one after the other. */
const mostCards = 5;

const whichOnes =
  'Say which one by its id, as in `!memory review still <id>`; of two, both: `!memory review keep <id>,<id>`.';

/** Asks about what may not hold any more [K16]; an answer to a card brings the next in its place. */
export async function reviewMemory(call: MemoryCall, answer: string | undefined): Promise<CommandReply> {
  if (answer === undefined) return nextCard(call, mostCards);
  const { does = '', ids = '', left: more = mostCards, text } = form.exec(answer)?.groups ?? {};
  const left = Number(more);
  if (does === 'undo') return nextCard(call, left, await undoChange(call, ids));
  const itemIds = ids.split(',').map(bareId);
  const found = await Promise.all(itemIds.map((id) => itemWithId(call, id)));
  const missing = itemIds.find((_, index) => found[index] === undefined);
  if (ids !== '' && missing !== undefined) return nextCard(call, left, { text: unknownId(missing) });
  const items = present(...found);
  const [item] = items;
  if (item === undefined || items.length !== (does === 'keep' || does === 'both' ? 2 : 1))
    return { text: whichOnes };
  if (does === 'changed' && text === undefined)
    return {
      text: `Say what it should say: \`!memory review changed ${item.id} <your words>\`.`,
      form: editForm(item, `memory review ${answer}`),
    };
  return nextCard(call, left, await carryOut(items.reduce(asSeen, call), does, items, text));
}

async function carryOut(
  call: MemoryCall,
  does: string,
  items: readonly DurableItem[],
  text?: string,
): Promise<CommandReply> {
  const { work, place, memory } = call;
  const [item, other] = items;
  if (item === undefined) return { text: goneByNow };
  if (does === 'forget') return forgetTarget(call, item.id);
  if (does === 'changed' && text !== undefined && text.trim() !== item.text)
    return editItem(call, { id: item.id, text });
  if (does === 'keep' && other !== undefined) {
    const kept = await memory.durable.keepOne(work, item.id, other.id, place);
    if (kept.item === undefined) return { text: goneByNow };
    return {
      text: `Kept: ${itemText(item)}\nIn place of: ${itemText(other)}`,
      buttons: undoButton(kept.undoId),
    };
  }
  const ids = items.map(({ id }) => id);
  const { items: confirmed, undoId } = await memory.durable.confirm(work, ids, place);
  if (confirmed.length === 0) return { text: goneByNow };
  return { text: `Still true: ${confirmed.map(itemText).join(' and ')}`, buttons: undoButton(undoId) };
}

const goneByNow = 'Nothing was changed: it is no longer there.';

function itemText(item: DurableItem): string {
  return quoted(wordingOf(item));
}

/** What waits for the asker here. */
export function toReview({ speaker, view, memory }: MemoryCall) {
  return memory.durable.toReview(speaker.id, (item) => mayUseItem(item, speaker.id, view));
}

/** What was done last, and the next card; `left` of them may come. */
async function nextCard(call: MemoryCall, left: number, done?: CommandReply): Promise<CommandReply> {
  const cards = await toReview(call);
  const [card] = cards;
  const isEnough = left === 0 && card !== undefined;
  const lines =
    card === undefined
      ? await endOf(call, done === undefined ? 'Nothing to review.' : 'All reviewed.')
      : isEnough
        ? `Enough for now: ${cards.length} more to review with \`/memory review\`.`
        : linesOfCard(card, cards.length, call);
  const undone = (done?.buttons ?? []).flatMap(({ label, line = '' }) => {
    const id = /^memory undo (\S+)$/u.exec(line)?.[1];
    return id === undefined ? [] : [button(label, 'undo', id, left)];
  });
  return {
    text: done === undefined ? lines : `${done.text}\n\n${lines}`,
    buttons: [...(card === undefined || isEnough ? [] : buttonsOf(card, left - 1)), ...undone],
    data: {
      kind: 'review',
      // No other card follows an answer there, since all are shown at once.
      cards: cards.map((each) => ({
        question: questionBy[each.reason],
        items: each.items.map((item) => shownItem(item, call)),
        buttons: buttonsOf(each, 0),
      })),
    },
  };
}

async function endOf({ speaker, memory }: MemoryCall, line: string): Promise<string> {
  const { length } = await memory.proposals.list(speaker.id);
  return linesOf(line, length > 0 && `What waits for your yes: \`!memory proposals\` (${length}).`);
}

const questionBy = {
  over: 'The day of this is over. Does it still matter?',
  unconfirmed: 'Is this still true?',
  pair: 'These two may say the same, or two things of one matter. Which one shall I keep? The newer one is first.',
} as const;

function linesOfCard({ reason, items }: ReviewCard, count: number, call: MemoryCall): string {
  const [item, older] = items;
  const how =
    older === undefined
      ? `\`!memory review still ${item.id}\`, \`!memory review changed ${item.id} <new text>\` or \`!memory review forget ${item.id}\``
      : `\`!memory review keep ${item.id},${older.id}\` (the first stays) or \`!memory review both ${item.id},${older.id}\``;
  return linesOf(
    `**${counted(count, 'item')} to review.** ${questionBy[reason]}`,
    present(item, older).map((each) => listedItem(each, call)),
    `-# Without buttons: ${how}.`,
  );
}

function buttonsOf({ items }: ReviewCard, left: number): readonly CommandButton[] {
  const [item, older] = items;
  if (older === undefined)
    return [
      button('Still true', 'still', item.id, left),
      { ...button('Changed', 'changed', item.id, left), opensForm: true },
      button('Forget', 'forget', item.id, left),
    ];
  return [
    button('Keep the newer', 'keep', `${item.id},${older.id}`, left),
    button('Keep the older', 'keep', `${older.id},${item.id}`, left),
    button('Both', 'both', `${item.id},${older.id}`, left),
  ];
}

function button(label: string, answer: string, ids: string, left: number): CommandButton {
  return { label, line: `memory review ${answer} ${ids}/${left}`, takes: 'answer' };
}

/** Proposals that have buttons of their own, three each, beside those that turn pages. */
const mostWithButtons = 6;

/** Lists what waits for the asker's yes [K9], or tells of one proposal how it is answered in other words. */
export async function showProposals(call: MemoryCall, id: string | undefined): Promise<CommandReply> {
  const { speaker, view, memory } = call;
  const all = await memory.proposals.list(speaker.id);
  const shown = all.filter((item) => mayUseItem(item, speaker.id, view));
  if (id !== undefined) {
    const item = shown.find((each) => each.id === id);
    if (item === undefined) return { text: noneLeft(id) };
    const text = `Say it as I should remember it: \`!memory accept ${id} <your words>\`. I would have remembered: ${quoted(wordingOf(item))}`;
    return { text, form: editForm(item, `memory accept ${id}`) };
  }
  const hidden = all.length - shown.length;
  const more = hidden > 0 && `${counted(hidden, 'more proposal')} in our DM: \`!memory proposals\` there.`;
  const data = {
    kind: 'proposals',
    cards: shown.map((item): ShownCard => ({
      question: `May I remember this?${ofAssistant(item.source)}`,
      items: [shownItem(item, call)],
      buttons: buttonsFor(item.id, ['Remember', 'In other words', 'Decline']),
    })),
  } as const;
  if (shown.length === 0) return { text: linesOf('No proposals are waiting for you here.', more), data };
  return {
    data,
    text: linesOf(
      `${counted(shown.length, 'proposal')} for you to decide on, for seven days each:`,
      shown.map((item, index) => `${index + 1}. ${listedItem(item, call)}${ofAssistant(item.source)}`),
      more,
      shown.length > mostWithButtons &&
        `The buttons are for the first ${mostWithButtons}; once these are answered, the next have theirs.`,
      '-# Without buttons: `!memory accept <id>`, `!memory accept <id> <other words>` or `!memory decline <id>`.',
    ),
    buttons: shown
      .slice(0, mostWithButtons)
      .flatMap(({ id: of }, index) =>
        buttonsFor(of, [`✅ ${index + 1}`, `✏️ ${index + 1}`, `❌ ${index + 1}`]),
      ),
  };
}

function buttonsFor(
  id: string,
  [yes, other, no]: readonly [string, string, string],
): readonly CommandButton[] {
  return [
    { label: yes, line: `memory accept ${id}`, takes: 'itself' },
    { label: other, line: `memory proposals ${id}`, takes: 'itself', opensForm: true },
    { label: no, line: `memory decline ${id}`, takes: 'itself' },
  ];
}

function noneLeft(id: string): string {
  return `There is no proposal ${quoted(id)} here any more. \`!memory proposals\` lists those that wait.`;
}

/** Stores what was proposed, or what the asker says in its place. */
export async function acceptProposal(
  call: MemoryCall,
  { id, text }: { readonly id: string; readonly text?: string | undefined },
): Promise<CommandReply> {
  const { id: messageId, speaker, place, view, memory } = call;
  const refused = await refusalToStore(call);
  if (refused !== undefined) return refused;
  const reworded = text === undefined ? undefined : { text, place, messageId };
  const outcome = await memory.proposals.accept(call.work, id, reworded);
  if (outcome === undefined) return { text: noneLeft(id) };
  if (outcome.outcome === 'refused')
    return {
      text:
        outcome.reason === 'forgotten'
          ? 'I cannot remember that any more: its message was deleted or forgotten since. `!memory remember` takes it in your own words.'
          : `${refusal(outcome.reason, text ?? '')} The question still waits: \`!memory proposals\`.`,
    };
  const { item } = outcome;
  if (!mayUseItem(item, speaker.id, view)) return remembered(call, 'Remembered.', outcome);
  const done = outcome.outcome === 'refreshed' ? 'I remembered that already' : 'Remembered';
  return remembered(call, `${done}: ${quoted(wordingOf(item))} · ${idAndVisibility(item)}`, outcome);
}

/** Lets a proposal go, for good. */
export async function declineProposal({ work, memory }: MemoryCall, id: string): Promise<CommandReply> {
  return {
    text: (await memory.proposals.decline(work, id))
      ? 'Not remembered. The question is gone, and I do not notice this again.'
      : noneLeft(id),
  };
}
