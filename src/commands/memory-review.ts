import type { CommandButton } from '../core/reply.ts';
import type { CommandReply } from '../core/commands.ts';
import { bareId } from '../core/text.ts';
import { mayUseItem, type DurableItem, wordingOf } from '../memory/durable/document.ts';
import type { ReviewCard } from '../memory/durable/review.ts';
import { undoButton } from '../memory/undo.ts';
import { counted, linesOf, listedItem, present, quoted, shownItem } from './answer-lines.ts';
import { forgetTarget, undoChange } from './memory-forget.ts';
import { asSeen, editForm, editItem, itemWithId, unknownId } from './memory-items.ts';
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
  const end = done === undefined ? 'Nothing to review.' : 'All reviewed.';
  const isEnough = left === 0 && card !== undefined;
  const lines =
    card === undefined
      ? end
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
