import type { CommandButton } from '../core/chat.ts';
import type { CommandReply } from '../core/commands.ts';
import { mayUseItem, type DurableItem, wordingOf } from '../memory/durable/document.ts';
import type { ReviewCard } from '../memory/durable/review.ts';
import { undoButton } from '../memory/undo.ts';
import { counted, linesOf, listedItem, present, quoted } from './answer-lines.ts';
import { forgetTarget, undoChange } from './memory-forget.ts';
import { asSeen, editForm, editItem, itemWithId, unknownId } from './memory-items.ts';
import type { MemoryCall } from './memory-ports.ts';

export const reviewAnswers = ['still', 'changed', 'forget', 'keep', 'both', 'undo'] as const;

interface ReviewInput {
  readonly answer?: (typeof reviewAnswers)[number] | undefined;
  /** Of the item, or of a pair, the one that stays first: `a,b`; buttons add how many cards may follow: `a,b/4`. */
  readonly ids?: string | undefined;
  /** What a changed item says from now on. */
  readonly text?: string | undefined;
}

/** Cards that one look shows, one after the other. */
const mostCards = 5;

const whichOnes =
  'Say which one by its id, as in `!memory review still <id>`; of two, both: `!memory review keep <id>,<id>`.';

/** Asks about what may not hold any more [K16]; an answer to a card brings the next in its place. */
export async function reviewMemory(
  call: MemoryCall,
  { answer, ids = '', text }: ReviewInput,
): Promise<CommandReply> {
  if (answer === undefined) return nextCard(call, mostCards);
  const [, names = '', more = mostCards] = /^([^/]*)(?:\/(\d))?$/u.exec(ids) ?? [];
  const left = Number(more);
  if (answer === 'undo') return nextCard(call, left, await undoChange(call, names));
  const wanted = names.split(',');
  const found = await Promise.all(wanted.map((id) => itemWithId(call, id)));
  const missing = wanted.find((_, index) => found[index] === undefined);
  if (names !== '' && missing !== undefined) return nextCard(call, left, { text: unknownId(missing) });
  const [item, other] = found;
  const isOfTwo = answer === 'keep' || answer === 'both';
  if (item === undefined || found.length !== (isOfTwo ? 2 : 1)) return { text: whichOnes };
  if (answer === 'changed' && text === undefined)
    return {
      text: `Say what it should say: \`!memory review changed ${item.id} <your words>\`.`,
      form: editForm(item, `memory review changed ${ids}`),
    };
  const seen = found.reduce((as, each) => (each === undefined ? as : asSeen(as, each)), call);
  return nextCard(call, left, await carryOut(seen, answer, item, other, text));
}

async function carryOut(
  call: MemoryCall,
  answer: Exclude<ReviewInput['answer'], 'undo' | undefined>,
  item: DurableItem,
  other: DurableItem | undefined,
  text = item.text,
): Promise<CommandReply> {
  const { work, place, ports } = call;
  if (answer === 'forget') return forgetTarget(call, item.id);
  if (answer === 'changed' && text.trim() !== item.text) return editItem(call, { id: item.id, text });
  if (answer === 'keep' && other !== undefined) {
    const { undoId } = await ports.durable.keepOne(work, item.id, other.id, place);
    return { text: `Kept: ${said(item)}\nIn place of: ${said(other)}`, buttons: undoButton(undoId) };
  }
  const confirmed = present(item, other);
  const { undoId } = await ports.durable.confirm(
    work,
    confirmed.map(({ id }) => id),
    place,
  );
  return { text: `Still true: ${confirmed.map(said).join(' and ')}`, buttons: undoButton(undoId) };
}

function said(item: DurableItem): string {
  return quoted(wordingOf(item));
}

/** What waits for the asker here, and how much more elsewhere. */
export function toReview({ speaker, view, ports }: MemoryCall) {
  return ports.durable.toReview(speaker.id, (item) => mayUseItem(item, speaker.id, view));
}

/** What was done last, and the next card, `left` being how many may come yet. */
async function nextCard(call: MemoryCall, left: number, done?: CommandReply): Promise<CommandReply> {
  const { cards, hidden } = await toReview(call);
  const [card] = cards;
  const end = done === undefined ? 'Nothing to review.' : 'All reviewed.';
  const isEnough = left === 0 && card !== undefined;
  const lines = linesOf(
    card === undefined
      ? end
      : isEnough
        ? `Enough for now: ${cards.length} more to review with \`/memory review\`.`
        : linesOfCard(card, cards.length, call),
    hidden > 0 && `${hidden} more in our DM: say \`!memory review\` there.`,
  );
  const undone = (done?.buttons ?? []).flatMap(({ label, line = '' }) => {
    const id = /^memory undo (\S+)$/u.exec(line)?.[1];
    return id === undefined ? [] : [button(label, 'undo', id, left)];
  });
  return {
    text: done === undefined ? lines : `${done.text}\n\n${lines}`,
    buttons: [...(card === undefined || isEnough ? [] : buttonsOf(card, left - 1)), ...undone],
  };
}

const questionBy = {
  over: 'The day of this is over. Does it still matter?',
  unconfirmed: 'Is this still true?',
  pair: 'These two may say the same, or two things of one matter: the newer one, and the older one.',
} as const;

function linesOfCard({ reason, items }: ReviewCard, count: number, call: MemoryCall): string {
  const [item, older] = items;
  const how =
    older === undefined
      ? `\`!memory review still ${item.id}\`, \`!memory review changed ${item.id} <new text>\` or \`!memory review forget ${item.id}\``
      : `\`!memory review keep ${item.id},${older.id}\` (the first stays) or \`!memory review both ${item.id},${older.id}\``;
  return linesOf(
    `**To review: ${counted(count, 'card')}.** ${questionBy[reason]}`,
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
